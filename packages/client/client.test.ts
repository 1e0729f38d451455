// The client against a service that fails in each way that networks and services fail: what is tried again, and what is not.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { BerthError, type ChatEvent, ConnectionError, createClient } from "./src/index.ts";

interface Seen {
  method: string;
  path: string;
  key: string | null;
  lastEventId: string | null;
  authorization: string | null;
  cookie: string | null;
  body: string;
}
type Answer = () => Response | Promise<Response>;

let answers: Answer[] = [];
let seen: Seen[] = [];
/** Marks an answer whose connection breaks off at once, or when the test says so. */
const BREAKS = "x-breaks-off";
let breakOff: () => void;

const service = createServer(async (request, response) => {
  const { method = "", url: path = "", headers } = request;
  const header = (name: string) => headers[name]?.toString() ?? null;
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  seen.push({
    method,
    path,
    key: header("idempotency-key"),
    lastEventId: header("last-event-id"),
    authorization: header("authorization"),
    cookie: header("cookie"),
    body: Buffer.concat(chunks).toString(),
  });
  const answer = answers.shift();
  if (!answer) throw new Error(`No answer was planned for ${method} ${path}.`);
  const given = await answer();
  response.writeHead(given.status, [...given.headers].flat());
  if (given.headers.has(BREAKS)) {
    response.write(await given.text());
    breakOff = () => void response.destroy();
    return given.headers.get(BREAKS) === "at once" && breakOff();
  }
  response.flushHeaders();
  for await (const chunk of given.body ?? []) response.write(chunk);
  response.end();
});
await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
afterAll(() => {
  service.close();
  service.closeAllConnections();
});
beforeEach(() => {
  answers = [];
  seen = [];
});

const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
const berth = createClient({ url, key: "bk_test" });
const json =
  (body: object, init?: ResponseInit): Answer =>
  () =>
    Response.json(body, init);
const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
  json({ error: "No.", message: "No.", code, issues: [{ path: "name", message: "Too long." }] }, { status, headers });
const events =
  (...frames: string[]): Answer =>
  () =>
    new Response(frames.map((frame) => `${frame}\n\n`).join(""), { headers: { "content-type": "text/event-stream" } });
const frame = (id: string, event: string, data: object) => `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}`;
const broken =
  (text: string, when: "at once" | "later" = "later"): Answer =>
  () =>
    new Response(text, { headers: { "content-type": "text/event-stream", [BREAKS]: when } });
async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a refused request", () => {
  test("throws a BerthError with all that the service says", async () => {
    answers = [refusal(400, "INVALID_INPUT", { "x-request-id": "r-1" })];
    const error = await caught(berth.agents.create({ name: "x".repeat(65) }));
    expect(error).toBeInstanceOf(BerthError);
    expect(error).toMatchObject({
      status: 400,
      code: "INVALID_INPUT",
      message: "No.",
      issues: [{ path: "name", message: "Too long." }],
      requestId: "r-1",
    });
    expect(seen).toHaveLength(1);
  });

  test("of a proxy, whose body is no JSON, has the status as its code", async () => {
    answers = [() => new Response("<h1>Teapot</h1>", { status: 418 })];
    expect(await caught(berth.account())).toMatchObject({ status: 418, code: "HTTP_418", issues: [] });
  });

  test.each([400, 401, 402, 403, 404, 409, 413, 500])("with status %d is not tried again", async (status) => {
    answers = [refusal(status, "REFUSED")];
    expect(await caught(berth.agents.start("a"))).toMatchObject({ status });
    expect(seen).toHaveLength(1);
  });
});

describe("a request is tried again", () => {
  test.each([
    ["502", refusal(502, "BACKEND_UNAVAILABLE")],
    ["503", refusal(503, "STOPPING")],
    ["429 with Retry-After", refusal(429, "RATE_LIMITED", { "retry-after": "0" })],
    ["409 while the first try still runs", refusal(409, "IDEMPOTENCY_IN_PROGRESS")],
    ["a broken connection", broken("{", "at once")],
  ])("after %s, a POST with the same key", async (_, first) => {
    answers = [first, json({ success: true, agent: { id: "1" } })];
    expect(await berth.agents.create({ name: "Harbour" })).toMatchObject({ agent: { id: "1" } });
    expect(seen.map(({ method }) => method)).toEqual(["POST", "POST"]);
    expect(seen[0]?.key).toMatch(/^[0-9a-f]{32}$/);
    expect(seen[1]?.key).toBe(seen[0]?.key ?? "");
    expect(seen[1]?.body).toBe('{"name":"Harbour"}');
  });

  test("each POST has a key of its own, and other methods none", async () => {
    answers = [json({}), json({}), json({ config: {} })];
    await berth.agents.start("a");
    await berth.agents.start("a");
    await berth.agents.configure("a", {});
    expect(new Set(seen.map(({ key }) => key)).size).toBe(3);
    expect(seen[2]?.key).toBeNull();
  });

  test("as often as it is allowed, then the last error is thrown", async () => {
    const once = createClient({ url, retries: 1 });
    answers = [refusal(503, "STOPPING"), refusal(502, "BACKEND_UNAVAILABLE"), json({})];
    expect(await caught(once.account())).toMatchObject({ code: "BACKEND_UNAVAILABLE" });
    expect(seen).toHaveLength(2);
  });

  test("but not against the limit of a plan, nor after a wait of minutes", async () => {
    answers = [refusal(429, "AGENT_LIMIT_REACHED")];
    expect(await caught(berth.agents.create({ name: "x" }))).toMatchObject({ code: "AGENT_LIMIT_REACHED" });
    answers = [refusal(429, "RATE_LIMITED", { "retry-after": "900" })];
    expect(await caught(berth.signIn({ email: "a", password: "b" }))).toMatchObject({ retryAfterMs: 900_000 });
    expect(seen).toHaveLength(2);
  });

  test("until it is aborted", async () => {
    const abort = new AbortController();
    answers = [
      () => {
        abort.abort(new Error("enough"));
        return Response.json({}, { status: 503 });
      },
    ];
    const error = await caught(berth.request("GET", "/api/agents", { signal: abort.signal }));
    expect(error).toMatchObject({ message: "enough" });
    expect(seen).toHaveLength(1);
  });
});

test("an address without a service is a ConnectionError that names it", async () => {
  const nowhere = createClient({ url: "http://127.0.0.1:1/", retries: 0 });
  const error = await caught(nowhere.account());
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ message: expect.stringContaining("No answer from http://127.0.0.1:1:") });
  expect(() => createClient({ url: "berth.example.com" })).toThrow(/needs the service's url/);
});

test("a service that does not answer in time is a ConnectionError", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  answers = [() => promise];
  const hasty = createClient({ url, retries: 0, timeoutMs: 20 });
  expect(await caught(hasty.account())).toBeInstanceOf(ConnectionError);
  resolve(new Response());
});

test("a session is kept and ended where no browser does it, and a key is sent instead of one", async () => {
  const headers = { "set-cookie": "berth_session=s3cret; Path=/; HttpOnly" };
  answers = [
    json({ ok: true }, { headers }),
    json({}),
    json({ ok: true }, { headers: { "set-cookie": "berth_session=; Max-Age=0" } }),
    json({}),
  ];
  const person = createClient({ url });
  await person.signIn({ email: "ada@example.com", password: "p" });
  await person.account();
  await person.signOut();
  await person.account();
  expect(seen.map(({ cookie }) => cookie)).toEqual([null, "berth_session=s3cret", "berth_session=s3cret", null]);
  answers = [json({})];
  await berth.account();
  expect(seen.at(-1)).toMatchObject({ authorization: "Bearer bk_test", cookie: null });
});

test("a list goes on to the last page", async () => {
  answers = [json({ agents: [{ id: "1" }, { id: "2" }], nextCursor: "2" }), json({ agents: [{ id: "3" }] })];
  expect((await collect(berth.agents.list())).map(({ id }) => id)).toEqual(["1", "2", "3"]);
  expect(seen.map(({ path }) => path)).toEqual([
    "/api/agents/provision?limit=100",
    "/api/agents/provision?limit=100&cursor=2",
  ]);
});

describe("events", () => {
  const event = (id: string) => frame(id, "agent.status", { type: "agent.status", timestamp: "t", data: { id } });

  test("go on after the last one when the stream breaks off, without gaps and duplicates", async () => {
    answers = [
      broken(`retry: 2000\nid: 5\n\n${event("6")}\n\nid: 7\nevent: agent.st`),
      refusal(503, "STOPPING"),
      events(": still here\nid: 9"),
      events(event("10")),
    ];
    const ids: string[] = [];
    for await (const { id } of berth.events({ types: ["agent.*"] })) {
      ids.push(id);
      if (id === "6") breakOff();
      if (id === "10") break;
    }
    expect(ids).toEqual(["6", "10"]);
    expect(seen.map(({ lastEventId }) => lastEventId)).toEqual([null, "6", "6", "9"]);
    expect(seen[0]?.path).toBe("/api/events?types=agent.*");
  });

  test("end with an error when the key is revoked meanwhile", async () => {
    answers = [events(event("1")), refusal(401, "UNAUTHORIZED")];
    expect(await caught(collect(berth.events()))).toMatchObject({ code: "UNAUTHORIZED" });
  });

  test("of a service that can't be reached at first are an error at once", async () => {
    const nowhere = createClient({ url: "http://127.0.0.1:1", retries: 0 });
    expect(await caught(collect(nowhere.events()))).toBeInstanceOf(ConnectionError);
  });
});

describe("a chat", () => {
  const sent = json({ turnId: "t1", conversationId: "c1" }, { status: 202 });
  const reply = { turnId: "t1", conversationId: "c1", text: "Ahoy.", timestamp: "2026-01-01T00:00:00Z" };
  const end = frame("e.9", "end", { turnId: "t1", status: "done" });

  test("yields what the turn does up to the reply, over a stream that breaks off", async () => {
    answers = [
      sent,
      broken(
        `${frame("e.1", "turn", { turnId: "t1", status: "running" })}\n\n${frame("e.4", "delta", { text: "Ah" })}\n\nid: e.5\nev`,
      ),
      events(frame("e.6", "delta", { text: "oy." }), frame("e.7", "reply", reply), end),
    ];
    const found: ChatEvent[] = [];
    for await (const event of berth.chat("a b", "Hi")) {
      found.push(event);
      if (event.type === "delta" && event.text === "Ah") breakOff();
    }
    expect(found).toEqual([
      { type: "turn", turnId: "t1", conversationId: "c1", status: "running" },
      { type: "delta", text: "Ah" },
      { type: "delta", text: "oy." },
      { type: "reply", ...reply },
    ]);
    expect(seen.map(({ method, path, lastEventId }) => [method, path, lastEventId])).toEqual([
      ["POST", "/api/agents/a%20b/conversations", null],
      ["GET", "/api/agents/a%20b/turns/t1/events", null],
      ["GET", "/api/agents/a%20b/turns/t1/events", "e.4"],
    ]);
  });

  test("whose turn has ended while nobody was connected says that its deltas are void", async () => {
    answers = [
      sent,
      events(frame("e.3", "delta", { text: "Ah" })),
      events(frame("stored.1", "reply", reply), frame("stored.2", "end", { turnId: "t1", status: "done" })),
    ];
    const found: ChatEvent[] = await collect(berth.chat("a", "Hi"));
    expect(found.map(({ type }) => type)).toEqual(["delta", "reset", "reply"]);
  });

  test("goes on with a conversation, and resolves with its reply alone", async () => {
    answers = [sent, events(frame("e.1", "reply", reply), end)];
    expect((await berth.chat("a", { message: "Hi", conversationId: "c1" }).reply()).text).toBe("Ahoy.");
    expect(seen[0]).toMatchObject({ path: "/api/agents/a/conversations/c1/messages", body: '{"message":"Hi"}' });
  });

  test("throws the error of the turn", async () => {
    answers = [sent, events(frame("e.1", "error", { status: 402, code: "BUDGET_EXCEEDED", message: "Enough." }), end)];
    expect(await caught(berth.chat("a", "Hi").reply())).toMatchObject({
      status: 402,
      code: "BUDGET_EXCEEDED",
      message: "Enough.",
    });
    expect(seen).toHaveLength(2);
  });

  test("that waits for an approval ends without a reply", async () => {
    const waiting = frame("e.1", "waiting", { turnId: "t1", code: "APPROVAL_REQUIRED", message: "Waits for you." });
    answers = [sent, events(waiting, frame("e.2", "end", { turnId: "t1", status: "waiting" }))];
    expect(await caught(berth.chat("a", "Hi").reply())).toMatchObject({ code: "NO_REPLY", message: "Waits for you." });
  });

  test.each(["aborted", "left"] as const)("cancels the turn when it is %s", async (how) => {
    const abort = new AbortController();
    answers = [
      sent,
      () =>
        new Response(
          new ReadableStream({
            start: (c) => c.enqueue(new TextEncoder().encode(`${frame("e.1", "delta", { text: "A" })}\n\n`)),
          }),
        ),
      json({}),
    ];
    const error = await caught(
      (async () => {
        for await (const { type } of berth.chat("a", "Hi", { signal: abort.signal })) {
          expect(type).toBe("delta");
          if (how === "left") break;
          abort.abort(new Error("stop"));
        }
      })(),
    );
    expect(error).toEqual(how === "left" ? undefined : new Error("stop"));
    expect(seen.at(-1)).toMatchObject({ method: "POST", path: "/api/agents/a/turns/t1/cancel" });
  });
});
