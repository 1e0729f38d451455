// Measures several machines as one service, all on this one: turns with a log and copies, and how long a change of the owner takes.

import { type Cluster, startCluster } from "../tests/support/cluster.ts";
import { temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, type Figure, median, ms, perSecond, ratioOf, timeFigure } from "./support/figures.ts";
import { cpuOfFirst, eachRound, load, p50Of, rateOf, type Stage } from "./support/load.ts";
import { binary, type Owner, ownerOf, serviceEnv, startService, startUpstream } from "./support/service.ts";
import { warmUp } from "./support/warm-up.ts";
import { messages } from "./turns.ts";

const AGENTS = 25;
/** Kills of the owner, and moves of the cell. */
const CHANGES = 3;
/** Goal of the processor time that NATS takes for a turn. */
const NATS_MS = 0.15;

export const cluster: Benchmark = {
  name: "cluster",
  summary: "turns through a log with copies on other nodes, and the time until another node answers",
  isLong: true,
  async run({ rounds }) {
    const folder = temporaryDir();
    try {
      await using upstream = await startUpstream();
      const { PORT: _, BACKEND_PORT: __, SECRET_KEY: ___, ...env } = serviceEnv(upstream.origin);
      await using file = await startService(upstream, { dir: folder.path });
      await using one = await startCluster({ nodes: 1, natsServers: 1, env, binary });
      await using three = await startCluster({ nodes: 3, natsServers: 3, env, binary });
      const [node] = one.nodes;
      const [nats] = one.nats.servers;
      const owner = await three.owner();
      if (!node) throw new Error("There is no node.");
      const places = [
        { name: "file", berth: file, owner: await ownerOf(file, AGENTS) },
        { name: "one", berth: node, owner: await ownerOf(node, AGENTS) },
        { name: "three", berth: owner, owner: await ownerOf(owner, AGENTS) },
      ];
      await three.followed();
      const stages = (connections: number, seconds: number): Stage[] =>
        places.map(({ name, berth, owner: asker }) => ({
          name,
          origin: berth.web,
          connections,
          asks: messages(asker),
          seconds,
          // That of the only server of NATS is told apart by its place.
          pids: name === "one" && nats ? [berth.pid, nats.pid] : [berth.pid],
        }));
      await warmUp(stages(50, 1));
      const crowd = await load({ stages: stages(50, 1), rounds });
      const alone = await load({ stages: stages(1, 0.5), rounds });
      const base = eachRound(crowd, "file", rateOf);
      const rate = (name: string, what: string, goal: number): Figure => {
        const rates = eachRound(crowd, name, rateOf);
        const gain = ratioOf(rates, base);
        return {
          what,
          ...gain,
          figure: perSecond(median(rates)),
          baseline: `${perSecond(median(base))} on a file alone`,
          goal: `≥ ${goal}×`,
          met: gain.ratio >= goal,
        };
      };
      const single = eachRound(alone, "file", p50Of);
      const added = median(eachRound(alone, "one", p50Of).map((time, round) => time - (single[round] ?? Number.NaN)));
      const [asker] = places.slice(-1);
      return [
        rate("one", "turns at c50, one node, one server of NATS", 0.8),
        rate("three", "turns at c50, three nodes, three servers, two copies", 0.4),
        timeFigure(
          "processor time of a turn, one node",
          eachRound(crowd, "one", cpuOfFirst),
          eachRound(crowd, "file", cpuOfFirst),
          "on a file alone",
        ),
        {
          what: "processor time of a turn in NATS, one server",
          figure: ms(median(eachRound(crowd, "one", ({ cpu }) => cpu[1] ?? Number.NaN))),
          baseline: "",
          goal: `≤ ${NATS_MS} ms`,
          met: median(eachRound(crowd, "one", ({ cpu }) => cpu[1] ?? Number.NaN)) <= NATS_MS,
        },
        {
          what: "added to a turn at c1, one node",
          figure: ms(added),
          baseline: `${ms(median(single))} on a file alone`,
          goal: "≤ 4 ms",
          met: added <= 4,
        },
        ...(asker ? await changes(three, asker.owner) : []),
      ];
    } finally {
      folder.remove();
    }
  },
};

/** Kills the owner, then moves the cell: from the command until the balancer's next answer. */
async function changes(three: Cluster, { headers, agentIds: [agentId] }: Owner): Promise<Figure[]> {
  const read = async () => (await fetch(`${three.web}/api/agents`, { headers })).status === 200;
  /** It needs the log, unlike a read. */
  const turn = async () => {
    const body = JSON.stringify({ message: "Hello there", topic: "after a loss", agentId });
    const asked = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body };
    return (await fetch(`${three.web}/api/chat`, asked)).status === 200;
  };
  const untilAnswer = async (began: number, answer = read) => {
    while (!(await answer().catch(() => false))) await Bun.sleep(5);
    return performance.now() - began;
  };
  const kills: number[] = [];
  for (let n = 0; n < CHANGES; n++) {
    const owner = await three.owner();
    await three.followed();
    const began = performance.now();
    await owner.kill();
    kills.push(await untilAnswer(began));
    await owner.restart({ keepPorts: true });
  }
  /** The longest wait for an answer while something happens, and for a moment after. */
  const longestWait = async (during: Promise<unknown>, afterMs: number, answer = read) => {
    let isOver = false;
    const ended = during
      .then(() => Bun.sleep(afterMs))
      .finally(() => {
        isOver = true;
      });
    let worst = 0;
    while (!isOver) worst = Math.max(worst, await untilAnswer(performance.now(), answer));
    await ended;
    return worst;
  };
  const ends: number[] = [];
  for (let n = 0; n < CHANGES; n++) {
    await three.followed();
    const owner = await three.owner();
    ends.push(await longestWait(owner.stop(), 1_000));
    await owner.restart({ keepPorts: true });
  }
  // Each of them, since one of them leads the cell's log.
  const losses: number[] = [];
  for (const server of three.nats.servers) {
    await three.followed();
    losses.push(await longestWait(server.kill(), 12_000, turn));
    await server.start();
  }
  const [kill, end, worst] = [Math.max(...kills), median(ends), Math.max(...losses)];
  return [
    {
      baseline: "",
      what: `kill -9 of the owner until another node answers, the longest of ${kills.map((time) => ms(time)).join(", ")}`,
      figure: ms(kill),
      goal: "≤ 6 s",
      met: kill <= 6_000,
    },
    {
      baseline: "",
      what: "SIGTERM of the owner: the longest wait of a read",
      figure: ms(end),
      goal: "≤ 1.5 s",
      met: end <= 1_500,
    },
    {
      baseline: "",
      what: `each of three servers of NATS lost: the longest wait of a turn (${losses.map((time) => ms(time)).join(", ")})`,
      figure: ms(worst),
      goal: "≤ 10 s",
      met: worst <= 10_000,
    },
  ];
}
