// Measures a cluster whose cell has a gigabyte: joining, a copy from nothing, a kill, moves, and a file that is one large write.

import { statSync } from "node:fs";
import { join } from "node:path";
import type { Berth } from "../tests/support/berth.ts";
import { type Cluster, startCluster } from "../tests/support/cluster.ts";
import { eventually } from "../tests/support/eventually.ts";
import { run } from "../tests/support/process.ts";
import { type Benchmark, type Figure, median, mib, ms } from "./support/figures.ts";
import { grow, LARGE } from "./support/grow.ts";
import { binary, type Owner, ownerOf, serviceEnv, startUpstream } from "./support/service.ts";
import { watchStalls } from "./support/stalls.ts";

const SHARE = 0.4;
const AGENTS = 5;
/** Kills, and moves. */
const TIMES = 3;
const FILE_BYTES = 5 * 1024 * 1024;
const PATIENCE_MS = 600_000;

export const clusterLarge: Benchmark = {
  name: "cluster-large",
  summary: "a cell of a gigabyte: joining, a copy from nothing, a kill while one is made, moves, and a large write",
  isLong: true,
  async run() {
    await using upstream = await startUpstream();
    const { PORT: _, BACKEND_PORT: __, SECRET_KEY: ___, ...env } = serviceEnv(upstream.origin);
    await using cluster = await startCluster({ nodes: 1, natsServers: 3, env, binary });
    const [first] = cluster.nodes;
    if (!first) throw new Error("There is no node.");
    const owner = await ownerOf(first, AGENTS);
    const joined = await joinGrown(first, owner);
    await first.restart({ keepPorts: true });
    await cluster.owner();
    return [
      joined,
      ...(await copyFromNothing(cluster, first)),
      await copyOverAKill(cluster),
      await writeFile(cluster, owner),
      await kills(cluster, owner),
      await moves(cluster, owner),
    ];
  },
};

const fileOf = ({ dir }: Berth) => join(dir, "data/berth.db");
const scaled = (value: number) => Math.round(value * SHARE);

async function command(node: Berth, ...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run([binary, ...args], node.env, node.dir, PATIENCE_MS);
  if (exitCode !== 0) throw new Error(`berth ${args.join(" ")}: ${stderr}`);
  return stdout;
}

const plain = (what: string, value: number, goal = "", isMet?: boolean): Figure => ({
  ...{ what, figure: ms(value), baseline: "", goal },
  ...(isMet !== undefined && { met: isMet }),
});

/** Gives the cluster a large database, as one that was in use for long joins. */
async function joinGrown(node: Berth, owner: Owner): Promise<Figure> {
  await node.stop();
  await command(node, "cluster", "leave");
  const { agents, otherAgents, conversations, otherMessages, calls } = LARGE;
  grow(node.dir, {
    userId: owner.userId,
    agents: scaled(agents),
    otherAgents: scaled(otherAgents),
    conversations: scaled(conversations),
    otherMessages: scaled(otherMessages),
    calls: scaled(calls),
  });
  const began = performance.now();
  const said = await command(node, "cluster", "join", "--replace");
  const { size } = statSync(fileOf(node));
  return {
    ...plain(`berth cluster join with ${mib(size)}`, performance.now() - began),
    baseline: /: (.*?) compressed/.exec(said)?.[1] ?? "",
  };
}

/** Another machine starts with an empty folder, and then follows. */
async function copyFromNothing(cluster: Cluster, first: Berth): Promise<Figure[]> {
  using watch = await watchStalls(first);
  const began = performance.now();
  await cluster.add();
  await untilFollowed(cluster);
  return [
    plain("a machine with an empty folder, until it follows", performance.now() - began),
    watch.figure("worst /healthz of the owner meanwhile", await watch.longest()),
  ];
}

/** A third machine is killed while it gets its copy, twice, and the cell is moved to it. */
async function copyOverAKill(cluster: Cluster): Promise<Figure> {
  const third = await cluster.add();
  const began = performance.now();
  const name = new URL(third.env.NODE_ADDRESS ?? third.backend).host;
  for (const killedAfterMs of [1_000, 3_000]) {
    const moved = command(cluster.nodes[0] as Berth, "cluster", "move", "0", name).catch(() => "");
    await Bun.sleep(killedAfterMs);
    await third.kill();
    await third.restart({ keepPorts: true });
    await moved;
  }
  await eventually(async () => (await cluster.owner()) === third, { timeoutMs: PATIENCE_MS, everyMs: 200 });
  await untilFollowed(cluster);
  return plain(
    "a third machine that is killed twice while it gets its copy, until it owns the cell",
    performance.now() - began,
  );
}

const untilFollowed = (cluster: Cluster) =>
  eventually(async () => (await cluster.status()).cells.every(({ behind, state }) => behind === 0 && state === "ok"), {
    timeoutMs: PATIENCE_MS,
    everyMs: 200,
  });

/** A file of five megabytes that an agent is to know: its passages are large writes. The copies are compared afterwards. */
async function writeFile(cluster: Cluster, { agentIds, headers }: Owner): Promise<Figure> {
  const began = performance.now();
  const path = `${cluster.web}/api/agents/${agentIds[0]}/files`;
  const line = "What the harbour said on one of its days, and what the ships made of it. ";
  const body = new FormData();
  body.set("file", new File([`${line.repeat(12)}\n\n`.repeat(FILE_BYTES / (line.length * 12))], "book.txt"));
  const sent = await fetch(path, { method: "POST", body, headers });
  if (sent.status !== 202) throw new Error(`The file was refused: ${sent.status} ${await sent.text()}`);
  await eventually(
    async () => {
      const { files } = (await (await fetch(path, { headers })).json()) as { files: { status: string }[] };
      return files.every(({ status }) => status === "ready");
    },
    { timeoutMs: PATIENCE_MS, everyMs: 100 },
  );
  await untilFollowed(cluster);
  const took = performance.now() - began;
  const said = await command(cluster.nodes[0] as Berth, "cluster", "check", "0");
  return { ...plain("a file of 5 MB, until its passages are in the copies", took), baseline: said.trim() };
}

async function turn({ web }: Cluster, { headers, agentIds: [agentId] }: Owner): Promise<boolean> {
  const answer = await fetch(`${web}/api/chat`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ message: "Hello", agentId }),
    signal: AbortSignal.timeout(10_000),
  });
  await answer.text();
  return answer.status === 200;
}

async function untilAnswered(cluster: Cluster, owner: Owner): Promise<number> {
  const began = performance.now();
  while (!(await turn(cluster, owner).catch(() => false))) await Bun.sleep(5);
  return performance.now() - began;
}

async function kills(cluster: Cluster, owner: Owner): Promise<Figure> {
  const times: number[] = [];
  for (let n = 0; n < TIMES; n++) {
    const node = await cluster.owner();
    await node.kill();
    times.push(await untilAnswered(cluster, owner));
    await node.restart({ keepPorts: true });
    await untilFollowed(cluster);
  }
  const what = `kill -9 of the owner until a turn is made elsewhere, median of ${times.map((time) => ms(time)).join(", ")}`;
  return plain(what, median(times), "≤ 6 s", median(times) <= 6_000);
}

async function moves(cluster: Cluster, owner: Owner): Promise<Figure> {
  const times: number[] = [];
  for (let n = 0; n < TIMES; n++) {
    const standby = (await cluster.status()).cells[0]?.standby;
    const node = cluster.nodes[0];
    if (!standby || !node) throw new Error("The cell can't move.");
    let isOver = false;
    const moved = command(node, "cluster", "move", "0", new URL(standby).host).finally(() => {
      isOver = true;
    });
    let longest = 0;
    while (!isOver) longest = Math.max(longest, await untilAnswered(cluster, owner));
    await moved;
    times.push(longest);
    await untilFollowed(cluster);
  }
  const what = `planned move: the longest wait of a turn, median of ${times.map((time) => ms(time)).join(", ")}`;
  return plain(what, median(times), "≤ 1.5 s", median(times) <= 1_500);
}
