// Tests how steps are stored with a reply: short, and without secrets wherever they are cut.
import { expect, test } from "bun:test";
import { redactForms } from "../../../src/kernel/telemetry/redact.ts";
import { createShownSteps } from "./shown-steps.ts";

const shown = createShownSteps({ redactForms });
const KEY = "ab".repeat(32);

test("a call within a call is stored without secrets, also where a long text is cut", () => {
  const input = JSON.stringify({ mnemonic: "test test junk", text: "x".repeat(600) });
  const result = `${"y".repeat(480)} ${KEY} and more`;
  const [step] = shown.toStoredSteps([{ part: 1, tool: "note", input, result, ok: true, at: 0, ms: 1 }]);
  expect(step?.input).toStartWith('{"mnemonic":"[redacted]","text":"xxx');
  expect(step?.result).not.toContain("abab");
  for (const text of [step?.input, step?.result]) expect(text?.length).toBeLessThanOrEqual(500);
});
