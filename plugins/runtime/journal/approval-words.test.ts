// Tests what the question for an approval says besides the calls.
import { expect, test } from "bun:test";
import { TAINT } from "../../skills/index.ts";
import { askingText } from "./approval-words.ts";

const open = (address: string) => ({ summary: `Open ${address}`, code: "ABCDEF", taint: TAINT.none });

test("a call that is not shown as a whole is asked with a warning, in the owner's language", () => {
  const hidden = [open("https://example.com/?token=[redacted]")];
  expect(askingText(hidden, true, "en")).toEndWith("Deny it if you don't know what that is.");
  expect(askingText(hidden, true, "de")).toEndWith("Lehne es ab, wenn du nicht weißt, was es ist.");
  expect(askingText([open("https://example.com/")], true, "en")).toBe("May I do this?\n\nOpen https://example.com/");
});
