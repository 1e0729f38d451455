// Tests /api/agent and /api/chat over HTTP: every action, access to agents of others, and errors.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { type InteractionFixture, openInteractionFixture } from "./support.test.ts";

let fixture: InteractionFixture;
let ada: Awaited<ReturnType<InteractionFixture["member"]>>;
let agentId: string;
beforeAll(async () => {
  fixture = await openInteractionFixture();
  ada = await fixture.member();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  fixture.upstream.reset();
  agentId = await fixture.provision(ada);
});

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const view = async (action: string, query = "") =>
  (await ada.get<Record<string, unknown>>(`/api/agent?action=${action}${query}`)).body;
const eventsOf = async (path: string, body: object) => {
  const events = [];
  for await (const { event, data } of ada.sse(path, body, { headers: { accept: "text/event-stream" } })) {
    events.push({ event, data: JSON.parse(data) as Record<string, unknown> });
  }
  return events;
};

describe("access", () => {
  test.each([
    ["GET", "/api/agent"],
    ["GET", "/api/agent?action=memory"],
    ["POST", "/api/agent"],
    ["GET", "/api/chat"],
    ["POST", "/api/chat"],
  ])("%s %s without a session is 401, for any body", async (method, path) => {
    const body = method === "POST" ? "{broken" : undefined;
    const init = { method, headers: { "content-type": "application/json" }, ...(body && { body }) };
    const answer = await fetch(`${fixture.origin}${path}`, init);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ code: "UNAUTHORIZED", error: expect.any(String) });
  });

  test("every route answers 404 for an agent of another user, and no model is called", async () => {
    const bob = await fixture.member();
    await fixture.provision(bob);
    const more = { agentId };
    const answers = await Promise.all([
      bob.get(`/api/agent?action=health&agentId=${agentId}`),
      bob.get(`/api/agent?action=sessions&agentId=${agentId}`),
      bob.post("/api/agent", { message: "Hello", ...more }),
      bob.post("/api/agent", { action: "create-session", ...more }),
      bob.post("/api/agent", { action: "update-skill", skillId: "clock", enabled: false, ...more }),
      bob.post("/api/agent", { action: "set-credential", key: "provider_4", value: "sk-x", ...more }),
      bob.post("/api/chat", { message: "Hello", ...more }),
      bob.get(`/api/chat?agentId=${agentId}`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(404));
    expect(fixture.upstream.chats).toEqual([]);
  });

  test("a userId in the body or the query is ignored", async () => {
    const bob = await fixture.member();
    const theirs = await fixture.provision(bob);
    await ada.post("/api/agent", { message: "Hello", userId: bob.userId });
    expect(await fixture.rows("SELECT id FROM messages WHERE agent_id = ?", theirs)).toEqual([]);
    const { body } = await ada.get<{ agentId: string }>(`/api/agent?action=health&userId=${bob.userId}`);
    expect(body.agentId).toBe(agentId);
  });
});

describe("without an agent", () => {
  test("health is unknown, lists are empty, and messages get 404", async () => {
    const eve = await fixture.member();
    const get = async (action: string) => (await eve.get<Record<string, unknown>>(`/api/agent?action=${action}`)).body;
    expect(await get("health")).toMatchObject({
      status: "unknown",
      apiVersion: "1.0.0",
      channels: [],
      skills: [],
      model: null,
    });
    expect(await get("sessions")).toEqual({ agentId: null, sessions: [] });
    expect(await get("memory")).toEqual({ agentId: null, memory: [], facts: [] });
    expect(await get("skills")).toEqual({ agentId: null, skills: [] });
    expect(Object.values((await get("credentials")).credentials as object)).not.toContain(true);
    expect((await eve.get("/api/chat")).body).toEqual({
      agentId: null,
      messages: [],
      count: 0,
      nextCursor: null,
    });
    for (const path of ["/api/agent", "/api/chat"]) {
      expect(await eve.post(path, { message: "Hello" })).toMatchObject({ status: 404, body: { code: "NO_AGENT" } });
    }
  });
});

describe("GET /api/agent", () => {
  test("without an action lists the endpoints", async () => {
    const { body } = await ada.get<{ apiVersion: string; platformVersion: string; endpoints: object }>("/api/agent");
    expect<object>(body).toMatchObject({
      apiVersion: "1.0.0",
      platformVersion: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
    expect(Object.values(body.endpoints).every((text) => typeof text === "string")).toBe(true);
  });

  test("health", async () => {
    expect(await view("health")).toEqual({
      status: "running",
      version: expect.any(String),
      apiVersion: "1.0.0",
      uptime: expect.any(Number),
      model: "provider_5:fake-small",
      channels: [],
      skills: expect.any(Array),
      lastSeen: expect.any(Number),
      agentId,
      runtimeVersion: expect.any(String),
    });
  });

  test("health shows the runtime version of the agent", async () => {
    await fixture.agents.setStatus(agentId, "running", { runtimeVersion: "2.2.0" });
    expect(await view("health")).toMatchObject({ runtimeVersion: "2.2.0" });
    await fixture.agents.setStatus(agentId, "running", { runtimeVersion: "1.0.0" });
  });

  test("shows sessions, one session with its messages, and the memory: ten messages of a hundred characters", async () => {
    const long = "🦊".repeat(150);
    for (let n = 0; n < 6; n++) await ada.post("/api/agent", { message: n === 5 ? long : `message ${n}` });
    const { sessions } = (await view("sessions")) as { sessions: { id: string }[] };
    expect<object[]>(sessions).toEqual([
      {
        id: expect.stringMatching(/^sess_[0-9a-f]{16}$/),
        status: "active",
        messageCount: 12,
        createdAt: expect.any(Number),
        lastActivity: expect.any(Number),
      },
    ]);
    const session = await view("session", `&sessionId=${sessions[0]?.id}`);
    expect(session).toMatchObject({ id: sessions[0]?.id, messageCount: 12 });
    expect((session.messages as object[])[0]).toEqual({
      role: "user",
      content: "message 0",
      timestamp: expect.any(Number),
    });
    expect(session.messages).toHaveLength(12);
    const { memory } = (await view("memory")) as { memory: { role: string; content: string }[] };
    expect(memory).toHaveLength(10);
    expect(memory[0]).toEqual({ role: "user", content: "message 1" });
    expect([...(memory[8]?.content ?? "")]).toHaveLength(100);
    expect(memory[8]?.content.isWellFormed()).toBe(true);
    expect((await view("memory")).facts).toEqual([]);
  });

  test("the memory tells remembered facts apart from the messages", async () => {
    const call = { toolCalls: [{ name: "remember", arguments: { fact: "Ada loves lighthouses." } }] };
    fixture.upstream.script(({ toolResults }) => (toolResults.length > 0 ? "Noted." : call));
    await ada.post("/api/agent", { message: "I love lighthouses." });
    expect(await view("memory")).toEqual({
      agentId,
      memory: [
        { role: "user", content: "I love lighthouses." },
        { role: "assistant", content: "Noted." },
      ],
      facts: [
        {
          id: expect.any(String),
          text: "Ada loves lighthouses.",
          saidBy: null,
          untrusted: false,
          createdAt: expect.stringMatching(ISO),
        },
      ],
    });
  });

  test("rejects invalid queries", async () => {
    const get = (query: string) => ada.get<{ code: string }>(`/api/agent?${query}`);
    expect(await get("action=nothing")).toMatchObject({ status: 400, body: { code: "INVALID_ACTION" } });
    expect(await get("action=__proto__")).toMatchObject({ status: 400, body: { code: "INVALID_ACTION" } });
    expect(await get("action=session")).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
    expect(await get("action=session&sessionId=sess_0000000000000000")).toMatchObject({
      status: 404,
      body: { code: "SESSION_NOT_FOUND" },
    });
  });

  test("a session of another user is not found", async () => {
    const bob = await fixture.member();
    await fixture.provision(bob);
    const { body } = await bob.post<{ sessionId: string }>("/api/agent", { message: "A secret" });
    const answer = await ada.get(`/api/agent?action=session&sessionId=${body.sessionId}`);
    expect(answer.status).toBe(404);
    expect(answer.text).not.toContain("A secret");
    expect((await ada.post("/api/agent", { message: "Hello", sessionId: body.sessionId })).status).toBe(404);
  });
});

describe("POST /api/agent", () => {
  test("chat responds with the agent, the session, reply and timestamp, and nothing else", async () => {
    for (const body of [{ message: "Hello" }, { action: "chat", message: "Hello" }]) {
      expect((await ada.post("/api/agent", body)).body).toEqual({
        agentId,
        sessionId: expect.stringMatching(/^sess_/),
        reply: "echo: Hello",
        timestamp: expect.any(Number),
      });
    }
  });

  test("create-session opens a session, and the next message goes to it", async () => {
    const first = (await ada.post<{ sessionId: string }>("/api/agent", { message: "Hello" })).body;
    const { status, body } = await ada.post<{ sessionId: string }>("/api/agent", { action: "create-session" });
    expect<object>({ status, body }).toEqual({
      status: 200,
      body: { agentId, sessionId: expect.stringMatching(/^sess_/), status: "active" },
    });
    expect(body.sessionId).not.toBe(first.sessionId);
    const next = (await ada.post<{ sessionId: string }>("/api/agent", { message: "Hello" })).body;
    expect(next.sessionId).toBe(body.sessionId);
    const back = await ada.post<{ sessionId: string }>("/api/agent", { message: "Hello", sessionId: first.sessionId });
    expect(back.body.sessionId).toBe(first.sessionId);
  });

  test("update-skill switches a tool off and on for the next turn", async () => {
    const offered = async () => {
      await ada.post("/api/agent", { message: "Hello" });
      const tools = fixture.upstream.chats.at(-1)?.body.tools as { function: { name: string } }[] | undefined;
      return tools?.map((tool) => tool.function.name) ?? [];
    };
    expect(await offered()).toContain("clock");
    const off = await ada.post("/api/agent", { action: "update-skill", skillId: "clock", enabled: false });
    expect(off.body).toEqual({ agentId, success: true, skillId: "clock", enabled: false });
    expect(await offered()).not.toContain("clock");
    const { skills } = (await view("skills")) as { skills: { id: string; enabled: boolean }[] };
    expect(skills.find(({ id }) => id === "clock")).toEqual({
      id: "clock",
      name: expect.any(String),
      description: expect.any(String),
      enabled: false,
    } as object as (typeof skills)[number]);
    await ada.post("/api/agent", { action: "update-skill", skillId: "clock", enabled: true });
    expect(await offered()).toContain("clock");
    expect(await ada.post("/api/agent", { action: "update-skill", skillId: "sudo", enabled: true })).toMatchObject({
      status: 404,
      body: { code: "UNKNOWN_SKILL" },
    });
  });

  test("set-credential stores a key, shows only that it is configured, and clears it with an empty text", async () => {
    const set = (value: string) => ada.post("/api/agent", { action: "set-credential", key: "provider_4", value });
    const there = async () => ((await view("credentials")).credentials as Record<string, boolean>).provider_4;
    const answer = await set("sk-canary-4711");
    expect(answer.body).toEqual({ agentId, success: true, key: "provider_4", configured: true });
    expect(await there()).toBe(true);
    expect(answer.text + JSON.stringify(await view("credentials"))).not.toContain("canary");
    expect(JSON.stringify(await fixture.rows("SELECT * FROM credentials"))).not.toContain("canary");
    expect((await set("")).body).toEqual({ agentId, success: true, key: "provider_4", configured: false });
    expect(await there()).toBe(false);
    expect((await ada.post("/api/agent", { action: "set-credential", key: "nothing", value: "x" })).status).toBe(400);
  });

  test.each([
    [{}, "INVALID_INPUT"],
    [{ message: "" }, "INVALID_INPUT"],
    [{ message: 7 }, "INVALID_INPUT"],
    [{ message: "x".repeat(100_001) }, "INVALID_INPUT"],
    [{ action: "sudo" }, "INVALID_ACTION"],
    [{ action: "constructor", message: "x" }, "INVALID_ACTION"],
    [{ action: "update-skill", skillId: "clock" }, "INVALID_INPUT"],
    [{ action: "update-skill", enabled: true }, "INVALID_INPUT"],
    [{ action: "set-credential", key: "provider_4" }, "INVALID_INPUT"],
    [{ action: "set-credential", value: "x" }, "INVALID_INPUT"],
  ])("%j is 400", async (body, code) => {
    const answer = await ada.post<{ code: string; error: string }>("/api/agent", body);
    expect(answer).toMatchObject({ status: 400, body: { code, error: expect.any(String) } });
    expect(fixture.upstream.chats).toEqual([]);
  });

  test("streams deltas and then the reply if the request accepts events", async () => {
    fixture.upstream.script("one two three");
    const events = await eventsOf("/api/agent", { message: "Count" });
    expect(events.at(-1)).toMatchObject({ event: "reply", data: { reply: "one two three" } });
    const deltas = events.filter(({ event }) => event === "delta");
    expect(deltas.map(({ data }) => data.text).join("")).toBe("one two three");
  });

  test("an error has its status, also in a stream", async () => {
    fixture.upstream.failNext(2, { status: 500, message: "secret words" });
    const answer = await ada.post("/api/agent", { message: "Hello" });
    expect(answer).toMatchObject({ status: 502, body: { code: "MODEL_UNAVAILABLE" } });
    const events = await eventsOf("/api/agent", { message: "Hello" });
    expect(events).toMatchObject([{ event: "error", data: { status: 502, code: "MODEL_UNAVAILABLE" } }]);
    expect(answer.text + JSON.stringify(events)).not.toContain("secret words");
  });

  test("a stopped agent is 409 if the user has no other; else the running one answers", async () => {
    const eve = await fixture.member();
    const first = await fixture.provision(eve);
    await fixture.agents.setStatus(first, "stopped");
    expect(await eve.post("/api/agent", { message: "Hello" })).toMatchObject({
      status: 409,
      body: { code: "AGENT_STOPPED" },
    });
    expect((await eve.get<{ status: string }>("/api/agent?action=health")).body.status).toBe("stopped");
    const second = await fixture.provision(eve);
    const third = await fixture.provision(eve);
    await fixture.agents.setStatus(third, "stopped");
    await eve.post("/api/agent", { message: "Hello" });
    expect(
      await fixture.rows(
        "SELECT DISTINCT agent_id AS id FROM messages WHERE agent_id IN (?, ?, ?)",
        first,
        second,
        third,
      ),
    ).toEqual([{ id: second }]);
  });

  test("a client that disconnects cancels the turn, streaming or not", async () => {
    fixture.upstream.script({ text: "one two", hangAfter: 2 });
    for (const accept of ["text/event-stream", "application/json"]) {
      const away = new AbortController();
      const response = ada.fetch(
        "POST",
        "/api/agent",
        { message: "Hello" },
        { headers: { accept }, signal: away.signal },
      );
      const ended = response.then((answer) => answer.text()).catch(() => undefined);
      await fixture.upstream.waitFor(({ open }) => open === 1);
      away.abort();
      await ended;
      await fixture.upstream.waitFor(({ open }) => open === 0);
    }
    await eventually(async () => {
      const rows = await fixture.rows("SELECT status FROM inbox WHERE agent_id = ?", agentId);
      return rows.every(({ status }) => status === "cancelled") && rows.length === 2;
    });
  });

  test("a repeated Idempotency-Key answers the message once", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const once = () => ada.post("/api/agent", { message: "Pay the bill" }, { headers });
    const [first, second] = [await once(), await once()];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(fixture.upstream.chats).toHaveLength(1);
    const other = await ada.post("/api/agent", { message: "Something else" }, { headers });
    expect(other).toMatchObject({ status: 409, body: { code: "IDEMPOTENCY_MISMATCH" } });
  });
});

describe("/api/chat", () => {
  test("sends a message, and lists sent messages newest first", async () => {
    const sent = await ada.post<{ id: string }>("/api/chat", { message: "Hello", topic: "work" });
    expect(sent).toMatchObject({ status: 200 });
    expect(sent.body as object).toEqual({
      id: expect.any(String),
      agentId,
      message: "Hello",
      topic: "work",
      status: "sent",
      timestamp: expect.stringMatching(ISO),
      reply: "echo: Hello",
    });
    fixture.upstream.failNext(1, 400);
    expect((await ada.post("/api/chat", { message: "Broken" })).status).toBe(502);
    const { body } = await ada.get<{ messages: Record<string, unknown>[]; count: number }>("/api/chat");
    expect(body.count).toBe(2);
    expect(body.messages).toEqual([
      {
        id: expect.any(String),
        agentId,
        message: "Broken",
        topic: null,
        status: "failed",
        timestamp: expect.stringMatching(ISO),
        reply: null,
      },
      { ...sent.body, timestamp: expect.stringMatching(ISO) },
    ]);
  });

  test("pages the list, and filters it by topic", async () => {
    for (let n = 0; n < 5; n++) await ada.post("/api/chat", { message: `${n}`, topic: n % 2 ? "odd" : "even" });
    const ask = async (query: string) =>
      (await ada.get<{ messages: { message: string }[]; nextCursor: string | null }>(`/api/chat?${query}`)).body;
    const list = async (query: string) => (await ask(query)).messages.map(({ message }) => message);
    expect(await list("limit=2")).toEqual(["4", "3"]);
    const { nextCursor } = await ask("limit=2");
    expect(await list(`limit=2&cursor=${nextCursor}`)).toEqual(["2", "1"]);
    expect((await ask("limit=2&offset=3")).nextCursor).toBeNull();
    expect(await list("limit=2&offset=2")).toEqual(["2", "1"]);
    expect(await list("topic=odd")).toEqual(["3", "1"]);
    expect(await list("limit=100000")).toHaveLength(5);
    for (const bad of ["limit=x", "limit=-1", "offset=-1", "offset=1.5"]) {
      expect((await ada.get(`/api/chat?${bad}`)).status).toBe(400);
    }
  });

  test("each topic has a session, separate from the web's sessions", async () => {
    await ada.post("/api/chat", { message: "The secret is 42", topic: "a" });
    await ada.post("/api/chat", { message: "What is it?", topic: "b" });
    await ada.post("/api/agent", { message: "What is it?" });
    for (const { messages } of fixture.upstream.chats.slice(1)) expect(JSON.stringify(messages)).not.toContain("42");
    await ada.post("/api/chat", { message: "What is it?", topic: "a" });
    expect(JSON.stringify(fixture.upstream.chats.at(-1)?.messages)).toContain("42");
  });

  test.each([
    [{}],
    [{ message: "" }],
    [{ message: "x", topic: "" }],
    [{ message: "x", topic: "y".repeat(201) }],
    [{ message: ["x"] }],
  ])("%j is 400", async (body) => {
    expect(await ada.post("/api/chat", body)).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
  });
});

test("a stored configuration is answered with what has no effect for any plugin", async () => {
  const config = {
    skills: { clok: true },
    approvals: { wallet_send: "ask", wallet_sent: "ask", spend: "ask" },
    channels: { channel_a: { owners: ["@ada"] } },
    schedules: [{ cron: "@daily", prompt: "Good morning" }],
  };
  const { status, body } = await ada.put<{ warnings: unknown }>(`/api/agents/${agentId}/config`, config);
  expect(status).toBe(200);
  expect(body.warnings).toEqual([
    { path: "skills.clok", message: expect.stringContaining("Did you mean clock?") },
    { path: "approvals.wallet_sent", message: expect.stringContaining("Did you mean wallet_send?") },
    { path: "channels.channel_a.owners[0]", message: expect.stringContaining("matches nobody") },
  ]);
});
