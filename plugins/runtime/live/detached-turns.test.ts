// Tests turns that run by themselves: sending, following from any point, approving, cancelling and failing.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import type { ServerSentEvent } from "../../../tests/support/sse.ts";
import { type InteractionFixture, openInteractionFixture } from "../../interaction/support.test.ts";

interface Sent {
  turnId: string;
  conversationId: string;
}

let fixture: InteractionFixture;
let ada: Awaited<ReturnType<InteractionFixture["member"]>>;
let agentId: string;
beforeAll(async () => {
  fixture = await openInteractionFixture({ SHUTDOWN_GRACE: "50ms", OUTBOUND_ALLOW: "127.0.0.1/32" });
  ada = await fixture.member();
});
beforeEach(async () => {
  fixture.upstream.reset();
  agentId = await fixture.provision(ada);
});
afterAll(async () => await fixture?.[Symbol.asyncDispose]());

const path = (rest: string) => `/api/agents/${agentId}${rest}`;

async function send(message: string, conversationId?: string, headers: Record<string, string> = {}): Promise<Sent> {
  const to = conversationId === undefined ? "" : `/${conversationId}/messages`;
  const { status, body, text } = await ada.post<Sent>(path(`/conversations${to}`), { message }, { headers });
  if (status !== 202) throw new Error(`send: ${status} ${text}`);
  return body;
}

/** The events of a turn up to its end. */
async function follow(turnId: string, lastEventId?: string): Promise<ServerSentEvent[]> {
  const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  return Array.fromAsync(ada.sse(path(`/turns/${turnId}/events`), undefined, { headers }));
}

const dataOf = (events: readonly ServerSentEvent[], event: string) =>
  events.filter((one) => one.event === event).map(({ data }) => JSON.parse(data));
const textOf = (events: readonly ServerSentEvent[]) =>
  dataOf(events, "delta")
    .map(({ text }) => text)
    .join("");

describe("a message that is sent", () => {
  test("begins a conversation and is answered though nobody listens", async () => {
    const { turnId, conversationId } = await send("Ahoy");
    await eventually(
      async () => (await fixture.rows("SELECT 1 FROM messages WHERE session_id = ?", conversationId)).length === 2,
    );
    const events = await follow(turnId);
    expect(dataOf(events, "reply")).toMatchObject([{ turnId, conversationId, text: "echo: Ahoy" }]);
    expect(events.at(-1)).toMatchObject({ event: "end", data: JSON.stringify({ turnId, status: "done" }) });
  });

  test("is in its conversation at once, with its state", async () => {
    fixture.upstream.script({ hang: true });
    const { turnId, conversationId } = await send("Ahoy");
    await send("Are you there?", conversationId);
    type Page = { messages: { text: string; state: string; seq: number | null }[] };
    const { messages } = (await ada.get<Page>(path(`/conversations/${conversationId}/messages`))).body;
    expect(messages).toMatchObject([
      { text: "Are you there?", state: "waiting", seq: null },
      { text: "Ahoy", state: "running", seq: null },
    ]);
    const { body } = await ada.get<{ conversations: object[] }>(path("/conversations"));
    expect(body.conversations).toMatchObject([
      { id: conversationId, waiting: 2, title: "Ahoy", preview: "Are you there?" },
    ]);
    expect((await ada.get<{ turns: object[] }>(path("/turns?status=running"))).body.turns).toMatchObject([
      { id: turnId },
    ]);
  });

  test("is sent once with an Idempotency-Key", async () => {
    const headers = { "idempotency-key": "k1" };
    const first = await send("Ahoy", undefined, headers);
    expect(await send("Ahoy", undefined, headers)).toEqual(first);
    expect(await fixture.rows("SELECT 1 FROM inbox WHERE agent_id = ?", agentId)).toHaveLength(1);
  });

  test("is sent once with an Idempotency-Key whose answer a kill kept from being stored", async () => {
    const headers = { "idempotency-key": "k1" };
    const begun = await send("Ahoy", undefined, headers);
    const went = await send("Still there?", begun.conversationId, headers);
    await fixture.kernel.database.write([{ sql: "DELETE FROM idempotency_keys", args: [] }]);
    expect(await send("Ahoy", undefined, headers)).toEqual(begun);
    expect(await send("Still there?", begun.conversationId, headers)).toEqual(went);
    expect(await fixture.rows("SELECT 1 FROM inbox WHERE agent_id = ?", agentId)).toHaveLength(2);
    expect(await fixture.rows("SELECT 1 FROM sessions WHERE agent_id = ?", agentId)).toHaveLength(1);
    await fixture.kernel.database.write([{ sql: "DELETE FROM idempotency_keys", args: [] }]);
    expect(await send("Something else", begun.conversationId, headers)).not.toEqual(went);
  });

  test("is refused for others, for other platforms, when it is empty, and while the agent is stopped", async () => {
    const eve = await fixture.member();
    const { turnId, conversationId } = await send("Ahoy");
    await follow(turnId);
    expectRefusal(await eve.post(path("/conversations"), { message: "Hi" }), 404, "AGENT_NOT_FOUND");
    expectRefusal(await eve.get(path(`/turns/${turnId}/events`)), 404, "AGENT_NOT_FOUND");
    expectRefusal(await eve.post(path(`/turns/${turnId}/cancel`)), 404, "AGENT_NOT_FOUND");
    const other = await fixture.provision(ada);
    expectRefusal(await ada.get(`/api/agents/${other}/turns/${turnId}/events`), 404, "TURN_NOT_FOUND");
    expectRefusal(
      await ada.post(`/api/agents/${other}/conversations/${conversationId}/messages`, { message: "Hi" }),
      404,
      "CONVERSATION_NOT_FOUND",
    );
    await ada.post("/api/chat", { agentId, message: "From a program", topic: "stock" });
    const [api] = await fixture.rows("SELECT id FROM sessions WHERE agent_id = ? AND platform = 'api'", agentId);
    const elsewhere = await ada.post(path(`/conversations/${api?.id}/messages`), { message: "Hi" });
    expectRefusal(elsewhere, 400, "SESSION_ELSEWHERE");
    expectRefusal(await ada.post(path("/conversations"), { message: " " }), 400, "INVALID_INPUT");
    await ada.post(`/api/agents/${agentId}/stop`);
    await fixture.agents.setStatus(agentId, "stopped");
    expectRefusal(await ada.post(path("/conversations"), { message: "Hi" }), 409, "AGENT_STOPPED");
  });

  test("is refused while a hundred others wait", async () => {
    fixture.upstream.script({ hang: true });
    const { conversationId } = await send("first");
    await Promise.all(Array.from({ length: 99 }, (_, n) => send(`more ${n}`, conversationId)));
    const answer = await ada.post(path(`/conversations/${conversationId}/messages`), { message: "too much" });
    expectRefusal(answer, 429, "TOO_MANY_WAITING");
  });
});

describe("the events of a turn", () => {
  test("two readers get the same; one that comes later or comes back loses nothing", async () => {
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    fixture.upstream.script(async ({ toolResults }) => {
      if (toolResults.length === 0)
        return { text: "I look.", toolCalls: [{ name: "remember", arguments: { fact: "Deep." } }] };
      await gate;
      return { pieces: ["It is ", "eight ", "metres."] };
    });
    const { turnId } = await send("How deep?");
    const early = follow(turnId);
    // The first reader has seen the tool's result when the second one comes.
    const partly: ServerSentEvent[] = [];
    for await (const event of ada.sse(path(`/turns/${turnId}/events`))) {
      partly.push(event);
      if (event.event === "tool" && JSON.parse(event.data).state === "done") break;
    }
    const late = follow(turnId);
    const resumed = follow(turnId, partly.at(-1)?.id);
    go();
    const whole = "I look.\n\nIt is eight metres.";
    for (const events of await Promise.all([early, late])) {
      expect(textOf(events)).toBe(whole);
      expect(dataOf(events, "tool")).toMatchObject([
        { name: "remember", state: "called", input: { fact: "Deep." } },
        { name: "remember", state: "done", result: expect.any(String), ms: expect.any(Number) },
      ]);
      expect(dataOf(events, "reply")).toMatchObject([{ text: whole }]);
    }
    const rest = await resumed;
    expect(textOf(partly) + textOf(rest)).toBe(whole);
    expect(dataOf(rest, "tool")).toEqual([]);
    expect(dataOf(rest, "reset")).toEqual([]);
    // An id of an earlier process begins anew.
    const reset = await follow(turnId, "gone.17");
    expect(reset[0]?.event).toBe("reset");
    expect(textOf(reset)).toBe(whole);
  });

  test("a try that failed is void: readers are told to wait, then begin anew", async () => {
    fixture.upstream.failNext(1, { text: "Half of", cutAfter: 1 } as never);
    fixture.upstream.script("All of it.");
    const { turnId } = await send("Tell me");
    const events = await follow(turnId);
    expect(dataOf(events, "waiting")).toMatchObject([{ code: "MODEL_UNAVAILABLE", retryInMs: 1_000 }]);
    const afterReset = events.slice(events.findIndex(({ event }) => event === "reset"));
    expect(textOf(afterReset)).toBe("All of it.");
  });

  test("a failure says its public reason, live and later", async () => {
    const poor = await fixture.provision(ada, { budget: { usdPerDay: 0.000001 } });
    const { body } = await ada.post<Sent>(`/api/agents/${poor}/conversations`, { message: "Hi" });
    const events = await Array.fromAsync(ada.sse(`/api/agents/${poor}/turns/${body.turnId}/events`));
    expect(dataOf(events, "error")).toMatchObject([{ code: "BUDGET_EXCEEDED", status: 402 }]);
    expect(dataOf(events, "end")).toMatchObject([{ status: "failed" }]);
    type Page = { messages: object[] };
    const page = (await ada.get<Page>(`/api/agents/${poor}/conversations/${body.conversationId}/messages`)).body;
    expect(page.messages).toMatchObject([{ state: "failed", error: { code: "BUDGET_EXCEEDED" } }]);
  });

  test("a call that waits for approval is told", async () => {
    await using page = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("Remind them.") });
    fixture.upstream.script(({ toolResults }) => {
      const last = toolResults.at(-1)?.content;
      if (last === undefined) return { toolCalls: [{ name: "web_fetch", arguments: { url: page.url.href } }] };
      if (last.includes("was not run")) return "Please approve it.";
      return { toolCalls: [{ name: "remind_me", arguments: { text: "Now", inMinutes: 5 } }] };
    });
    const { turnId } = await send("Read this page");
    const events = await follow(turnId);
    const summary = "Set a reminder in 5 minutes: Now";
    const call = { id: expect.any(String), callId: expect.any(String), tool: "remind_me", class: "write" };
    expect(dataOf(events, "approval")).toEqual([{ ...call, summary, turnId }]);
    expect(dataOf(events, "waiting")).toMatchObject([{ code: "WAITING_FOR_APPROVAL" }]);
    expect(dataOf(events, "end")).toEqual([{ turnId, status: "waiting" }]);
    // A reader that comes later is told the same, and follows the turn.
    const late: ServerSentEvent[] = [];
    for await (const event of ada.sse(path(`/turns/${turnId}/events`))) {
      late.push(event);
      if (event.event === "waiting") await ada.post(path(`/turns/${turnId}/cancel`));
    }
    const facts = ({ event, data }: ServerSentEvent) => [event, { ...JSON.parse(data), ms: 0, status: "" }];
    const told = (given: readonly ServerSentEvent[]) => given.filter(({ event }) => event !== "turn").map(facts);
    expect(told(late).slice(0, -2)).toEqual(told(events).slice(0, -1));
    expect(dataOf(late, "end")).toEqual([{ turnId, status: "cancelled" }]);
  });
});

describe("cancelling", () => {
  test("keeps what was written until then, with its steps, and the next turn knows it", async () => {
    fixture.upstream.script(({ toolResults }) =>
      toolResults.length === 0
        ? { text: "I look.", toolCalls: [{ name: "clock", arguments: {} }] }
        : { pieces: ["The quay ", "is long", ", and deep"], hangAfter: 3 },
    );
    const { turnId, conversationId } = await send("Tell me.");
    for await (const { event, data } of ada.sse(path(`/turns/${turnId}/events`))) {
      if (event === "delta" && data.includes("is long")) break;
    }
    await ada.post(path(`/turns/${turnId}/cancel`));
    await follow(turnId);
    const { body } = await ada.get<{ messages: object[] }>(path(`/conversations/${conversationId}/messages`));
    expect(body.messages).toMatchObject([
      { role: "assistant", text: "I look.\n\nThe quay is long", state: "cancelled", steps: [{ name: "clock" }] },
      { role: "user", text: "Tell me.", state: "cancelled" },
    ]);
    fixture.upstream.script("It goes on.");
    await follow((await send("Go on.", conversationId)).turnId);
    const { messages = [] } = (fixture.upstream.chats.at(-1)?.body ?? {}) as {
      messages?: { role: string; content: unknown }[];
    };
    expect(messages.filter(({ role }) => role === "assistant").map(({ content }) => content)).toEqual([
      "I look.\n\nThe quay is long",
    ]);
  });

  test("ends a turn that runs, and one that waits behind it", async () => {
    fixture.upstream.script({ hang: true });
    const { turnId, conversationId } = await send("first");
    const second = await send("second", conversationId);
    await eventually(() => fixture.upstream.chats.length === 1);
    expect((await ada.post(path(`/turns/${second.turnId}/cancel`))).status).toBe(202);
    expect((await ada.post(path(`/turns/${turnId}/cancel`))).status).toBe(202);
    for (const id of [turnId, second.turnId]) {
      const events = await follow(id);
      expect(dataOf(events, "error")).toMatchObject([{ code: "CANCELLED" }]);
      expect(dataOf(events, "end")).toEqual([{ turnId: id, status: "cancelled" }]);
    }
    expect(fixture.upstream.chats).toHaveLength(1);
    expectRefusal(await ada.post(path(`/turns/${turnId}/cancel`)), 409, "ALREADY_SETTLED");
    expectRefusal(await ada.post(path(`/turns/${crypto.randomUUID()}/cancel`)), 404, "TURN_NOT_FOUND");
    // The conversation goes on.
    fixture.upstream.script("Back.");
    const third = await send("third", conversationId);
    expect(dataOf(await follow(third.turnId), "reply")).toMatchObject([{ text: "Back." }]);
  });
});
