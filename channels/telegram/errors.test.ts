// What each refusal means to the rest of Berth, and what never gets into its text.
import { expect, test } from "bun:test";
import { GrammyError, HttpError } from "grammy";
import { ChannelError } from "../port.ts";
import { toChannelError } from "./errors.ts";

const token = "123456:secret-token-value";
const refusal = (error_code: number, description: string, parameters = {}) =>
  new GrammyError("Call failed", { ok: false, error_code, description, parameters }, "sendMessage", {
    text: "private",
  });

test.each([
  [401, "Unauthorized", "refused", "bot"],
  [404, "Not Found", "refused", "bot"],
  [409, "Conflict: terminated by other getUpdates request", "conflict", "bot"],
  [403, "Forbidden: bot was blocked by the user", "refused", "peer"],
  [400, "Bad Request: chat not found", "refused", "peer"],
  [500, "Internal Server Error", "unreachable", "peer"],
] as const)("%d %s is %s for the %s", (code, description, kind, scope) => {
  expect(toChannelError(refusal(code, description), "peer", token)).toMatchObject({ kind, scope });
});

test("429 tells when, in ms", () => {
  const error = toChannelError(refusal(429, "Too Many Requests", { retry_after: 7 }), "peer", token);
  expect(error).toMatchObject({ kind: "busy", retryAfter: 7000 });
});

test("what is no answer of Telegram's is unreachable", () => {
  const refused = Object.assign(new TypeError(`no way to http://x/bot${token}/getMe`), {
    code: "ECONNREFUSED",
    path: `/bot${token}`,
  });
  const errors = [
    new HttpError("Network request failed", refused),
    new HttpError("Network request failed", new SyntaxError(`Failed to parse ${token}`)),
    new GrammyError("Call failed", JSON.parse('{"ok":false}'), "getMe", {}),
    new TypeError("null is not an object"),
    "text",
  ].map((error) => toChannelError(error, "bot", token));
  for (const error of errors) expect(error.kind).toBe("unreachable");
  expect(errors[0]?.message).toContain("ECONNREFUSED");
  expect(Bun.inspect(errors, { depth: 10 })).not.toContain("secret-token");
});

test("neither the token nor what was sent is in an error", () => {
  const error = toChannelError(refusal(400, `Bad Request: ${token} is wrong`), "peer", token);
  expect(Bun.inspect(error, { depth: 10 })).not.toMatch(/secret-token|private/);
});

test("an error of the port stays itself", () => {
  const error = new ChannelError("busy", "later", "peer", 5);
  expect(toChannelError(error, "bot", token)).toBe(error);
});
