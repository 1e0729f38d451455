// Tests messages from arrival to settled reply over the real parts: replies, errors, commands, budgets, and restarts.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { rejectionOf } from "../../tests/support/rejection.ts";
import { avoidMidnight } from "../../tests/support/utc-day.ts";
import type { Agent } from "../agents/index.ts";
import { openRuntimeFixture, type RuntimeFixture } from "./support.test.ts";

let fixture: RuntimeFixture;
let agent: Agent;
beforeAll(async () => {
  fixture = await openRuntimeFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  fixture.upstream.reset();
  fixture.sent.splice(0);
  fixture.platform.answer = () => ({ kind: "sent" });
  agent = await fixture.agent();
});
afterEach(async () => {
  await fixture.idle();
  expect(fixture.rejections).toEqual([]);
  expect(fixture.upstream.open).toBe(0);
});

describe("a message over the web", () => {
  test("is answered in a session of the web, which stores message and reply", async () => {
    const { reply, sessionId, timestamp, inboxId } = await fixture.chat(agent, "Hello");
    expect(reply).toBe("echo: Hello");
    expect(sessionId).toMatch(/^sess_[0-9a-f]{16}$/);
    expect(Date.now() - timestamp).toBeLessThan(5_000);
    expect(await fixture.messagesOf(agent)).toEqual([
      { role: "user", content: "Hello" },
      { role: "assistant", content: "echo: Hello" },
    ]);
    const [entry] = await fixture.rows("SELECT status, error FROM inbox WHERE id = ?", inboxId);
    expect(entry).toEqual({ status: "done", error: null });
    expect(fixture.sent).toEqual([]);
    const usage = await fixture.rows("SELECT kind, estimated FROM usage WHERE agent_id = ?", agent.id);
    expect(usage).toEqual([{ kind: "turn", estimated: 0 }]);
    const events = await fixture.rows(
      "SELECT type FROM events WHERE agent_id = ? AND type = 'agent.message'",
      agent.id,
    );
    expect(events.length).toBe(1);
  });

  test("the next one continues the session, and the prompt has the history", async () => {
    const first = await fixture.chat(agent, "My name is Ada");
    const second = await fixture.chat(agent, "What is my name?");
    expect(second.sessionId).toBe(first.sessionId);
    const messages = fixture.upstream.chats.at(-1)?.messages.map(({ role }) => role);
    expect(messages).toEqual(["system", "user", "assistant", "user"]);
  });

  test("many concurrent first messages open one session, and are answered in order", async () => {
    const texts = Array.from({ length: 12 }, (_, n) => `message ${n}`);
    const replies = await Promise.all(texts.map((text) => fixture.chat(agent, text)));
    expect(new Set(replies.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(replies.map(({ reply }) => reply)).toEqual(texts.map((text) => `echo: ${text}`));
    const messagesOf = await fixture.messagesOf(agent);
    expect(messagesOf.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual(texts);
    expect((await fixture.runtime.sessions.list(agent.id)).map(({ messageCount }) => messageCount)).toEqual([24]);
  });

  test("streams the reply to an observer", async () => {
    const seen: string[] = [];
    fixture.upstream.script("one two three");
    const observer = { delta: (text: string) => void seen.push(text), tool: () => undefined };
    const { reply } = await fixture.chat(agent, "Count", { observer });
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.join("")).toBe(reply);
  });

  test("a session of another agent or platform is rejected", async () => {
    const other = await fixture.agent();
    const { sessionId } = await fixture.chat(other, "Mine");
    expect(await rejectionOf(fixture.chat(agent, "Yours", { sessionId }))).toMatchObject({ code: "SESSION_NOT_FOUND" });
    await fixture.hear(agent, "In the chat");
    await fixture.idle();
    const [channel] = await fixture.runtime.sessions.list(agent.id);
    expect(await rejectionOf(fixture.chat(agent, "Here", { sessionId: channel?.id }))).toMatchObject({
      status: 400,
      code: "SESSION_ELSEWHERE",
    });
    expect(await fixture.messagesOf(agent)).toHaveLength(2);
  });

  test("a topic has a separate session", async () => {
    const web = await fixture.chat(agent, "Here");
    const more = { platform: "api" as const, topic: "invoices" };
    const [first, second] = [await fixture.chat(agent, "There", more), await fixture.chat(agent, "There again", more)];
    expect(first.sessionId).not.toBe(web.sessionId);
    expect(second.sessionId).toBe(first.sessionId);
    const sent = await fixture.runtime.service.listSentMessages(agent.id, { limit: 10, offset: 0, topic: "invoices" });
    expect(sent.map(({ message, status, reply }) => ({ message, status, reply }))).toEqual([
      { message: "There again", status: "done", reply: "echo: There again" },
      { message: "There", status: "done", reply: "echo: There" },
    ]);
  });
});

describe("errors for a caller that waits", () => {
  test("a failing model: 502 at once, and the message is not tried again", async () => {
    fixture.upstream.failNext(5, 500);
    expect(await rejectionOf(fixture.chat(agent, "Hello"))).toMatchObject({ status: 502, code: "MODEL_UNAVAILABLE" });
    expect(fixture.upstream.chats).toHaveLength(1);
    expect(await fixture.inbox(agent)).toMatchObject([{ status: "failed", error: "MODEL_UNAVAILABLE" }]);
    expect(await fixture.messagesOf(agent)).toEqual([{ role: "user", content: "Hello" }]);
    fixture.upstream.reset();
    expect((await fixture.chat(agent, "Again")).reply).toBe("echo: Again");
  });

  test.each([
    [400, "refused this request"],
    [401, "can't be used right now. The operator has been told"],
    [429, "can't be reached right now"],
    [503, "can't be reached right now"],
  ])("the upstream's %d becomes a 502 with the reason, without the provider's message", async (status, why) => {
    fixture.upstream.failNext(1, { status, message: "secret words of the provider" });
    const refused = await rejectionOf(fixture.chat(agent, "Hello"));
    expect(refused).toMatchObject({ status: 502, code: "MODEL_UNAVAILABLE" });
    expect(refused.message).toContain(why);
    expect(refused.message).not.toContain("secret words");
  });

  test("a stream that breaks off, and a response that is no stream", async () => {
    const observer = { delta: () => undefined, tool: () => undefined };
    for (const reply of [{ text: "one two three", cutAfter: 2 }, { broken: "frame" as const }]) {
      fixture.upstream.script(reply);
      expect(await rejectionOf(fixture.chat(agent, "Hello", { observer }))).toMatchObject({ status: 502 });
    }
    // The tokens before the break are charged.
    const usage = await eventually(async () => {
      const rows = await fixture.rows("SELECT output_tokens, estimated FROM usage WHERE agent_id = ?", agent.id);
      return rows.length > 0 && rows;
    });
    expect(usage).toEqual([{ output_tokens: expect.any(Number), estimated: 1 }]);
  });

  test("a stopped agent: 409, and the message is not stored", async () => {
    await fixture.agents.setStatus(agent.id, "stopped");
    expect(await rejectionOf(fixture.chat(await fixture.reload(agent), "Hello"))).toMatchObject({
      status: 409,
      code: "AGENT_STOPPED",
    });
    expect(await fixture.inbox(agent)).toEqual([]);
  });

  test("stopping an agent while messages wait: 409 for all of them, and none is answered later", async () => {
    fixture.upstream.script({ hang: true });
    const [running, waiting, other] = [
      rejectionOf(fixture.chat(agent, "one")),
      rejectionOf(fixture.chat(agent, "two")),
      rejectionOf(fixture.chat(agent, "three")),
    ];
    await fixture.upstream.waitFor(({ open }) => open === 1);
    await fixture.agents.setStatus(agent.id, "stopped");
    await fixture.chat(agent, "/stop").catch(() => undefined);
    expect(await running).toMatchObject({ code: "CANCELLED" });
    expect([await waiting, await other]).toMatchObject([{ code: "AGENT_STOPPED" }, { code: "AGENT_STOPPED" }]);
    await fixture.agents.setStatus(agent.id, "active");
    await fixture.idle();
    expect((await fixture.inbox(agent)).map(({ status }) => status)).toEqual([
      "cancelled",
      "failed",
      "failed",
      "failed",
    ]);
    expect(fixture.upstream.chats).toHaveLength(1);
  });

  test("deleting an agent while messages wait and run: 404, and no more calls of the model", async () => {
    fixture.upstream.script({ hang: true });
    const requests = [rejectionOf(fixture.chat(agent, "one")), rejectionOf(fixture.chat(agent, "two"))];
    await fixture.upstream.waitFor(({ open }) => open === 1);
    await fixture.agents.remove(agent.id);
    const gone = { status: 404, code: "AGENT_NOT_FOUND" };
    expect(await Promise.all(requests)).toMatchObject([gone, gone]);
    await fixture.upstream.waitFor(({ open }) => open === 0);
  });
});

describe("a caller that disconnects", () => {
  test.each([true, false])("cancels the turn and the model's call (with an observer: %p)", async (watching) => {
    fixture.upstream.script({ text: "one two three", hangAfter: 2 });
    const away = new AbortController();
    const observer = { delta: () => undefined, tool: () => undefined };
    const requests = rejectionOf(fixture.chat(agent, "Hello", { signal: away.signal, ...(watching && { observer }) }));
    await fixture.upstream.waitFor(({ open }) => open === 1);
    away.abort();
    expect(await requests).toMatchObject({ status: 409, code: "CANCELLED" });
    await fixture.upstream.waitFor(({ open }) => open === 0);
    expect(await fixture.inbox(agent)).toMatchObject([{ status: "cancelled" }]);
  });

  test("before its turn began: the model is not called", async () => {
    fixture.upstream.script({ hang: true });
    const [first, second] = [new AbortController(), new AbortController()];
    const requests = [
      rejectionOf(fixture.chat(agent, "one", { signal: first.signal })),
      rejectionOf(fixture.chat(agent, "two", { signal: second.signal })),
    ];
    await fixture.upstream.waitFor(({ open }) => open === 1);
    second.abort();
    first.abort();
    await Promise.all(requests);
    expect(fixture.upstream.chats).toHaveLength(1);
    expect((await fixture.inbox(agent)).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  });
});

describe("a message on a channel", () => {
  test("is answered through the outbox, as a reply to it", async () => {
    await fixture.hear(agent, "Hello", { platformMessageId: "4711" });
    await fixture.idle();
    expect(fixture.sent).toMatchObject([{ peer: "chat-1", body: "echo: Hello", replyTo: "4711", parts: [] }]);
    expect(await fixture.rows("SELECT status FROM outbox WHERE agent_id = ?", agent.id)).toEqual([{ status: "sent" }]);
  });

  test("is answered once, although the platform delivers it twice", async () => {
    for (let n = 0; n < 3; n++) await fixture.hear(agent, "Hello", { platformMessageId: "1" });
    await fixture.idle();
    await fixture.hear(agent, "Hello", { platformMessageId: "1" });
    await fixture.idle();
    expect(fixture.sent).toHaveLength(1);
    expect(fixture.upstream.chats).toHaveLength(1);
  });

  test("is retried while the model fails, then answered", async () => {
    fixture.upstream.failNext(3, 503);
    await fixture.hear(agent, "Hello");
    await fixture.idle();
    expect(fixture.sent).toMatchObject([{ body: "echo: Hello" }]);
    expect(fixture.upstream.chats).toHaveLength(4);
    expect(await fixture.inbox(agent)).toMatchObject([{ status: "done" }]);
  });

  test("is parked after five failures with a notice to its sender, and the next one is answered", async () => {
    fixture.upstream.failNext(5, 503);
    await fixture.hear(agent, "Hello");
    await fixture.hear(agent, "Still there?");
    await fixture.idle();
    expect(fixture.upstream.chats).toHaveLength(6);
    expect(await fixture.inbox(agent)).toMatchObject([
      { status: "parked", attempts: 4, error: "MODEL_UNAVAILABLE" },
      { status: "done" },
    ]);
    expect(fixture.sent.map(({ body }) => body)).toEqual([
      "Sorry, I can't answer right now. My owner has been told.",
      "echo: Still there?",
    ]);
    const logs = await fixture.agents.logs.list(agent.id, { limit: 50 });
    expect(JSON.stringify(logs)).toContain("can't be reached");
  });

  test("shows a preview that becomes the reply; the next try continues the same preview", async () => {
    const previews: (string | null)[] = [];
    const shown: string[] = [];
    let ended = 0;
    fixture.platform.preview = ({ previewId }) => {
      previews.push(previewId);
      return {
        observer: { delta: (text) => void shown.push(text), tool: () => undefined },
        async end() {
          ended++;
          return "preview-1";
        },
      };
    };
    fixture.upstream.failNext(1, { text: "one two three", cutAfter: 3 });
    await fixture.hear(agent, "Hello");
    await fixture.idle();
    expect(previews).toEqual([null, "preview-1"]);
    expect(shown.join("")).toEndWith("echo: Hello");
    expect(ended).toBe(2);
    expect(fixture.sent).toMatchObject([{ body: "echo: Hello", previewId: "preview-1" }]);
    fixture.upstream.failNext(1, 400);
    await fixture.hear(agent, "Again");
    await fixture.idle();
    expect(fixture.sent[1]).toMatchObject({ body: expect.stringContaining("Sorry"), previewId: "preview-1" });
    fixture.platform.preview = undefined;
  });

  test("is not tried again when the provider rejects the request", async () => {
    fixture.upstream.failNext(1, 400);
    await fixture.hear(agent, "Hello");
    await fixture.idle();
    expect(fixture.upstream.chats).toHaveLength(1);
    expect(await fixture.inbox(agent)).toMatchObject([{ status: "failed" }]);
    expect(fixture.sent).toHaveLength(1);
  });

  test("is retried only after the provider's Retry-After", async () => {
    fixture.upstream.failNext(1, { status: 429, retryAfter: 1 });
    await fixture.hear(agent, "Hello");
    await fixture.idle();
    const [first, second] = fixture.upstream.chats.map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test("of a stopped agent waits, in order, until the agent is started", async () => {
    await fixture.agents.setStatus(agent.id, "stopped");
    await fixture.hear(agent, "one");
    await fixture.hear(agent, "two");
    await fixture.idle();
    expect(await fixture.inbox(agent)).toMatchObject([{ status: "pending" }, { status: "pending" }]);
    await fixture.agents.setStatus(agent.id, "active");
    await eventually(() => fixture.sent.length === 2);
    expect(fixture.sent.map(({ body }) => body)).toEqual(["echo: one", "echo: two"]);
    expect(await fixture.inbox(agent)).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
  });

  test("three hundred of them are all answered, each chat in order", async () => {
    const texts = Array.from({ length: 300 }, (_, n) => ({ chat: `chat-${n % 7}`, text: `message ${n}` }));
    await Promise.all(texts.map(({ chat, text }) => fixture.hear(agent, text, { to: { peer: chat } })));
    await fixture.idle();
    for (let n = 0; n < 7; n++) {
      const expected = texts.filter(({ chat }) => chat === `chat-${n}`).map(({ text }) => `echo: ${text}`);
      expect(fixture.sent.filter(({ peer }) => peer === `chat-${n}`).map(({ body }) => body)).toEqual(expected);
    }
  });

  test("in a group has its author's name in the prompt, also when the owner writes it", async () => {
    await fixture.hear(agent, "Hello", { group: true, byOwner: true });
    await fixture.idle();
    expect(fixture.upstream.chats[0]?.lastUser).toBe("Bob: Hello");
  });
});

describe("commands", () => {
  test("are answered without the model, in the order of the conversation", async () => {
    await fixture.hear(agent, "Hello");
    await fixture.hear(agent, "/status");
    await fixture.hear(agent, "/help@harbour_bot");
    await fixture.idle();
    expect(fixture.sent.map(({ body }) => body)).toEqual([
      "echo: Hello",
      "Harbour is running.",
      expect.stringContaining("/reset"),
    ]);
    expect(fixture.upstream.chats).toHaveLength(1);
  });

  test("show the model only to the owner, on channels too", async () => {
    for (const byOwner of [true, false]) {
      for (const command of ["/status", "/model", "/model nope"]) await fixture.hear(agent, command, { byOwner });
    }
    await fixture.idle();
    expect(fixture.sent.map(({ body }) => body)).toEqual([
      "Harbour is running. Model: provider_5:fake-small.",
      "I answer with provider_5:fake-small.",
      "I answer with provider_5:fake-small. You choose another one in the console, on my page Set-up.",
      "Harbour is running.",
      "Only my owner can see which model I answer with.",
      "Only my owner can see which model I answer with.",
    ]);
  });

  test("/reset opens a new session; a message right after it is answered there", async () => {
    await fixture.hear(agent, "The old story");
    await Promise.all([fixture.hear(agent, "/reset"), fixture.hear(agent, "What did I say?")]);
    await fixture.idle();
    const [prompt] = fixture.upstream.chats.slice(-1);
    expect(JSON.stringify(prompt?.messages)).not.toContain("The old story");
    const sessions = await fixture.runtime.sessions.list(agent.id);
    expect(
      sessions
        .map(({ status, messageCount }) => ({ status, messageCount }))
        .toSorted((a, b) => a.messageCount - b.messageCount),
    ).toEqual([
      { status: "active", messageCount: 2 },
      { status: "completed", messageCount: 4 },
    ]);
    expect(fixture.sent.map(({ body }) => body.slice(0, 12))).toEqual(["echo: The ol", "A new conver", "echo: What d"]);
  });

  test.each(["channel", "web"])("/stop cancels the running turn of its conversation only (%s)", async (where) => {
    fixture.upstream.script(({ lastUser }) => (lastUser === "long" ? { hang: true } : undefined));
    const other = rejectionOf(fixture.chat(agent, "long", { platform: "api", topic: "elsewhere" }));
    const mine =
      where === "web"
        ? rejectionOf(fixture.chat(agent, "long"))
        : fixture.hear(agent, "long").then(() => ({ code: "CANCELLED" }));
    await fixture.upstream.waitFor(({ open }) => open === 2);
    if (where === "web") expect((await fixture.chat(agent, "/stop")).reply).toBe("Stopped.");
    else await fixture.hear(agent, "/stop");
    expect(await mine).toMatchObject({ code: "CANCELLED" });
    await fixture.upstream.waitFor(({ open }) => open === 1);
    if (where === "channel") await eventually(() => fixture.sent.length === 1);
    expect(fixture.sent.map(({ body }) => body)).toEqual(where === "channel" ? ["Stopped."] : []);
    await fixture.chat(agent, "/stop", { platform: "api", topic: "elsewhere" });
    expect(await other).toMatchObject({ code: "CANCELLED" });
  });
});

describe("budgets", () => {
  const price = { model: "provider_5:gpt-5-mini" };

  test("a used-up budget: 402, and the model is not called", async () => {
    const poor = await fixture.agent({ ...price, budget: { usdPerDay: 0.000001 } });
    expect(await rejectionOf(fixture.chat(poor, "Hello"))).toMatchObject({ status: 402, code: "BUDGET_EXCEEDED" });
    await fixture.hear(poor, "Hello");
    await eventually(() => fixture.sent.length === 1);
    await fixture.hear(poor, "Hello", { byOwner: true });
    await eventually(() => fixture.sent.length === 2);
    // Only the owner sees that it is the budget of the agent, and for which period.
    expect(fixture.sent.map(({ body }) => body)).toEqual([
      "Sorry, I can't answer for now: my budget is used up.",
      expect.stringMatching(
        /^Sorry, I can't answer\. This agent has used up its budget for this day\. Raise the budget, or wait until \d{4}-\d\d-\d\d \(UTC\)\.$/,
      ),
    ]);
    expect(fixture.upstream.chats).toHaveLength(0);
    expect((await fixture.inbox(poor)).map(({ status }) => status)).toEqual(["failed", "failed", "failed"]);
  });

  test("concurrent turns don't exceed it", async () => {
    // Enough for about two replies of 4,096 tokens.
    await avoidMidnight(5_000);
    const thrifty = await fixture.agent({ ...price, maxTokens: 4_096, budget: { usdPerDay: 0.02 } });
    fixture.upstream.script({ text: "Hi", usage: { prompt: 10, completion: 4_000 } });
    const requests = Array.from({ length: 12 }, (_, n) =>
      fixture.chat(thrifty, "Hello", { platform: "api", topic: `topic ${n}` }).then(
        () => "answered",
        (error: { code?: string }) => error.code,
      ),
    );
    const outcomes = await Promise.all(requests);
    expect(outcomes).toContain("answered");
    expect(outcomes).toContain("BUDGET_EXCEEDED");
    const [spent] = await fixture.rows("SELECT sum(cost_micro_usd) AS cost FROM usage WHERE agent_id = ?", thrifty.id);
    expect(Number(spent?.cost)).toBeLessThanOrEqual(20_000);
    expect(fixture.upstream.chats).toHaveLength(outcomes.filter((outcome) => outcome === "answered").length);
  });

  test("every call of a turn is charged, also those before a failing one", async () => {
    let calls = 0;
    fixture.upstream.script(() =>
      ++calls === 1 ? { toolCalls: [{ name: "clock", arguments: {} }] } : { status: 400, message: "no" },
    );
    expect(await rejectionOf(fixture.chat(agent, "What time is it?"))).toMatchObject({ status: 502 });
    const paid = await eventually(async () => {
      const rows = await fixture.rows("SELECT output_tokens FROM usage WHERE agent_id = ?", agent.id);
      return rows.length > 0 && rows;
    });
    expect(paid).toHaveLength(1);
  });
});

describe("a reply that can't be stored", () => {
  test("an entry that was settled meanwhile is not settled again, and nothing of the turn is stored", async () => {
    fixture.upstream.script(async () => {
      await fixture.kernel.database.write([
        { sql: "UPDATE inbox SET status = 'done' WHERE agent_id = ?", args: [agent.id] },
      ]);
      return "too late";
    });
    expect(await rejectionOf(fixture.chat(agent, "Hello"))).toMatchObject({ code: "ALREADY_SETTLED" });
    expect(await fixture.messagesOf(agent)).toEqual([]);
    // Its cost is recorded nevertheless.
    await eventually(
      async () => (await fixture.rows("SELECT id FROM usage WHERE agent_id = ?", agent.id)).length === 1,
    );
  });
});

describe("shutdown and restart", () => {
  test("unanswered messages stay, their callers get 503, and each is answered once after the start", async () => {
    await using own = await openRuntimeFixture({ SHUTDOWN_GRACE: "1ms" });
    const agentOfOwn = await own.agent();
    own.upstream.script({ hang: true });
    await own.hear(agentOfOwn, "one");
    await own.hear(agentOfOwn, "two");
    const waiting = rejectionOf(own.chat(agentOfOwn, "three"));
    await own.upstream.waitFor(({ chats }) => chats.length === 2);
    const stopped = own.restart();
    expect(await waiting).toMatchObject({ status: 503, code: "STOPPING" });
    own.upstream.reset();
    await stopped;
    await eventually(() => own.sent.length === 2);
    await own.idle();
    expect(own.sent.map(({ body }) => body)).toEqual(["echo: one", "echo: two"]);
    expect(await own.inbox(agentOfOwn)).toMatchObject([{ status: "done" }, { status: "done" }, { status: "done" }]);
    expect(await own.messagesOf(agentOfOwn)).toHaveLength(6);
    expect(own.rejections).toEqual([]);
  });

  test("a running turn finishes; callers behind it get 503 at once, and new messages are rejected", async () => {
    await using own = await openRuntimeFixture();
    const agentOfOwn = await own.agent();
    const gate = Promise.withResolvers<void>();
    own.upstream.script(async ({ lastUser }) => {
      await gate.promise;
      return `reply to ${lastUser}`;
    });
    const running = own.chat(agentOfOwn, "one");
    const waiting = rejectionOf(own.chat(agentOfOwn, "two"));
    await own.upstream.waitFor(({ chats }) => chats.length === 1);
    const restarted = own.restart();
    expect(await waiting).toMatchObject({ status: 503, code: "STOPPING", message: expect.stringContaining("kept") });
    const late = await rejectionOf(own.chat(agentOfOwn, "three"));
    expect(late).toMatchObject({ status: 503, code: "STOPPING", message: expect.stringContaining("Try again") });
    gate.resolve();
    expect((await running).reply).toBe("reply to one");
    await restarted;
    await eventually(async () => (await own.messagesOf(agentOfOwn)).length === 4);
    expect((await own.inbox(agentOfOwn)).map(({ content, status }) => [content, status])).toEqual([
      ["one", "done"],
      ["two", "done"],
    ]);
    await own.idle();
  });

  test("a backlog larger than a lane's memory is answered completely", async () => {
    await using own = await openRuntimeFixture();
    const agentOfOwn = await own.agent();
    await own.agents.setStatus(agentOfOwn.id, "stopped");
    for (let n = 0; n < 600; n += 100) {
      await Promise.all(
        Array.from({ length: 100 }, (_, at) => own.hear(agentOfOwn, `m${n + at}`, { to: { peer: `chat-${at % 5}` } })),
      );
    }
    await own.restart();
    await own.idle();
    expect(own.sent).toEqual([]);
    await own.agents.setStatus(agentOfOwn.id, "active");
    await eventually(() => own.sent.length === 600, { timeoutMs: 20_000 });
    await own.idle();
    const [{ left } = {}] = await own.rows("SELECT count(*) AS left FROM inbox WHERE status = 'pending'");
    expect(left).toBe(0);
  });

  test("a message whose turn twenty starts found interrupted is parked instead of run, and not sooner", async () => {
    await using own = await openRuntimeFixture({ SHUTDOWN_GRACE: "1ms" });
    const agentOfOwn = await own.agent();
    own.upstream.script({ hang: true });
    await own.hear(agentOfOwn, "poison");
    await own.upstream.waitFor(({ chats }) => chats.length === 1);
    await own.restart();
    await own.upstream.waitFor(({ chats }) => chats.length === 2);
    expect(await own.inbox(agentOfOwn)).toEqual([{ content: "poison", status: "pending", attempts: 1, error: null }]);
    await own.kernel.database.write([{ sql: "UPDATE inbox SET attempts = 19", args: [] }]);
    own.upstream.reset();
    await own.restart();
    await eventually(() => own.sent.length === 1);
    await own.idle();
    expect(own.upstream.chats).toEqual([]);
    expect(await own.inbox(agentOfOwn)).toMatchObject([{ status: "parked", error: "PARKED" }]);
    expect(own.sent).toMatchObject([{ body: expect.stringContaining("could not be answered") }]);
  });
});

test("the event and the usage of a turn during which its agent was transferred belong to the new owner", async () => {
  await using own = await openRuntimeFixture();
  const [agentOfOwn, hers] = [await own.agent(), await own.agent()];
  const gate = Promise.withResolvers<void>();
  own.upstream.script(async () => {
    await gate.promise;
    return "aye";
  });
  const running = own.chat(agentOfOwn, "one");
  await own.upstream.waitFor(({ chats }) => chats.length === 1);
  const to = { userId: hers.userId, isAdmin: true };
  await own.agents.transfer({
    agentId: agentOfOwn.id,
    from: agentOfOwn.userId,
    to,
    statementsBefore: [],
    statementsAfter: [],
  });
  gate.resolve();
  expect((await running).reply).toBe("aye");
  const messageEvents = (await own.kernel.events.since(0, { agentId: agentOfOwn.id })).filter(
    ({ type }) => type === "agent.message",
  );
  expect(messageEvents.map(({ userId }) => userId)).toEqual([hers.userId]);
  const { rows } = await own.kernel.database.read("SELECT user_id FROM usage WHERE agent_id = ?", [agentOfOwn.id]);
  expect(rows.map(({ user_id }) => user_id)).toEqual([hers.userId]);
});
