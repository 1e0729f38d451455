// Several cells on several machines: accounts spread over them, each machine takes requests for all, and any may die.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { cellOfId } from "../src/kernel/cells/marks.ts";
import { PASSWORD } from "./support/accounts.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { copies, countAccounts, folderOf } from "./support/cells.ts";
import { type Client, createClient } from "./support/client.ts";
import { CLUSTER_KEY, type Cluster, type Status, startCluster } from "./support/cluster.ts";
import { eventually } from "./support/eventually.ts";
import { provision } from "./support/members.ts";
import { temporaryDir } from "./support/process.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const CELLS = 3;

interface Owner {
  client: Client;
  agentId: string;
}

/** Until every cell has an owner, and with several machines a copy that lacks nothing. */
const settled = (cluster: Cluster, owned: (status: Status) => boolean = () => true) =>
  eventually(
    async () => {
      const status = await cluster.status();
      const isSettled = status.cells.length === CELLS && status.cells.every(({ behind }) => behind === 0);
      return isSettled && owned(status) ? status : undefined;
    },
    { timeoutMs: 60_000, what: "all cells are owned and followed" },
  );

/** Moves of accounts under way, in the machine that owns or follows cell 0. */
async function movesIn(node: Berth): Promise<number> {
  using database = new Database(join(folderOf(node, 0), "berth.db"), { readonly: true });
  return database.query<{ n: number }, []>("SELECT count(*) AS n FROM account_moves").get()?.n ?? 0;
}

const ownersOf = ({ cells }: Status) => cells.map(({ owner }) => owner);
const addressOf = ({ backend }: Berth) => backend;

describe("three cells on two machines", () => {
  let cluster: Cluster;
  let upstream: Upstream;
  let old: Client;
  let oldId: string;
  /** By cell. */
  const owners = new Map<number, Owner>();
  beforeAll(async () => {
    upstream = await startUpstream();
    upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
    const env = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" };
    cluster = await startCluster({ nodes: 2, env });
    old = createClient(cluster);
    oldId = await old.join();
    await cluster.followed();
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await upstream?.stop();
  });

  const talk = async ({ client, agentId }: Owner, node: { web: string }, text: string) => {
    const headers = { cookie: client.cookie };
    const { body } = await createClient(node).post<{ reply?: string }>(
      "/api/chat",
      { message: text, agentId },
      { headers },
    );
    return body.reply;
  };

  test("a cluster in use grows into cells while it runs, and each machine owns about as many", async () => {
    const grown = await cluster.command("cluster", "cells", String(CELLS));
    expect(grown.stderr).toBe("");
    expect(grown.stdout).toStartWith(`The cluster has ${CELLS} cells.`);
    expect((await cluster.command("cluster", "cells", "2")).stderr).toContain("cells remove 2");
    const status = await settled(cluster);
    expect(new Set(ownersOf(status)).size).toBe(2);
    // Accounts stay where they are.
    expect((await old.get("/api/settings")).status).toBe(200);
    expect(cellOfId(oldId)).toBe(0);
  });

  test("new accounts spread over the cells, and every machine answers for all of them", async () => {
    await eventually(
      async () => {
        const client = createClient(cluster);
        const cell = cellOfId(await client.join());
        if (!owners.has(cell)) {
          await client.grant("pro");
          owners.set(cell, { client, agentId: (await provision(client)).id });
        }
        return owners.size === CELLS;
      },
      { timeoutMs: 60_000, everyMs: 500 },
    );
    for (const [cell, owner] of owners) {
      expect(cellOfId(owner.agentId)).toBe(cell);
      for (const node of cluster.nodes)
        expect(await talk(owner, node, `to cell ${cell}`)).toBe(`echo: to cell ${cell}`);
      const { email } = owner.client.account;
      for (const node of cluster.nodes) {
        const again = createClient(node);
        const taken = await again.post("/api/register", { email, password: PASSWORD, name: "Eve" });
        expect(taken).toMatchObject({ status: 409, body: { code: "USER_EXISTS" } });
        const signedIn = await again.post("/api/auth/callback/credentials", {
          email,
          password: owner.client.account.password,
        });
        expect(signedIn.status).toBe(200);
      }
    }
    const listed = JSON.parse((await cluster.command("user", "list", "--json")).stdout) as { email: string }[];
    for (const { client } of owners.values()) expect(listed.map(({ email }) => email)).toContain(client.account.email);
  });

  test("an account moves to a cell of another machine, and back, and every machine still answers for it", async () => {
    const [from, to] = [...owners.keys()].filter((cell) => cell > 0);
    const owner = owners.get(from ?? 0);
    if (from === undefined || to === undefined || !owner) throw new Error("There are three cells.");
    const { client } = owner;
    for (const target of [to, from]) {
      const moved = await cluster.command("cells", "move", client.account.email, String(target));
      expect(moved).toMatchObject({ exitCode: 0, stderr: "" });
      for (const node of cluster.nodes) {
        expect(await talk(owner, node, `in cell ${target}`)).toBe(`echo: in cell ${target}`);
        const { email, password } = client.account;
        const signedIn = await createClient(node).post("/api/auth/callback/credentials", { email, password });
        expect(signedIn.status).toBe(200);
      }
    }
  });

  test("the last cell is removed while it runs, every machine answers for its accounts, and it is opened again", async () => {
    const last = CELLS - 1;
    const removed = await cluster.command("cells", "remove", String(last));
    expect(removed.stderr).toBe("");
    expect(removed.stdout).toContain(`Cell ${last} is removed`);
    expect((await cluster.status()).cells.map(({ cell }) => cell)).toEqual([0, 1]);
    // NATS keeps an empty database of it.
    const engine = await cluster.engine();
    const { first, last: newest } = await (await engine.log(last)).bounds();
    const snapshots = (await (await engine.blobs("snapshots")).list()).filter(({ name }) =>
      name.startsWith(`cell-${last}-`),
    );
    expect(snapshots).toHaveLength(1);
    expect(newest - first).toBeLessThan(10);
    for (const node of cluster.nodes)
      for (const owner of owners.values())
        expect(await talk(owner, node, "after a removal")).toBe("echo: after a removal");
    expect((await cluster.command("cluster", "cells", String(CELLS))).stderr).toBe("");
    await settled(cluster);
    const owner = owners.get(last);
    if (!owner) throw new Error("There is no account of the last cell.");
    await eventually(
      async () => (await cluster.command("cells", "move", owner.client.account.email, String(last))).exitCode === 0,
      { timeoutMs: 30_000 },
    );
    for (const node of cluster.nodes) expect(await talk(owner, node, "back again")).toBe("echo: back again");
  });

  test("a machine that is killed while an account moves, and while a cell is removed, leaves each account whole", async () => {
    const [first, second] = cluster.nodes;
    if (!first || !second) throw new Error("There are too few machines.");
    const last = CELLS - 1;
    const moving = owners.get(last);
    if (!moving) throw new Error("There is no account of the last cell.");
    const { email } = moving.client.account;
    await cluster.command("cluster", "move", String(last), addressOf(second));
    const answers = async (text: string) => {
      for (const owner of owners.values())
        await eventually(async () => (await talk(owner, first, text)) === `echo: ${text}`, { timeoutMs: 30_000 });
      const ofAll = (await cluster.command("user", "list", "--json")).stdout;
      expect(ofAll.split(email).length - 1).toBe(1);
    };
    /** Kills it once the command is at work, and lets the command be repeated until it succeeds. */
    const killedWhile = async (...command: string[]) => {
      const begun = cluster.command(...command);
      await eventually(async () => (await movesIn(first)) > 0, { timeoutMs: 20_000, everyMs: 5, what: "a move" });
      await second.kill();
      await begun;
      await answers(`killed: ${command.join(" ")}`);
      await second.restart({ keepPorts: true });
    };
    await killedWhile("cells", "move", email, "1");
    await settled(cluster);
    await cluster.command("cells", "move", email, String(last));
    await cluster.command("cluster", "move", String(last), addressOf(second));
    await killedWhile("cells", "remove", String(last));
    await eventually(
      async () => {
        const again = await cluster.command("cells", "remove", String(last));
        return again.exitCode === 0 || again.stderr.includes("There is no such cell: they are 0 to 1.");
      },
      { timeoutMs: 60_000, what: "the cell is removed" },
    );
    await answers("removed");
    expect(await movesIn(first)).toBe(0);
    await cluster.command("cluster", "cells", String(CELLS));
    await settled(cluster);
    await eventually(async () => (await cluster.command("cells", "move", email, String(last))).exitCode === 0, {
      timeoutMs: 30_000,
    });
    await answers("back");
  });

  test("the copies of each cell are equal", async () => {
    for (const cell of owners.keys()) {
      const { stdout, stderr } = await cluster.command("cluster", "check", String(cell));
      expect(stderr).toBe("");
      expect(stdout).toMatch(/has the same [\d,]+ rows as/);
    }
  });

  test("a machine that is killed loses nothing: the other one answers for all cells, and gives some back", async () => {
    const [first, second] = cluster.nodes;
    if (!first || !second) throw new Error("There are too few machines.");
    await first.kill();
    for (const [cell, owner] of owners) {
      await eventually(async () => (await talk(owner, second, `after ${cell}`)) === `echo: after ${cell}`, {
        timeoutMs: 30_000,
        what: `cell ${cell} answers again`,
      });
    }
    await first.restart({ keepPorts: true });
    const status = await settled(cluster, (now) => new Set(ownersOf(now)).size === 2);
    expect(ownersOf(status)).toContain(addressOf(first));
    for (const owner of owners.values()) expect(await talk(owner, first, "back")).toBe("echo: back");
  });

  test.each([
    ["ends", async (node: Berth) => void (await node.stop()), true],
    ["is restarted", async (node: Berth) => void (await node.command("restart")), false],
  ])("a machine that %s breaks no request, whichever machine was asked", async (_, take, refuses) => {
    await settled(cluster, (now) => new Set(ownersOf(now)).size === 2);
    const node = await cluster.owner(1);
    const other = cluster.nodes.find((one) => one !== node);
    if (!other) throw new Error("There are too few machines.");
    const wrong: string[] = [];
    let [answered, isOver] = [0, false];
    /** A new connection for each: one that is kept may close while the request is on its way. */
    const askAgain = async ({ client, agentId }: Owner, { web }: Berth) => {
      for (let n = 0; !isOver; n++) {
        const body = JSON.stringify({ message: `message ${n}`, agentId, topic: web });
        const headers = { cookie: client.cookie, "content-type": "application/json" };
        try {
          const response = await fetch(`${web}/api/chat`, { method: "POST", headers, body, keepalive: false });
          if (response.status !== 200) wrong.push(`${response.status} ${await response.text()}`);
          answered++;
        } catch (error) {
          // It takes no requests any more.
          if (!(refuses && web === node.web && /refused/i.test(String(error)))) wrong.push(`${web}: ${error}`);
          await Bun.sleep(20);
        }
      }
    };
    const asking = [...owners.values()].flatMap((owner) => [askAgain(owner, node), askAgain(owner, other)]);
    await eventually(() => answered > 30);
    await take(node);
    const before = answered;
    await eventually(() => answered > before + 30);
    isOver = true;
    await Promise.all(asking);
    if (!node.running) await node.restart({ keepPorts: true });
    expect(wrong).toEqual([]);
  });

  test("any machine makes a backup of all cells, which another one begins a cluster or a service alone with", async () => {
    const [node] = cluster.nodes;
    if (!node) throw new Error("There is no machine.");
    const folder = temporaryDir();
    const file = join(folder.path, "all.tar.gz");
    const made = await node.command("backup", file);
    expect(made.stderr).toBe("");
    expect(made.stdout).toStartWith(file);
    // The same key opens it.
    await using other = await startBerth({ env: { SECRET_KEY: CLUSTER_KEY, CELLS: String(CELLS) }, readyMs: 60_000 });
    await other.stop();
    const restored = await other.command("restore", file);
    expect(restored.exitCode).toBe(0);
    await other.restart();
    for (const [cell, { client, agentId }] of owners) {
      const again = createClient(other);
      const { email, password } = client.account;
      expect((await again.post("/api/auth/callback/credentials", { email, password })).status).toBe(200);
      const { body } = await again.get<{ agents: { id: string }[] }>("/api/agents");
      expect(body.agents.map(({ id }) => id)).toEqual([agentId]);
      expect(copies(other, email)).toBe(1);
      expect(countAccounts(other, cell, email)).toBe(1);
    }
    folder.remove();
  });

  test("a cell moves as its operator wants, and its machine can be drained", async () => {
    const before = await settled(cluster);
    const cell = before.cells.find(({ cell }) => cell !== 0);
    const target = cluster.nodes.map(addressOf).find((address) => address !== cell?.owner);
    if (!cell || target === undefined) throw new Error("There is no cell to move.");
    const moved = await cluster.command("cluster", "move", String(cell.cell), target);
    expect(moved.stdout).toMatch(new RegExp(`owns cell ${cell.cell} after`));
    const owner = owners.get(cell.cell);
    if (owner) expect(await talk(owner, { web: cluster.web }, "moved")).toBe("echo: moved");
    expect((await cluster.command("cluster", "drain", target)).stdout).toContain("owns nothing");
    for (const one of owners.values()) expect(await talk(one, { web: cluster.web }, "drained")).toBe("echo: drained");
    await cluster.command("cluster", "undrain", target);
  });
});
