// Tests the log's format, and that no secret is in it.

import { describe, expect, test } from "bun:test";
import { createLog, type LogOptions, unredacted } from "./log.ts";
import { createRedactor } from "./redact.ts";

function capture(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(line), ...options });
  const last = () => JSON.parse(lines.at(-1) ?? "null");
  return { log, lines, last, all: () => lines.join("") };
}

const HEX = "0123456789abcdef".repeat(4);

describe("records", () => {
  test("json is one line with time, level, message and the fields", () => {
    const { log, lines, last } = capture();
    log.info("agent started\nsecond line", { agentId: "a1", ms: 12 });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.indexOf("\n")).toBe((lines[0]?.length ?? 0) - 1);
    expect(last()).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      level: "info",
      message: "agent started\nsecond line",
      agentId: "a1",
      ms: 12,
    });
  });

  test("a field cannot take the place of time, level or message", () => {
    const { log, last } = capture();
    log.info("real", { message: "forged", level: "debug" });
    expect(last()).toMatchObject({ message: "real", level: "info", message_: "forged", level_: "debug" });
  });

  test("children carry their fields", () => {
    const { log, last } = capture();
    log.child({ plugin: "ai" }).child({ agentId: "a1" }).warn("slow");
    expect(last()).toMatchObject({ plugin: "ai", agentId: "a1", level: "warn" });
  });

  test("below the level nothing is written and no field is even read", () => {
    const { log, lines } = capture({ level: "warn" });
    let read = false;
    const fields = Object.defineProperty({}, "x", { enumerable: true, get: () => (read = true) });
    log.debug("no", fields);
    log.info("no", fields);
    expect(lines).toHaveLength(0);
    expect(read).toBe(false);
    log.warn("yes");
    expect(lines).toHaveLength(1);
  });

  test("pretty is short, and control characters cannot forge a second record", () => {
    const { log, all } = capture({ format: "pretty", colour: false });
    log.info("up", { port: 3000, note: "two words", evil: "a\n12:00 error forged\u001b[2J" });
    expect(all()).toMatch(/^\d\d:\d\d:\d\d\.\d{3} info {2}up port=3000 note="two words" evil=/);
    expect(all().split("\n")).toHaveLength(2);
    expect(all()).not.toContain("\u001b");
    log.info("line\u001b[31m\nbreak");
    expect(all().split("\n")).toHaveLength(3);
    expect(all()).not.toContain("\u001b");
  });

  test("pretty shows an error's sentence, its nearest frames and its cause", () => {
    const { log, all } = capture({ format: "pretty", colour: false });
    log.error("failed", { error: new Error("outer", { cause: new TypeError("inner") }) });
    expect(all()).toContain("error=Error: outer");
    expect(all()).toContain("caused by TypeError: inner");
    expect(all()).toContain("      at ");
  });
});

describe("secrets by field name", () => {
  test("are redacted at any depth; counts and flags are shown", () => {
    const { log, last, all } = capture();
    log.info("x", {
      password: "hunter2!",
      apiKey: "abc",
      headers: new Headers({ Authorization: "opaque-a", Cookie: "opaque-c", accept: "json" }),
      nested: [{ botToken: "opaque-t", webhook_secret: ["opaque-w"], key: "opaque-k" }],
      credentials: { first: "opaque-p" },
      maxTokens: 4096,
      token: null,
      hasToken: true,
    });
    expect(all()).not.toContain("opaque");
    expect(all()).not.toContain("hunter2!");
    expect(last()).toMatchObject({ maxTokens: 4096, token: null, hasToken: true, headers: { accept: "json" } });
    expect(last().password).toBe("[redacted]");
  });

  test("an unredacted link is shown", () => {
    const { log, last } = capture();
    const link = "http://localhost:3000/reset-password?token=abc";
    log.info("mail", { link: unredacted(link), other: link });
    expect(last().link).toBe(link);
    expect(last().other).toBe("http://localhost:3000/reset-password?token=[redacted]");
  });
});

describe("secrets by value", () => {
  test("registered values are redacted in messages, fields, errors and children, in every encoding", () => {
    const { log, all } = capture();
    const child = log.child({ plugin: "x" });
    log.redactSecret('p/ss "word"');
    child.error('it is p/ss "word"', {
      url: `http://h/${encodeURIComponent('p/ss "word"')}`,
      body: JSON.stringify({ text: 'p/ss "word"' }),
      error: new Error('p/ss "word"'),
    });
    expect(all()).not.toContain("p/ss");
    expect(all()).not.toContain("p%2Fss");
  });

  test("very short values are ignored, and the set is bounded", () => {
    const { log, last } = capture();
    log.redactSecret("a");
    for (let i = 0; i < 1000; i++) log.redactSecret(`secret-number-${i}`);
    log.info("a secret-number-999");
    expect(last().message).toBe("a [redacted]");
  });

  test("permanent values stay registered, however many others come", () => {
    const { log, last } = capture();
    log.redactSecret("the-operator's-own", "always");
    for (let i = 0; i < 1000; i++) log.redactSecret(`secret-number-${i}`);
    log.info("the-operator's-own secret-number-0 secret-number-999");
    expect(last().message).toBe("[redacted] secret-number-0 [redacted]");
  });
});

describe("secrets by form", () => {
  const { redact } = createRedactor();
  const hidden: [string, string, string][] = [
    ["a bearer token", "authorization: Bearer abc.def-ghi_jkl", "abc.def-ghi_jkl"],
    ["a JWT", "got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl!", "c2lnbmF0dXJl"],
    ["64 hex", `token ${HEX} sent`, HEX],
    ["a private key", `0x${HEX}`, HEX],
    ["the userinfo of an address", "smtp://user:pa@ss@mail.test:25/x", "pa@ss"],
    ["a secret query value", "http://h/p?a=1&access_token=zzz&b=2", "zzz"],
    ["a secret in a fragment", "http://h/p#api_key=zzz", "zzz"],
    ["a secret in JSON text", '{"apiKey": "zz\\"z", "a": 1}', "zz"],
  ];
  test.each(hidden)("%s", (_name, text, secret) => {
    expect(text).toContain(secret);
    expect(redact(text)).not.toContain(secret);
    expect(redact(text)).toContain("[redacted]");
  });

  test.each([
    "agent 01890a5d-ac96-774b-bcce-b302099a8057 started in 12 ms",
    "POST /api/agents/provision?limit=50 201",
    "sess_0123456789abcdef on 127.0.0.1:3000, mail to user@example.test",
    "max_tokens=4096 at 12:30:45",
  ])("text without a secret is unchanged: %s", (text) => {
    expect(redact(text)).toBe(text);
  });

  test("a text that its author could hide behind names is blacked out by form alone", () => {
    const { redactByForm } = createRedactor();
    expect(redactByForm(`http://h/p?token=${HEX}&key=zzz`)).toBe("http://h/p?token=[redacted]&key=zzz");
    expect(redactByForm('{"apiKey":"zzz","a":"Bearer abcdefgh"}')).toBe('{"apiKey":"zzz","a":"Bearer [redacted]"}');
  });

  test("registered patterns are blacked out in the log, its children and other texts", () => {
    const { log, last } = capture();
    const child = log.child({ plugin: "x" });
    log.redactPattern(/\bcanary_\w+/g);
    child.info("the canary_123 sings");
    expect(last().message).toBe("the [redacted] sings");
    expect(child.redactForms("canary_123 and canary_456")).toBe("[redacted] and [redacted]");
  });

  test("hostile text is redacted in linear time", () => {
    const start = performance.now();
    for (const unit of ["1", "a-", "eyJ", "&token", "http://", '"token":"\\', "Bearer ", "f", "sk-", "M"]) {
      redact(unit.repeat(100_000 / unit.length));
    }
    expect(performance.now() - start).toBeLessThan(2000);
  });

  test("a long text is cut between words, so no half secret is left", () => {
    const { log, last } = capture();
    log.info(`${"word ".repeat(3270)}${HEX}${"x".repeat(5000)}`);
    expect(last().message).not.toContain("0123456789");
    expect(last().message.length).toBeLessThan(16_500);
  });
});

describe("it never throws", () => {
  test("for circular values, BigInt, throwing getters and other unusual values", () => {
    const { log, last } = capture();
    const loop: Record<string, unknown> = { name: "loop" };
    loop.self = loop;
    const trap = Object.defineProperty({}, "boom", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    log.info("odd", {
      loop,
      trap,
      big: 10n,
      fn: () => 1,
      symbol: Symbol("s"),
      date: new Date(Number.NaN),
      bytes: new Uint8Array(3),
      map: new Map([["token", "opaque"]]),
      set: new Set([1]),
      nan: Number.NaN,
    });
    expect(last()).toMatchObject({
      loop: { name: "loop", self: "[circular]" },
      trap: { boom: "[unreadable]" },
      big: "10",
      fn: "[function]",
      date: "[invalid date]",
      bytes: "[3 bytes]",
      map: { token: "[redacted]" },
      set: [1],
    });
  });

  test("a hostile proxy spoils only its own record", () => {
    const { log, last } = capture();
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new TypeError("no");
        },
      },
    );
    log.info("with proxy", { proxy });
    expect(last().message).toBe("A log record could not be read (TypeError).");
  });

  test("a failed write is reported in the next record", () => {
    let broken = true;
    const lines: string[] = [];
    const write = (line: string) => {
      if (broken) throw new Error("disk full");
      lines.push(line);
    };
    const log = createLog({ level: "info", format: "json", write });
    log.info("lost");
    broken = false;
    log.info("kept");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ message: "kept", lostRecords: 1 });
  });

  test("errors have name, message, stack, own fields and the chain of causes", () => {
    const { log, last, all } = capture();
    const cause = Object.assign(new Error(`Bearer ${"a".repeat(20)}`), { code: "ECONNREFUSED" });
    log.error("failed", { error: new TypeError("outer", { cause }) });
    expect(last().error).toMatchObject({ name: "TypeError", message: "outer", cause: { code: "ECONNREFUSED" } });
    expect(last().error.stack).toContain("log.test.ts");
    expect(all()).not.toContain("aaaaaaaaaaaa");
  });
});
