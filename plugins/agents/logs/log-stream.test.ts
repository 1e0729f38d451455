// Tests streams of an agent's log: each line once, no faster than the client reads, and when a stream ends.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { AppError, unauthorized } from "../../../src/kernel/errors.ts";
import { attachContext } from "../../../src/kernel/http/request-context.ts";
import { plugin } from "../../../src/kernel/plugin.ts";
import { createMember } from "../../../tests/support/account-setup.ts";
import { createClient } from "../../../tests/support/client.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { provision } from "../../../tests/support/members.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { followStream, type ServerSentEvent, takeEvents } from "../../../tests/support/sse.ts";
import type { Identity } from "../../auth/index.ts";
import { agents } from "../index.ts";
import { createViews } from "../model.ts";
import { NIL_LINE_ID } from "./log-store.ts";
import { createLogStream } from "./log-stream.ts";

let service: ReturnType<typeof agents.setup>["service"];
const onlooker = plugin("onlooker", (host) => {
  service = host.use(agents);
  return { service };
});
let server: TestServer;
beforeAll(async () => {
  server = await openServer({ plugins: [onlooker] });
});
afterAll(() => server[Symbol.asyncDispose]());

async function member(at = server) {
  const { client, id: userId } = await createMember(at, { plan: "pro" });
  const { id } = await provision(client);
  return { client, userId, id, path: `/api/agents/${id}/logs?follow=1` };
}

const messages = (events: readonly ServerSentEvent[]) => events.map(({ data }) => JSON.parse(data).message);

test("sends lines as they are written, in the shape of the list; no earlier lines, and none of other agents", async () => {
  const { client, id, path } = await member();
  const stranger = await member();
  service.log(id, "info", "long ago", "test");
  const stream = await followStream(client, path);
  expect(stream.response.headers.get("content-type")).toBe("text/event-stream;charset=utf-8");
  expect(stream.response.headers.get("cache-control")).toBe("no-store");
  service.log(stranger.id, "info", "theirs", "test");
  service.log(id, "warning", "line one\nline two", "test");
  await eventually(() => stream.text.includes("line two"));
  const { body } = await client.get<{ logs: { id: string }[] }>(`/api/agents/${id}/logs?limit=1`);
  const [line] = body.logs;
  expect(stream.text).toContain(`id: ${line?.id}\nevent: log\ndata: ${JSON.stringify(line)}\n\n`);
  expect(stream.text).not.toMatch(/theirs|long ago/);
  stream.leave();
});

test("resumes after a line, by header or query, without gap or duplicate, while more are written", async () => {
  const { client, id, path } = await member();
  const total = 700;
  const created = await service.logs.newestId(id);
  for (let n = 0; n < total / 2; n++) service.log(id, "info", `line ${n}`, "test");
  const first = await takeEvents(client, `${path}&lastEventId=${created}`, 130);
  const later = takeEvents(client, path, total - 130, { "last-event-id": first.at(-1)?.id ?? "" });
  for (let n = total / 2; n < total; n++) service.log(id, "info", `line ${n}`, "test");
  expect(messages([...first, ...(await later)])).toEqual(Array.from({ length: total }, (_, n) => `line ${n}`));
});

test("a client that loses the connection before its first line resumes where it began", async () => {
  const { client, id, path } = await member();
  const stream = await followStream(client, path);
  stream.leave();
  const place = /^id: (\S+)$/m.exec(stream.text)?.[1] ?? "";
  service.log(id, "info", "meanwhile", "test");
  expect(messages(await takeEvents(client, path, 1, { "last-event-id": place }))).toEqual(["meanwhile"]);
});

test("filters by level; invalid values are 400; without the accept header it is the list", async () => {
  const { client, id, path } = await member();
  const errors = takeEvents(client, `${path}&level=error&lastEventId=${NIL_LINE_ID}`, 2);
  for (let n = 0; n < 300; n++) service.log(id, n % 150 === 149 ? "error" : "debug", `line ${n}`, "test");
  expect(messages(await errors)).toEqual(["line 149", "line 299"]);
  const accept = { headers: { accept: "text/event-stream" } };
  expectRefusal(await client.get(`${path}&level=loud`, accept), 400, "INVALID_INPUT");
  expectRefusal(await client.get(`${path}&lastEventId=1`, accept), 400, "INVALID_INPUT");
  expectRefusal(await client.get(path.replace("follow=1", "follow=yes"), accept), 400, "INVALID_INPUT");
  expect((await client.get(`${path}&limit=1`)).body).toMatchObject({ status: "ok", total: 301, limit: 1 });
});

test("is for the owner only: the same 404 for a foreign agent and a missing one", async () => {
  const [{ path, id }, eve] = [await member(), await member()];
  const accept = { headers: { accept: "text/event-stream" } };
  const foreign = await eve.client.get(path, accept);
  expectRefusal(foreign, 404, "AGENT_NOT_FOUND");
  expect((await eve.client.get(path.replace(id, Bun.randomUUIDv7()), accept)).text).toBe(foreign.text);
  expectRefusal(await createClient(server.web).get(path, accept), 401);
});

describe("ends", () => {
  test("when the caller signs out, and only that session's streams", async () => {
    const [ada, bob] = [await member(), await member()];
    const [stream, stays] = [await followStream(ada.client, ada.path), await followStream(bob.client, bob.path)];
    await ada.client.signOut();
    await eventually(() => stream.hasEnded);
    expect(stays.hasEnded).toBe(false);
    stays.leave();
  });

  test("when the agent is removed, and only its streams", async () => {
    const { client, id, path } = await member();
    const other = await provision(client, "Other");
    const [stream, stays] = [await followStream(client, path), await followStream(client, path.replace(id, other.id))];
    await client.delete(`/api/agents/${id}`);
    await eventually(() => stream.hasEnded);
    expect(stays.hasEnded).toBe(false);
    stays.leave();
  });

  test("at once when the service stops", async () => {
    const second = await openServer();
    const { client, path } = await member(second);
    const stream = await followStream(client, path);
    await second.app.stop();
    await eventually(() => stream.hasEnded);
    await second[Symbol.asyncDispose]();
  });
});

test("a user has at most 20 streams", async () => {
  const { client, path } = await member();
  const streams = await Promise.all(Array.from({ length: 20 }, () => followStream(client, path)));
  expectRefusal(await client.get(path, { headers: { accept: "text/event-stream" } }), 429, "TOO_MANY_STREAMS");
  for (const stream of streams) stream.leave();
});

test("a client that does not read delays no other, and gets the stored lines when it continues", async () => {
  const { client, id, path } = await member();
  const socket = connect(Number(new URL(server.web).port), "127.0.0.1");
  let text = "";
  socket.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  socket.pause();
  const head = `host: x\r\ncookie: ${client.cookie}\r\naccept: text/event-stream\r\nuser-agent: x`;
  socket.write(`GET ${path}&lastEventId=${NIL_LINE_ID} HTTP/1.1\r\n${head}\r\n\r\n`);
  const lines = 2_000;
  for (let n = 0; n < lines; n++) {
    service.log(id, "info", `${n} ${"x".repeat(8_000)}`, "test");
    if (n % 500 === 0) await service.logs.flush();
  }
  // Another client reads all lines meanwhile.
  expect(await takeEvents(client, `${path}&lastEventId=${NIL_LINE_ID}`, lines)).toHaveLength(lines);
  socket.resume();
  const seen = () => [...text.matchAll(/"message":"(\d+) /g)].map(([, n]) => Number(n));
  await eventually(() => seen().length === lines, { timeoutMs: 20_000, everyMs: 100 });
  expect(seen()).toEqual(Array.from({ length: lines }, (_, n) => n));
  socket.destroy();
});

describe("in one of two processes", () => {
  const refused = { value: undefined as Error | undefined };
  const authenticate = async () => {
    if (refused.value) throw refused.value;
    return {} as Identity;
  };
  async function find(id: string) {
    const agent = await service.find(id);
    const { rows } = await server.kernel.database.read("SELECT user_id FROM agents WHERE id = ?", [id]);
    return agent && { ...agent, userId: String(rows[0]?.user_id) };
  }
  /** Opens a stream as a process does whose lines are written by another process. */
  async function open(agentId: string, userId: string, heartbeatMs: number) {
    const { kernel } = server;
    const stream = createLogStream({
      log: kernel.log,
      database: kernel.database,
      config: { ...kernel.config, role: "web" },
      views: createViews(kernel.config),
      identities: { authenticate },
      onSessionRevoked: () => undefined,
      agents: { find },
      hooks: { onDelete: () => undefined },
      logs: { ...service.logs, onWritten: () => expect.unreachable() },
      heartbeatMs,
    });
    const request = new Request("http://localhost/api/agents/x/logs");
    attachContext(request, { id: "1", address: "127.0.0.1", socketAddress: "127.0.0.1", cookies: [] });
    const identity = { user: { id: userId }, session: undefined } as Identity;
    const { body } = await stream.follow({
      request,
      identity,
      agent: { id: agentId },
      level: undefined,
      after: undefined,
    });
    const reader = body?.getReader();
    const decoder = new TextDecoder();
    const text = async () => decoder.decode((await reader?.read())?.value);
    const ended = () => eventually(async () => (await reader?.read())?.done === true);
    expect(await text()).toStartWith("retry: ");
    return { text, ended, close: stream.close };
  }

  test("sends lines of another process within about a second", async () => {
    const { id, userId } = await member();
    const { text, ended, close } = await open(id, userId, 15_000);
    service.log(id, "info", "from elsewhere", "test");
    expect(await text()).toContain("from elsewhere");
    close();
    await ended();
  });

  test("sends heartbeats while there are no lines, and ends when any process revokes the client's access", async () => {
    const { id, userId } = await member();
    const { text, ended } = await open(id, userId, 10);
    expect(await text()).toBe(`: still here\nid: ${await service.logs.newestId(id)}\n\n`);
    refused.value = new AppError(503, "DATABASE_UNAVAILABLE", "Not now.");
    await text();
    expect(await text()).toStartWith(": still here");
    refused.value = unauthorized();
    await ended();
    refused.value = undefined;
  });

  test("ends when another process removes the agent or changes its owner", async () => {
    const [gone, handedOn] = [await member(), await member()];
    const streams = [await open(gone.id, gone.userId, 10), await open(handedOn.id, handedOn.userId, 10)];
    await gone.client.delete(`/api/agents/${gone.id}`);
    await server.kernel.database.write([
      { sql: "UPDATE agents SET user_id = ? WHERE id = ?", args: [gone.userId, handedOn.id] },
    ]);
    for (const { ended } of streams) await ended();
  });
});
