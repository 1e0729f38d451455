// Every plugin registers the forms of the secrets that it handles, so that no log line shows one.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openServer, type TestServer } from "../../tests/support/server.ts";

const TELEGRAM = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw_";

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

describe("the log blacks out", () => {
  test.each([
    ["a Telegram token in an address", `https://api.telegram.org/bot${TELEGRAM}/getMe`, TELEGRAM],
    ["an encoded Telegram token", `x=${TELEGRAM.replace(":", "%3A")}`, TELEGRAM.slice(12)],
    ["an API key of Berth", "with bk_4fGh29dkPq", "4fGh29dkPq"],
    ["an AI provider's key", "key sk-or-v1-abcdef123456 refused", "abcdef123456"],
    ["a Google key", "key AIzaSyA-1234567890abcdefghijk refused", "abcdefghijk"],
    ["a Meta access token", "token EAAGm0PX4ZCpsBA1234567890abcdefghijk sent", "abcdefghijk"],
    ["a webhook secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "MfKQ9r8GKYqrTwjU"],
    ["a Discord token", "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs", "ZnCjm1XVW7vRze4b7Cq4se7kKWs"],
  ])("%s", (_name, text, secret) => {
    const { redactForms } = server.kernel.log;
    expect(text).toContain(secret);
    expect(redactForms(text)).not.toContain(secret);
    expect(redactForms(text)).toContain("[redacted]");
  });

  test.each(["sess_0123456789abcdef on 127.0.0.1:3000, mail to user@example.test", "max_tokens=4096 at 12:30:45"])(
    "no text without a secret: %s",
    (text) => expect(server.kernel.log.redactForms(text)).toBe(text),
  );

  test("hostile text in linear time", () => {
    const start = performance.now();
    for (const unit of ["1", "1:", "AIza", "EAA", "bk_", "sk-", "M", "M."]) {
      server.kernel.log.redactForms(unit.repeat(100_000 / unit.length));
    }
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
