// Tests the event feed over HTTP: access, resuming without gap or duplicate, backpressure, and its end.
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { connect } from "node:net";
import { AppError, unauthorized } from "../../src/kernel/errors.ts";
import type { Event, Events } from "../../src/kernel/events/events.ts";
import { attachContext } from "../../src/kernel/http/request-context.ts";
import { createMember } from "../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { followStream, takeEvents } from "../../tests/support/sse.ts";
import type { Identity } from "../auth/index.ts";
import { createEventFeed } from "./event-feed.ts";
import { testUser } from "./support.test.ts";

type EventSource = Pick<Events, "since" | "numbersFor" | "subscribe" | "declaredTypes">;

let server: TestServer;
beforeAll(async () => {
  server = await openServer({ env: { ADMIN_EMAILS: "root@example.com", PORT: "0" } });
});
afterAll(() => server?.[Symbol.asyncDispose]());

const recordEvent = (type: string, userId: string, data: unknown = {}) =>
  server.kernel.database.write([server.kernel.events.recordStatement(type, { userId, data })]);

async function member(account?: { email: string }): Promise<{ client: Client; userId: string }> {
  const { client, id } = await createMember(server, account);
  return { client, userId: id };
}

test("sends the user's own events as they happen, in the format of a webhook's body", async () => {
  const { client, userId } = await member();
  const stranger = await member();
  const stream = await followStream(client, "/api/events");
  expect(stream.response.headers.get("content-type")).toBe("text/event-stream;charset=utf-8");
  expect(stream.response.headers.get("cache-control")).toBe("no-store");
  expect(stream.response.headers.get("x-accel-buffering")).toBe("no");
  await recordEvent("agent.created", stranger.userId, { name: "theirs" });
  await recordEvent("agent.created", userId, { name: "line one\nline two" });
  await eventually(() => stream.text.includes("agent.created"));
  const [event] = await server.kernel.events.since(0, { userId, types: ["agent.created"] });
  expect(stream.text).toContain(`id: ${event?.seq}\nevent: agent.created\ndata: {"type":"agent.created","timestamp":"`);
  expect(stream.text).toContain('"data":{"name":"line one\\nline two"}}\n\n');
  expect(stream.text).not.toContain("theirs");
  stream.leave();
});

test("continues after an event of a long batch, such as a large import", async () => {
  const { client, userId } = await member();
  const stream = await followStream(client, "/api/events?types=agent.created");
  const record = (name: string) => server.kernel.events.recordStatement("agent.created", { userId, data: { name } });
  await server.kernel.database.writeLong([record("imported")]);
  await eventually(() => stream.text.includes("imported"));
  await server.kernel.database.write([record("created next")]);
  await eventually(() => stream.text.includes("created next"));
  expect(stream.text.match(/^id: .*$/gm)?.join()).not.toContain("NaN");
  stream.leave();
});

test("resumes after the last event seen, by header or query, without gap or duplicate", async () => {
  const { client, userId } = await member();
  for (let n = 0; n < 250; n++) await recordEvent("agent.status", userId, { n });
  const first = await takeEvents(client, "/api/events?lastEventId=0&types=agent.status", 120);
  const then = await takeEvents(client, "/api/events?types=agent.*", 130, { "last-event-id": first.at(-1)?.id ?? "" });
  const numbers = [...first, ...then].map(({ data }) => JSON.parse(data).data.n);
  expect(numbers).toEqual(Array.from({ length: 250 }, (_, n) => n));
  expect(new Set([...first, ...then].map(({ event }) => event))).toEqual(new Set(["agent.status"]));
});

test("a client that is cut off before its first event resumes from where it began", async () => {
  const { client, userId } = await member();
  const stream = await followStream(client, "/api/events");
  stream.leave();
  const id = /^id: (\d+)$/m.exec(stream.text)?.[1] ?? "";
  await recordEvent("agent.status", userId, { n: 1 });
  const [event] = await takeEvents(client, "/api/events", 1, { "last-event-id": id });
  expect(JSON.parse(event?.data ?? "{}").data).toEqual({ n: 1 });
});

test("filters by types; unknown types and malformed ids are 400", async () => {
  const { client, userId } = await member();
  await recordEvent("agent.created", userId, { n: 1 });
  await recordEvent("channel.state", userId, { n: 2 });
  const [event] = await takeEvents(client, "/api/events?lastEventId=0&types=channel.state,budget.exceeded", 1);
  expect(event?.event).toBe("channel.state");
  expectRefusal(await client.get("/api/events?types=agent.create"), 400, "INVALID_INPUT");
  expectRefusal(await client.get("/api/events?lastEventId=x"), 400, "INVALID_INPUT");
  expectRefusal(await client.get("/api/events", { headers: { "last-event-id": "-1" } }), 400, "INVALID_INPUT");
});

test("sends all users' events only to admins who request them", async () => {
  const { client, userId } = await member();
  const root = (await member({ email: "root@example.com" })).client;
  expectRefusal(await client.get("/api/events?all=1"), 403, "ADMIN_REQUIRED");
  expectRefusal(await root.get("/api/events?all=yes"), 400, "INVALID_INPUT");
  const [all, own] = [await followStream(root, "/api/events?all=1"), await followStream(root, "/api/events")];
  await recordEvent("agent.created", userId, { name: "seen by admins" });
  await eventually(() => all.text.includes("seen by admins"));
  expect(own.text).not.toContain("seen by admins");
  all.leave();
  own.leave();
});

describe("ends", () => {
  test("when the caller signs out; other users' streams continue", async () => {
    const { client } = await member();
    const other = createClient(server.web);
    Object.assign(other.account, client.account);
    const [stream, otherStream] = [
      await followStream(client, "/api/events"),
      await followStream((await member()).client, "/api/events"),
    ];
    await client.signOut();
    await eventually(() => stream.hasEnded);
    expect(otherStream.hasEnded).toBe(false);
    otherStream.leave();
  });

  test("at once when the service stops", async () => {
    const second = await openServer({ env: { PORT: "0" } });
    const client = createClient(second.web);
    await client.join();
    const stream = await followStream(client, "/api/events");
    await second.app.stop();
    await eventually(() => stream.hasEnded);
    await second[Symbol.asyncDispose]();
  });
});

test("allows twenty streams per user; closing one allows another", async () => {
  const { client } = await member();
  const streams = await Promise.all(Array.from({ length: 20 }, () => followStream(client, "/api/events")));
  expectRefusal(await client.get("/api/events"), 429, "TOO_MANY_STREAMS");
  streams.pop()?.leave();
  const again = await eventually(async () => {
    const abort = new AbortController();
    const { status } = await client.fetch("GET", "/api/events", undefined, { signal: abort.signal });
    abort.abort();
    return status === 200;
  });
  expect(again).toBe(true);
  for (const stream of streams) stream.leave();
});

test("stops reading the database for a client that does not read, and sends the rest when it continues", async () => {
  const { client, userId } = await member();
  const big = "x".repeat(20_000);
  const events = 3_000;
  const record = (n: number) => server.kernel.events.recordStatement("agent.status", { userId, data: { n, big } });
  for (let n = 0; n < events; n += 100) {
    await server.kernel.database.write(Array.from({ length: 100 }, (_, k) => record(n + k)));
  }
  const reads = spyOn(server.kernel.events, "since");
  const socket = connect(Number(new URL(server.web).port), "127.0.0.1");
  socket.pause();
  let bytes = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    bytes += text;
  });
  socket.pause();
  socket.write(`GET /api/events?lastEventId=0 HTTP/1.1\r\nhost: x\r\ncookie: ${client.cookie}\r\n\r\n`);
  // Meanwhile another reader of the same user reads all of it, in batches of a hundred.
  await takeEvents(client, "/api/events?lastEventId=0&types=agent.status", events);
  const [others, own] = [events / 100, reads.mock.calls.length - events / 100];
  expect(own).toBeGreaterThan(0);
  expect(own).toBeLessThan(others / 2);
  reads.mockRestore();
  socket.resume();
  await eventually(() => bytes.match(/^id: /gm)?.length === events + 2, { timeoutMs: 10_000, everyMs: 100 });
  socket.destroy();
});

describe("called directly", () => {
  const refused = { value: undefined as Error | undefined };
  const open = (heartbeatMs: number, events: EventSource = server.kernel.events) => {
    const { log } = server.kernel;
    const identities = {
      authenticate: async () => {
        if (refused.value) throw refused.value;
        return identity;
      },
    };
    return createEventFeed({ events, log, identities, onSessionRevoked: () => undefined, heartbeatMs });
  };
  const identity: Identity = {
    user: testUser("someone"),
    session: undefined,
    credentialId: "k",
    isAdmin: false,
    scopes: new Set(),
  };
  const following = () => {
    const request = new Request("http://localhost/api/events");
    attachContext(request, { id: "1", address: "127.0.0.1", socketAddress: "127.0.0.1", cookies: [] });
    return { types: ["*"], all: false, after: 0, request };
  };

  test("sends heartbeats until the caller's authentication fails, and survives a database error", async () => {
    const { body } = await open(10).follow(identity, following());
    const reader = body?.getReader();
    const text = async () => new TextDecoder().decode((await reader?.read())?.value);
    expect(await text()).toStartWith("retry: ");
    expect(await text()).toMatch(/^: still here\nid: \d+\n\n$/);
    refused.value = new AppError(503, "DATABASE_UNAVAILABLE", "Not now.");
    await text();
    expect(await text()).toStartWith(": still here");
    refused.value = unauthorized();
    await eventually(async () => (await reader?.read())?.done === true);
    refused.value = undefined;
  });

  test("an event reported without a valid number does not move the cursor", async () => {
    const report: { event?: (event: Event) => void } = {};
    const stored: Event[] = [];
    const asked: number[] = [];
    const store = (seq: number, reported: number) => {
      const event = {
        seq,
        id: `${seq}`,
        type: "agent.status",
        userId: "someone",
        agentId: null,
        data: seq,
        createdAt: 0,
      };
      stored.push(event);
      report.event?.({ ...event, seq: reported });
    };
    const events: EventSource = {
      async since(seq) {
        asked.push(seq);
        return stored.filter((event) => event.seq > seq);
      },
      numbersFor: async () => ({ latest: 0, toId: (seq) => seq, toSeq: (id) => id }),
      declaredTypes: [],
      subscribe(listener) {
        report.event = listener;
        return () => undefined;
      },
    };
    const { body } = await open(60_000, events).follow(identity, following());
    let text = "";
    const reading = (async () => {
      for await (const chunk of body ?? []) text += new TextDecoder().decode(chunk);
    })();
    await eventually(() => report.event !== undefined && asked.length > 0);
    store(1, Number.NaN);
    await eventually(() => text.includes("id: 1\n"));
    store(2, 2);
    await eventually(() => text.includes("id: 2\n"));
    store(3, Number.POSITIVE_INFINITY);
    await eventually(() => text.includes("id: 3\n"));
    expect(asked.filter((seq) => !Number.isFinite(seq))).toEqual([]);
    void reading;
  });
});
