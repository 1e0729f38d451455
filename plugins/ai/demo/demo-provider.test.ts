// Tests the replies and tool calls of the demo model, and its protocol.
import { describe, expect, test } from "bun:test";
import { parseEvents } from "../../../tests/support/sse.ts";
import { type DemoTool, replyTo } from "./demo-model.ts";
import { demoFetch } from "./demo-provider.ts";

const user = (content: string) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });
const say = (...said: string[]) =>
  replyTo(
    said.map((text, n) => (n % 2 === 0 ? user(text) : assistant(text))),
    [],
  ).text;
const HINT = "has a key for an AI provider, such as OpenRouter";

const tool = (name: string, properties: Record<string, { type: string }> = {}): DemoTool => ({
  name,
  parameters: { properties },
});
const tools = [
  tool("clock", { zone: { type: "string" } }),
  tool("remember", { fact: { type: "string" } }),
  tool("recall", { query: { type: "string" }, limit: { type: "integer" } }),
  tool("list_reminders"),
  tool("remind_me", { text: { type: "string" }, at: { type: "string" }, inMinutes: { type: "number" } }),
  tool("web_fetch", { url: { type: "string" }, from: { type: "integer" } }),
];

describe("a reply", () => {
  test("names the demo, and at first how to get a real model, without the names of settings", () => {
    expect(say("hi")).toContain(HINT);
    expect(say("hi")).not.toMatch(/[A-Z]_[A-Z]|set-credential/);
    expect(say("hi", "Hello!", "who are you?")).toContain("demo model");
    expect(say("hi", "Hello!", "who are you?")).not.toContain(HINT);
  });

  test("uses the conversation", () => {
    expect(say("My name is ada", "Nice!", "hello")).toBe("Hello, Ada! What can I do for you?");
    expect(say("call me Bob", "ok", "x", "ok", "what's my name?")).toBe("Your name is Bob.");
    expect(say("tea please", "ok", "what did I say?")).toBe("You said: “tea please”");
    expect(
      replyTo([{ role: "system", content: "The user's name is Eve." }, user("a"), assistant("b"), user("hey")], [])
        .text,
    ).toContain("Eve");
  });

  test("remembers nothing that it was only asked for", () => {
    for (const text of ["do you remember my dog", "I remember that day", "what do you remember about my name"]) {
      expect(replyTo([user("x"), assistant("y"), user(text)], tools).calls.map(({ name }) => name)).not.toContain(
        "remember",
      );
    }
  });

  test("does sums, and admits its limits", () => {
    expect(say("x", "y", "what is 6 * 7?")).toBe("6 * 7 = 42");
    expect(say("x", "y", "0.1 + 0.2")).toBe("0.1 + 0.2 = 0.3");
    expect(say("x", "y", "1 / 0")).toBe("Nobody can divide by zero.");
    expect(say("x", "y", "Write a poem")).toContain("only a demo");
  });
});

describe("help", () => {
  test("proposes only what the tools can do", () => {
    expect(replyTo([user("help")], tools).text).toMatch(/time is it.*I like tea.*about me.*remind me.*link.*6 × 7/);
    expect(replyTo([user("help")], []).text).not.toMatch(/remind|remember|link/);
  });

  test("proposes only what is answered", () => {
    const [, examples = ""] = /Try (.*)$/m.exec(replyTo([user("help")], tools).text) ?? [];
    const proposed = [...examples.matchAll(/“([^”]+)”/g)].map(([, example = ""]) => example);
    expect(proposed).toHaveLength(5);
    for (const example of proposed) {
      const { text, calls } = replyTo([user("hi"), assistant("Hello!"), user(example)], tools);
      expect(text === "" ? calls.length : text).not.toBe(0);
      expect(text).not.toContain("only a demo");
    }
  });
});

// Without the limit on what the rules read, each of these would take longer than a test may.
describe("a message of the maximal length", () => {
  const long = (text: string) => text.repeat(100_000 / text.length);
  const hostile = [
    `remember that ${long(".")}x`,
    `http://x${long(".,")}x<`,
    long("tell "),
    long("!"),
    long("-9.9"),
    long("my name is "),
  ];

  test.each(hostile.map((text) => [text.slice(0, 20), text]))("%s… is answered at once", (_, text) => {
    const answer = replyTo([user(text), assistant("ok"), user(text)], tools);
    expect(`${answer.text}${JSON.stringify(answer.calls)}`.length).toBeLessThan(3_000);
  });

  test("of a tool is described at once", () => {
    const results = [{ role: "tool", content: long("<untrusted") }];
    expect(replyTo([user("q"), assistant(""), ...results], tools).text.length).toBeLessThan(1_000);
  });
});

describe("a tool call", () => {
  test.each([
    ["What time is it?", "clock", {}],
    ["Please remember that I like tea.", "remember", { fact: "I like tea" }],
    ["I want you to remember I like tea", "remember", { fact: "I like tea" }],
    ["remind me in 5 minutes to stretch", "remind_me", { text: "stretch", inMinutes: 5 }],
    ["Remind me in an hour to call Eve!", "remind_me", { text: "call Eve", inMinutes: 60 }],
    ["Read https://example.org/a?b=c.", "web_fetch", { url: "https://example.org/a?b=c" }],
    ["What do you know about tea?", "recall", { query: "tea" }],
    ["what do you remember about me?", "recall", { query: "me" }],
    ["what do you remember about my name", "recall", { query: "my name" }],
    ["What do you remember?", "recall", { query: "everything" }],
    ["What reminders do I have?", "list_reminders", {}],
  ])("%s → %s", (text, name, input) => {
    expect(replyTo([user(text)], tools)).toEqual({ text: "", calls: [{ name, input }] });
    expect(replyTo([user(text)], []).calls).toEqual([]);
  });

  test("is followed by a sentence about its results", () => {
    const after = (content: string) =>
      replyTo([user("q"), assistant("first"), user("time?"), assistant(""), { role: "tool", content }], tools).text;
    expect(after('{"time":"12:00","zone":"UTC","id":"x"}')).toBe("Here is what I got: time: 12:00, zone: UTC.");
    const reminder = '{"id":"x","text":"stretch","at":"2026-01-01T12:01:00+00:00","inWords":"Thursday at 12:01"}';
    expect(after(reminder)).toBe("I'll remind you: stretch (Thursday at 12:01).");
    expect(after(`{"reminders":[${reminder}]}`)).toBe("These reminders are to come: stretch (Thursday at 12:01).");
    expect(after('{"inWords":"Thursday at 12:00"}')).toBe("It is Thursday at 12:00.");
    expect(after('{"facts":[{"fact":"I like tea"}]}')).toBe("I remember: I like tea.");
    expect(after('{"facts":[{"fact":"I like tea"}],"note":"x"}')).toMatch(
      /^I don't remember anything about that\..*tea/,
    );
    expect(after("Nothing is remembered.")).toBe("I don't remember anything yet.");
    expect(after('{"remembered":true}')).toBe("Done, I'll remember that.");
    expect(after("<untrusted>A page</untrusted>")).toBe("Here is what I found: A page");
  });
});

describe("as a provider", () => {
  const call = (body: object, signal?: AbortSignal) =>
    demoFetch("http://demo.invalid/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });

  test("responds with the same text whole and streamed, with usage", async () => {
    const whole = (await (await call({ messages: [user("hi")] })).json()) as Record<string, unknown>;
    expect(whole).toMatchObject({
      object: "chat.completion",
      model: "demo",
      usage: { prompt_tokens: expect.any(Number) },
    });
    const stream = await (
      await call({ messages: [user("hi")], stream: true, stream_options: { include_usage: true } })
    ).text();
    const chunks = parseEvents(stream).flatMap(({ data }) => (data === "[DONE]" ? [] : [JSON.parse(data)]));
    const spoken = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    expect(whole).toMatchObject({ choices: [{ message: { content: spoken }, finish_reason: "stop" }] });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(stream.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("refuses an invalid conversation, and an aborted call", async () => {
    expect((await call({ messages: [] })).status).toBe(400);
    expect((await demoFetch("http://demo.invalid/v1/embeddings", { body: "{}" })).status).toBe(404);
    await expect(call({ messages: [user("hi")] }, AbortSignal.abort())).rejects.toThrow();
  });
});
