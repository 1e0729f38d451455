// The gateway in three processes over one database server: access that ends in one process ends in all.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { exampleFrames } from "../plugins/gateway/socket-documentation.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { openGateway } from "./support/gateway-client.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type Sqld, startSqld } from "./support/sqld.ts";

let sqld: Sqld;
let backend: Berth;
let web: Berth;
/** A second web process. */
let beside: Berth;
let ada: Client;
let agent: AgentItem;

beforeAll(async () => {
  sqld = await startSqld();
  const env = { DATABASE_URL: sqld.url, SECRET_KEY: "gateway-test-root-key-0123456789abcdef", RATE_LIMITS: "off" };
  backend = await startBerth({ env: { ...env, ROLE: "backend" } });
  const asWeb = { env: { ...env, ROLE: "web", BACKEND_URL: backend.backend } };
  [web, beside] = await Promise.all([startBerth(asWeb), startBerth(asWeb)]);
  ada = await member(web);
  agent = await provision(ada);
});
afterAll(async () => {
  for (const one of [web, beside, backend]) await one?.[Symbol.asyncDispose]();
  await sqld?.stop();
});

type Shown = { token: string };
const tokenOf = async ({ id }: AgentItem) => (await ada.get<Shown>(`/api/agents/${id}/token`)).body.token;
const bearer = (token: string) => ({ authorization: `Bearer ${token}`, origin: "https://elsewhere.example" });

/** Expects that the socket closes with this code within the time limit. */
async function ended(gateway: ReturnType<typeof openGateway>, code = 4401): Promise<void> {
  const started = performance.now();
  expect((await gateway.closed).code).toBe(code);
  expect(performance.now() - started).toBeLessThan(8_000);
}

test("a token made in one process works in the other to chat with the agent", async () => {
  const token = await tokenOf(agent);
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  for (const berth of [web, beside]) {
    const socket = openGateway(berth, agent.id, bearer(token));
    const status = await socket.next("status");
    expect(status.status).toBe("running");
    socket.send({ type: "chat", id: "1", message: "Hello" });
    const delta = await socket.next("delta");
    const reply = await socket.next("reply");
    expect(reply.reply).toMatch(/\S/);
    // The API document's examples have the members of real frames.
    for (const frame of [status, delta, reply]) {
      const example = exampleFrames[frame.type as "status" | "delta" | "reply"];
      expect(Object.keys(frame).sort()).toEqual(Object.keys(example).sort());
    }
    socket.close();
  }
  expect((await openGateway(beside, agent.id, bearer("0".repeat(64))).closed).code).toBe(4401);
  for (const { stdout, stderr } of [web, beside, backend].map((berth) => berth.output())) {
    expect(stdout + stderr).not.toContain(token);
  }
});

describe("these end sockets in the other process:", () => {
  test("a token that is replaced", async () => {
    const old = await tokenOf(agent);
    const [local, remote] = [openGateway(web, agent.id, bearer(old)), openGateway(beside, agent.id, bearer(old))];
    const byCookie = openGateway(beside, agent.id, { cookie: ada.cookie });
    await Promise.all([local, remote, byCookie].map((socket) => socket.next("status")));
    const { body } = await ada.post<Shown>(`/api/agents/${agent.id}/token/rotate`);
    await Promise.all([ended(local), ended(remote)]);
    await openGateway(beside, agent.id, bearer(body.token)).next("status");
    byCookie.send({ type: "ping" });
    await byCookie.next("pong");
    byCookie.close();
  });

  test("a session that is signed out", async () => {
    const guest = await member(web);
    const own = await provision(guest);
    const { cookie } = guest;
    const remote = openGateway(beside, own.id, { cookie });
    await remote.next("status");
    await guest.signOut();
    await ended(remote);
    expect((await openGateway(beside, own.id, { cookie }).closed).code).toBe(4401);
  });

  test("an agent that is removed", async () => {
    const doomed = await provision(ada, "Doomed");
    const token = await tokenOf(doomed);
    const sockets = [
      openGateway(beside, doomed.id, bearer(token)),
      openGateway(beside, doomed.id, { cookie: ada.cookie }),
    ];
    await Promise.all(sockets.map((socket) => socket.next("status")));
    await ada.delete(`/api/agents/${doomed.id}`);
    await Promise.all(sockets.map((socket) => ended(socket)));
  });

  test("an account that is deleted, with its agents", async () => {
    const guest = await member(web);
    const own = await provision(guest);
    const { token } = (await guest.get<Shown>(`/api/agents/${own.id}/token`)).body;
    const remote = openGateway(beside, own.id, bearer(token));
    await remote.next("status");
    const { status } = await guest.delete("/api/settings", { password: guest.account.password });
    expect(status).toBe(200);
    await ended(remote);
  });
});

test("the web sends status changes and log lines from the backend", async () => {
  const own = await provision(ada, "Watched");
  const socket = openGateway(beside, own.id, bearer(await tokenOf(own)));
  await socket.next("status");
  expect((await ada.post(`/api/agents/${own.id}/stop`)).status).toBe(200);
  await eventually(() => socket.frames.some(({ type, status }) => type === "status" && status === "stopped"));
  await ada.post(`/api/agents/${own.id}/token/rotate`);
  await ended(socket);
  const again = openGateway(beside, own.id, { cookie: ada.cookie });
  await again.next("status");
  // Each rotation adds a log line; the first may come before the socket reads the log.
  await eventually(
    async () => {
      await ada.post(`/api/agents/${own.id}/token/rotate`);
      return again.frames.some(({ type }) => type === "log");
    },
    { everyMs: 200, timeoutMs: 10_000 },
  );
  expect(await again.next("log")).toMatchObject({ level: "info", source: "gateway", agentId: own.id });
  again.close();
});

test("a frame of more than 1 MiB closes only its own socket", async () => {
  const token = await tokenOf(agent);
  const [one, other] = [openGateway(web, agent.id, bearer(token)), openGateway(web, agent.id, bearer(token))];
  await Promise.all([one.next("status"), other.next("status")]);
  one.send({ type: "chat", id: "1", message: "x".repeat(1024 * 1024) });
  expect((await one.closed).code).not.toBe(1000);
  other.send({ type: "ping" });
  await other.next("pong");
  other.close();
});

test("while the backend is down: reading the token is 502 with the failure body; sockets open, and chat fails", async () => {
  const token = await tokenOf(agent);
  await backend.stop();
  const userId = (await ada.get<{ id: string }>("/api/settings")).body.id;
  for (const place of [`agents/${agent.id}`, `instance/${agent.id}`, `instance/${userId}`]) {
    for (const answer of [await ada.get(`/api/${place}/token`), await ada.post(`/api/${place}/token/rotate`)]) {
      expect(expectRefusal(answer, 502, "BACKEND_UNAVAILABLE")).toMatchObject({ success: false, status: "error" });
    }
  }
  expectRefusal(await createClient(web).get(`/api/agents/${agent.id}/token`), 401);
  const socket = openGateway(beside, agent.id, bearer(token));
  await socket.next("status");
  socket.send({ type: "chat", id: "1", message: "Anybody?" });
  expect((await socket.next("error")).code).toBe("BACKEND_UNAVAILABLE");

  await backend.restart({ env: { BACKEND_PORT: new URL(web.env.BACKEND_URL ?? "").port } });
  expect(await eventually(async () => (await ada.get<Shown>(`/api/agents/${agent.id}/token`)).body.token)).toBe(token);
  socket.send({ type: "chat", id: "2", message: "Back?" });
  await socket.next("reply");
  socket.close();
});
