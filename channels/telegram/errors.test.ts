// Tests how Telegram's refusals become errors of the port, and that their texts hold no secrets.
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

test("429 gives the delay in milliseconds", () => {
  const error = toChannelError(refusal(429, "Too Many Requests", { retry_after: 7 }), "peer", token);
  expect(error).toMatchObject({ kind: "busy", retryAfter: 7000 });
});

test("a response that is not Telegram's counts as unreachable", () => {
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

test("an error contains neither the token nor the payload", () => {
  const error = toChannelError(refusal(400, `Bad Request: ${token} is wrong`), "peer", token);
  expect(Bun.inspect(error, { depth: 10 })).not.toMatch(/secret-token|private/);
});

test("a ChannelError stays unchanged", () => {
  const error = new ChannelError("busy", "later", "peer", 5);
  expect(toChannelError(error, "bot", token)).toBe(error);
});
