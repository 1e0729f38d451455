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
const HINT = "PROVIDER_1_API_KEY";

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
  test("names the demo, and at first how to set a key", () => {
    expect(say("hi")).toContain(HINT);
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

  test("does sums, and admits its limits", () => {
    expect(say("x", "y", "what is 6 * 7?")).toBe("6 * 7 = 42");
    expect(say("x", "y", "0.1 + 0.2")).toBe("0.1 + 0.2 = 0.3");
    expect(say("x", "y", "1 / 0")).toBe("Nobody can divide by zero.");
    expect(say("x", "y", "Write a poem")).toContain("only a demo");
  });
});

describe("a tool call", () => {
  test.each([
    ["What time is it?", "clock", {}],
    ["Please remember that I like tea.", "remember", { fact: "I like tea" }],
    ["remind me in 5 minutes to stretch", "remind_me", { text: "stretch", inMinutes: 5 }],
    ["Remind me in an hour to call Eve!", "remind_me", { text: "call Eve", inMinutes: 60 }],
    ["Read https://example.org/a?b=c.", "web_fetch", { url: "https://example.org/a?b=c" }],
    ["What do you know about tea?", "recall", { query: "tea" }],
  ])("%s → %s", (text, name, input) => {
    expect(replyTo([user(text)], tools)).toEqual({ text: "", calls: [{ name, input }] });
    expect(replyTo([user(text)], []).calls).toEqual([]);
  });

  test("is followed by a sentence about its results", () => {
    const after = (content: string) =>
      replyTo([user("q"), assistant("first"), user("time?"), assistant(""), { role: "tool", content }], tools).text;
    expect(after('{"time":"12:00","zone":"UTC","id":"x"}')).toBe("Here is what I got: time: 12:00, zone: UTC.");
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
