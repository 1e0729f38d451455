// Tests how Discord's refusals become errors of the port, and that their texts hold no secrets.
import { describe, expect, test } from "bun:test";
import { ChannelError } from "../port.ts";
import { toChannelError } from "./errors.ts";

const refusal = (status: number, code: number, message = "no") =>
  Object.assign(new Error(`${message} https://discord.com/api/v10/webhooks/1/secret-token`), {
    status,
    code,
    rawError: { message, code },
    requestBody: { json: { content: "what was said" } },
  });
const limited = (ms: number) => Object.assign(new Error("limited"), { retryAfter: ms, timeToReset: ms });
const broken = (status: number) => Object.assign(new Error("Bad Gateway"), { status });

describe("kinds", () => {
  test.each([
    ["refused", "bot", refusal(401, 0)],
    ["refused", "peer", refusal(403, 50007)],
    ["refused", "peer", refusal(403, 50001)],
    ["refused", "peer", refusal(404, 10003)],
    ["refused", "peer", refusal(400, 50035)],
    // An answer of Discord's edge network.
    ["busy", "peer", refusal(403, 0)],
    ["busy", "peer", limited(1500)],
    ["unreachable", "peer", refusal(500, 0)],
    ["unreachable", "peer", broken(502)],
    ["unreachable", "peer", Object.assign(new Error("x"), { code: "ECONNREFUSED" })],
    ["unreachable", "peer", new DOMException("x", "TimeoutError")],
    ["unreachable", "peer", "no error at all"],
  ] as const)("%s, of the %s (%#)", (kind, scope, error) => {
    expect(toChannelError(error, "peer")).toMatchObject({ kind, scope });
  });
});

test("a delay is given in milliseconds", () => {
  expect(toChannelError(limited(1500.2), "peer").retryAfter).toBe(1501);
});

test("an error contains neither addresses nor the payload", () => {
  for (const error of [refusal(400, 50035), refusal(401, 0), refusal(500, 0), limited(10), broken(503)]) {
    const shown = Bun.inspect(toChannelError(error, "peer"), { depth: 10 });
    expect(shown).not.toContain("secret-token");
    expect(shown).not.toContain("what was said");
  }
});

test("a ChannelError stays unchanged", () => {
  const error = new ChannelError("conflict", "x", "bot");
  expect(toChannelError(error, "peer")).toBe(error);
});
