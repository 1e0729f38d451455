// Tests several machines as one service: the whole binary, real NATS servers, kills, hand-overs, and what goes through a relay.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testedBlocks } from "../site/tested-blocks.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { CLUSTER_KEY, type Cluster, nameOf, startCluster } from "./support/cluster.ts";
import { eventually } from "./support/eventually.ts";
import { openGateway } from "./support/gateway-client.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { freePorts, startNats } from "./support/nats.ts";
import { changed } from "./support/program.ts";
import { outputDifference } from "./support/shown-output.ts";
import { type Answer, type Script, startUpstream, type Upstream } from "./support/upstream.ts";
import { type Completion, frames } from "./support/upstream-reply.ts";

/** The node that owns the cell, and another one. */
async function pair(cluster: Cluster): Promise<[owner: Berth, other: Berth]> {
  const owner = await cluster.owner();
  const other = cluster.nodes.find((node) => node !== owner && node.running);
  if (!other) throw new Error("There is one node only.");
  return [owner, other];
}

/** Until the service answers this client again. */
const answers = (client: Client) =>
  eventually(async () => (await client.get("/api/agents")).status === 200, { timeoutMs: 15_000 });

const echo: Script = ({ lastUser }) => ({ text: `echo: ${lastUser}`, chunks: 5 });

describe("two machines", () => {
  let cluster: Cluster;
  let upstream: Upstream;
  let ada: Client;
  let agent: AgentItem;
  beforeAll(async () => {
    upstream = await startUpstream();
    upstream.script(echo);
    const env = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" };
    cluster = await startCluster({ nodes: 2, env });
    ada = await member(cluster, "enterprise");
    agent = await provision(ada);
    await cluster.followed();
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await upstream?.stop();
  });

  test("are shown by `berth cluster status` as on docs/cluster.md, which has three of them and of NATS", async () => {
    const [shown] = testedBlocks(import.meta.path, "docs/cluster.md", 1);
    const ofTwo = changed(shown.code, { R3: "1 server", "4 min ago": "…" }).replace(/^10\.0\.0\.7.*\n/m, "");
    expect(outputDifference(ofTwo, (await cluster.command("cluster", "status")).stdout)).toBeUndefined();
  });

  test("answer alike, whichever is asked: JSON, events and WebSockets", async () => {
    const [owner, other] = await pair(cluster);
    for (const node of [owner, other]) {
      const headers = { cookie: ada.cookie };
      const bare = createClient(node);
      const listed = await bare.get<{ agents: { id: string }[] }>("/api/agents", { headers });
      expect(listed.body.agents.map(({ id }) => id)).toEqual([agent.id]);
      const events: string[] = [];
      for await (const { event } of bare.sse(
        "/api/agent",
        { message: "Hello", agentId: agent.id, stream: true },
        { headers },
      ))
        events.push(event);
      expect(events.length).toBeGreaterThan(2);
      const { body } = await bare.get<{ token: string }>(`/api/agents/${agent.id}/token`, { headers });
      const socket = openGateway(node, agent.id, { authorization: `Bearer ${body.token}` });
      expect((await socket.next("status")).status).toBe("running");
      socket.send({ type: "chat", id: "1", message: "over the socket" });
      expect((await socket.next("reply")).reply).toBe("echo: over the socket");
      socket.close();
      expect((await openGateway(node, agent.id, { authorization: `Bearer ${"0".repeat(64)}` }).closed).code).toBe(4401);
    }
  });

  test("a session, a key or an agent's token that ends at one machine is refused by the other at once", async () => {
    const [owner, other] = await pair(cluster);
    const { email, password } = ada.account;
    for (const [here, there] of [
      [owner, other],
      [other, owner],
    ] as const) {
      const statusThere = async (headers: Record<string, string>) =>
        (await createClient(there).get("/api/settings", { headers })).status;
      const browser = createClient(here);
      await browser.post("/api/auth/callback/credentials", { email, password });
      const session = { cookie: browser.cookie };
      const { body: made } = await browser.post<{ id: string; key: string }>("/api/keys", { name: "a key" });
      const bearer = { authorization: `Bearer ${made.key}` };
      const { body: former } = await browser.get<{ token: string }>(`/api/agents/${agent.id}/token`);
      expect([await statusThere(session), await statusThere(bearer)]).toEqual([200, 200]);

      expect((await browser.delete(`/api/keys/${made.id}`)).status).toBe(200);
      expect(await statusThere(bearer)).toBe(401);
      const rotated = await browser.post<{ token: string }>(`/api/agents/${agent.id}/token/rotate`);
      const connect = (token: string) => openGateway(there, agent.id, { authorization: `Bearer ${token}` });
      expect((await connect(former.token).closed).code).toBe(4401);
      const socket = connect(rotated.body.token);
      expect((await socket.next("status")).status).toBe("running");
      socket.close();
      await browser.signOut();
      expect(await statusThere(session)).toBe(401);
    }
  });

  describe("the pass-through at a machine that does not own the cell", () => {
    afterAll(() => upstream?.script(echo));
    const ask = (node: Berth, signal?: AbortSignal) =>
      fetch(`${node.backend}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          model: "fake-small",
          messages: [{ role: "user", content: "Hello" }],
          stream: true,
          stream_options: { include_usage: true },
        }),
        ...(signal && { signal }),
      });

    test("brings each byte of a stream as the provider sent it", async () => {
      const [, other] = await pair(cluster);
      const reply: Answer = { pieces: Array.from({ length: 2_000 }, (_, n) => `${n} ü€😀\u2028\n`) };
      upstream.script(reply);
      const text = await (await ask(other)).text();
      const first = JSON.parse(text.slice("data: ".length, text.indexOf("\n"))) as Completion;
      const asked = upstream.chats.at(-1)?.body;
      if (!asked) throw new Error("The provider was not asked.");
      const { id, model, created } = first;
      const sent = [...frames(reply, asked, { id, model, created })].join("");
      expect(text).toBe(sent);
    });

    test("ends the provider's stream when its caller goes", async () => {
      const [, other] = await pair(cluster);
      upstream.script({ pieces: Array.from({ length: 5_000 }, (_, n) => `word${n} `), paceMs: 50 });
      const before = upstream.aborted;
      const gone = new AbortController();
      const reader = (await ask(other, gone.signal)).body?.getReader();
      expect((await reader?.read())?.done).toBe(false);
      expect(upstream.aborted).toBe(before);
      gone.abort();
      await upstream.waitFor(({ aborted, open }) => aborted === before + 1 && open === 0, 15_000);
    });
  });

  test("a node that does not own the cell is healthy, ready and measured", async () => {
    const [owner, other] = await pair(cluster);
    expect(await (await fetch(`${other.web}/healthz`)).json()).toEqual({ status: "ok" });
    expect(await (await fetch(`${other.web}/readyz`)).json()).toEqual({
      status: "ready",
      parts: { lease: true, owner: true },
    });
    expect((await fetch(`${owner.web}/readyz`)).status).toBe(200);
    const [owned, followed] = await Promise.all(
      [owner, other].map(async (node) => (await fetch(`${node.backend}/metrics`)).text()),
    );
    expect(owned).toMatch(/^berth_cluster_owned 1$/m);
    expect(owned).toMatch(/^berth_cluster_append_seconds_count [1-9]/m);
    expect(followed).toMatch(/^berth_cluster_owned 0$/m);
    expect(followed).toMatch(/^berth_cluster_relayed_total [1-9]/m);
  });

  test("a grant for a relay can't be forged", async () => {
    const [owner, other] = await pair(cluster);
    for (const header of [
      "",
      "x",
      "e30.x",
      `${btoa(JSON.stringify({ surface: "web", clientAddress: "10.9.9.9" }))}.abc`,
    ]) {
      const answer = await fetch(`${owner.backend}/api/agents`, { headers: { "x-berth-relay": header } });
      expect(answer.status).toBe(403);
    }
    // On the web listener it is a header like any other.
    expect((await fetch(`${other.web}/healthz`, { headers: { "x-berth-relay": "x" } })).status).toBe(200);
  });

  test("the copies are equal, row by row, and a row that was changed by hand is found", async () => {
    const [owner, other] = await pair(cluster);
    for (const node of [owner, other]) {
      const { exitCode, stdout, stderr } = await node.command("cluster", "check");
      expect(stderr).toBe("");
      expect(stdout).toMatch(/has the same [\d,]+ rows as/);
      expect(exitCode).toBe(0);
    }
    await other.stop();
    const copy = new Database(join(other.dir, "data/berth.db"));
    copy.run("UPDATE agents SET name = 'Somebody else'");
    copy.close();
    await other.restart({ keepPorts: true });
    await cluster.followed();
    const { exitCode, stderr } = await owner.command("cluster", "check");
    expect(stderr).toMatch(
      /The copies differ at entry \d+\. Stop the node.*\b127\.0\.0\.1:\d+: agents has other contents/s,
    );
    expect(exitCode).toBe(1);
    // As the message says: without its file, it begins with a snapshot of the other.
    await other.stop();
    rmSync(join(other.dir, "data"), { recursive: true });
    await other.restart({ keepPorts: true });
    await cluster.followed();
    expect((await owner.command("cluster", "check")).exitCode).toBe(0);
  });

  test("commands go to the owner from either machine", async () => {
    const [, other] = await pair(cluster);
    const { stdout, exitCode } = await other.command("user", "list", "--query", ada.account.email);
    expect(stdout).toContain(ada.account.email);
    expect(exitCode).toBe(0);
  });

  test("a file that was sent to one machine is there after it is gone", async () => {
    const bytes = randomBytes(300_000);
    const form = new FormData();
    form.set("file", new File([bytes], "notes.bin", { type: "text/plain" }));
    const [owner, other] = await pair(cluster);
    const sent = await fetch(`${other.web}/api/agents/${agent.id}/uploads`, {
      method: "POST",
      body: form,
      headers: { cookie: ada.cookie },
    });
    expect(sent.status).toBe(201);
    const { id } = (await sent.json()) as { id: string };
    await cluster.followed();
    await owner.kill();
    await answers(ada);
    const found = await fetch(`${other.web}/api/agents/${agent.id}/uploads/${id}`, {
      headers: { cookie: ada.cookie },
    });
    expect(Buffer.from(await found.arrayBuffer()).equals(bytes)).toBe(true);
    await owner.restart({ keepPorts: true });
    await cluster.followed();
  });

  test("without NATS no machine is ready, and all say so, until it is back", async () => {
    const statuses = () =>
      Promise.all(
        cluster.nodes.map(async (node) => [
          (await fetch(`${node.web}/readyz`)).status,
          (await fetch(`${node.web}/healthz`)).status,
        ]),
      );
    const areAll = async (ready: number) => (await statuses()).every(([readyz]) => readyz === ready);
    for (const server of cluster.nats.servers) await server.kill();
    try {
      await eventually(() => areAll(503), { timeoutMs: 15_000, what: "no machine is ready" });
      expect(await statuses()).toEqual(cluster.nodes.map(() => [503, 200]));
      const refused = await ada.get("/api/agents");
      expect(refused.status).toBe(503);
      expect(refused.headers.get("retry-after")).toMatch(/^[1-9]/);
    } finally {
      for (const server of cluster.nats.servers) await server.start();
    }
    await eventually(() => areAll(200), { timeoutMs: 30_000, what: "all machines are ready" });
    await answers(ada);
    await cluster.followed();
  });

  test("the end of the owner moves the cell within a moment, and a message under way is answered once", async () => {
    const [owner, other] = await pair(cluster);
    // The model takes longer than the grace: the next owner asks it again.
    upstream.script((asked) =>
      asked.lastUser === "still there?" ? { text: "echo: still there?", delayMs: 4_000 } : echo(asked),
    );
    const headers = { "idempotency-key": "message-under-way" };
    const send = () =>
      ada.post<{ reply?: string }>("/api/agent", { message: "still there?", agentId: agent.id }, { headers });
    const first = send();
    await eventually(() => upstream.chats.some(({ lastUser }) => lastUser === "still there?"));
    const began = performance.now();
    expect(await owner.stop()).toBe(0);
    await answers(ada);
    expect(await cluster.owner()).toBe(other);
    expect(performance.now() - began).toBeLessThan(5_000);
    await first;
    const reply = await eventually(async () => (await send()).body.reply);
    expect(reply).toBe("echo: still there?");
    upstream.script(echo);
    const copy = new Database(join(other.dir, "data/berth.db"), { readonly: true });
    const rows = copy.query("SELECT status FROM inbox WHERE content = 'still there?'").all();
    copy.close();
    expect(rows).toEqual([{ status: "done" }]);
    await owner.restart({ keepPorts: true });
    await cluster.followed();
  });

  test("operators move the cell, drain a node, and see both", async () => {
    const [owner, other] = await pair(cluster);
    const moved = await owner.command("cluster", "move", "0", new URL(other.backend).host);
    expect(moved.stdout).toMatch(/owns cell 0 after \d/);
    expect(await cluster.owner()).toBe(other);
    await cluster.followed();
    const drained = await owner.command("cluster", "drain", other.backend);
    expect(drained.stdout).toContain("owns nothing");
    expect(await cluster.owner()).toBe(owner);
    const { stdout } = await owner.command("cluster", "status");
    expect(stdout).toMatch(/draining/);
    await owner.command("cluster", "undrain", other.backend);
    const unknown = await owner.command("cluster", "drain", "10.0.0.99:3001");
    expect(unknown.exitCode).toBe(1);
    expect(unknown.stderr).toContain("There is no node 10.0.0.99:3001. Nodes: 127.0.0.1:");
    expect((await owner.command("cluster", "move", "7", other.backend)).stderr).toContain("There is no cell 7");
    expect((await owner.command("cluster", "dance")).exitCode).toBe(2);
  });
});

test("a machine that no other one reaches gives its cell away, and says so, until it is reached again", async () => {
  await using cluster = await startCluster({ nodes: 2, hasGates: true });
  await cluster.followed();
  const [owner, other] = await pair(cluster);
  const statusText = async () => (await other.command("cluster", "status")).stdout;
  cluster.peerGateOf(owner).hold("all");
  await eventually(async () => (await cluster.owner()) === other, { timeoutMs: 30_000, what: "the other one owns it" });
  const shown = await statusText();
  expect(shown).toMatch(/ unreachable$/m);
  expect(shown).toContain(`No other machine reaches ${nameOf(owner)}, so it gives its cells away.`);
  expect(owner.output().stderr).toContain("no other machine reaches this one at its NODE_ADDRESS");
  expect(other.output().stderr).toContain("this machine can't reach another one at its NODE_ADDRESS");
  expect(await (await fetch(`${owner.backend}/metrics`)).text()).toContain("berth_cluster_unreachable 1");
  cluster.peerGateOf(owner).open();
  await eventually(async () => !(await statusText()).includes("unreachable"), { timeoutMs: 30_000 });
  await eventually(() => owner.output().stderr.includes("another machine reaches this one again"));
});

test("a machine in use becomes the first of a cluster; the next ones have all of its data", async () => {
  await using nats = await startNats(1);
  const [port, backend] = await freePorts(2);
  const env = {
    PORT: String(port),
    BACKEND_PORT: String(backend),
    BASE_URL: `http://127.0.0.1:${port}`,
    SECRET_KEY: CLUSTER_KEY,
    RATE_LIMITS: "off",
  };
  await using first = await startBerth({ env, isEmpty: true });
  const ada = await member(first);
  const agent = await provision(ada, "Old hand");
  const cluster = { CLUSTER_URL: nats.url, NODE_ADDRESS: `http://127.0.0.1:${backend}` };

  // Not by accident: its data would be served, and the others would have none of it.
  await expect(first.restart({ keepPorts: true, env: cluster })).rejects.toThrow("berth cluster join");
  const busy = await first.command("cluster", "status");
  expect(busy.stdout).toContain("engine   nats");
  const joined = await first.command("cluster", "join");
  expect(joined.stderr).toBe("");
  expect(joined.stdout).toContain("The cluster has this machine's database now");
  await first.restart({ keepPorts: true, env: cluster });
  const again = await first.command("cluster", "join");
  expect(again.stderr).toContain("The cluster is in use");

  const [port2, backend2] = await freePorts(2);
  const own = { PORT: String(port2), BACKEND_PORT: String(backend2), NODE_ADDRESS: `http://127.0.0.1:${backend2}` };
  await using second = await startBerth({ isEmpty: true, env: { ...env, ...cluster, ...own } });
  const listed = await createClient(second).get<{ agents: { name: string }[] }>("/api/agents", {
    headers: { cookie: ada.cookie },
  });
  expect(listed.body.agents.map(({ name }) => name)).toEqual(["Old hand"]);
  await eventually(
    () => {
      const copy = new Database(join(second.dir, "data/berth.db"), { readonly: true });
      try {
        return (copy.query("SELECT count(*) AS n FROM agents").get() as { n: number }).n === 1;
      } finally {
        copy.close();
      }
    },
    { timeoutMs: 15_000 },
  );
  expect(agent.name).toBe("Old hand");

  // What is written to a copy without the log would be on this machine alone.
  await second.stop();
  await first.stop();
  const alone = await first.command("user", "list");
  expect(alone.exitCode).toBe(1);
  const saved = await first.command("backup", "saved.db");
  expect(saved.exitCode).toBe(0);
  const left = await first.command("cluster", "leave");
  expect(left.stdout).toContain("its own now");
  await first.restart({ keepPorts: true, env: { CLUSTER_URL: "", NODE_ADDRESS: "" } });
  expect((await ada.get("/api/agents")).status).toBe(200);

  // A restored backup takes the place of what the cluster has.
  await first.stop();
  expect((await first.command("restore", "saved.db")).exitCode).toBe(0);
  await expect(first.restart({ keepPorts: true, env: cluster })).rejects.toThrow("not part of the cluster yet");
  expect((await first.command("cluster", "join")).stderr).toContain("berth cluster join --replace");
  // A database that can't be opened takes no place: the cluster keeps what it has.
  const database = join(first.dir, "data/berth.db");
  const restored = readFileSync(database);
  writeFileSync(database, "no database");
  expect((await first.command("cluster", "join", "--replace")).exitCode).toBe(1);
  writeFileSync(database, restored);
  expect((await first.command("cluster", "join")).stderr).toContain("berth cluster join --replace");
  expect((await first.command("cluster", "join", "--replace")).stdout).toContain("has this machine's database now");
  await first.restart({ keepPorts: true, env: cluster });
  expect((await ada.get("/api/agents")).status).toBe(200);
  await expect(second.restart({ keepPorts: true })).rejects.toThrow("belongs to another cluster");
  expect((await first.command("cluster", "forget", "127.0.0.1:1")).stderr).toContain("There is no node");
  expect((await first.command("cluster", "forget", `127.0.0.1:${backend}`)).stderr).toContain(
    "is alive: stop its service first",
  );
  // Without the engine nothing can be written or handed over; the service ends all the same.
  await nats.servers[0]?.kill();
  const began = performance.now();
  expect(await first.stop()).toBe(0);
  expect(performance.now() - began).toBeLessThan(20_000);
  expect((await first.command("cluster", "status")).stderr).toContain("NATS can't be reached");
  await nats.servers[0]?.start();

  const doctor = await second.command("doctor");
  expect(doctor.stdout).toContain("! CLUSTER_URL: NATS has one server; with three, one may fail.");
  expect(doctor.exitCode).toBe(0);
});

test.each([
  ["nothing listens", { CLUSTER_URL: "nats://127.0.0.1:1" }, "NATS can't be reached at nats://127.0.0.1:1"],
  ["no address of its own", { CLUSTER_URL: "nats://127.0.0.1:1", NODE_ADDRESS: "" }, "NODE_ADDRESS: is missing"],
  ["no key", { CLUSTER_URL: "nats://127.0.0.1:1", SECRET_KEY: "" }, "SECRET_KEY: is missing"],
  [
    "a database on a server",
    { CLUSTER_URL: "nats://127.0.0.1:1", DATABASE_URL: "http://127.0.0.1:1" },
    "needs a database in a file",
  ],
  ["an address that is none", { CLUSTER_URL: "10.0.0.1" }, "CLUSTER_URL: found"],
  [
    "an address that nobody can reach",
    { CLUSTER_URL: "nats://127.0.0.1:1", NODE_ADDRESS: "http://10.0.0.5:3001" },
    "BACKEND_HOST: is this machine alone",
  ],
])("with %s the start is refused in words", async (_, env, words) => {
  const own = { SECRET_KEY: CLUSTER_KEY, NODE_ADDRESS: "http://127.0.0.1:3001" };
  await expect(startBerth({ isEmpty: true, env: { ...own, ...env } })).rejects.toThrow(words);
});
