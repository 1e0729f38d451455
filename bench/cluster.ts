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
          pids: [berth.pid],
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
async function changes(three: Cluster, { headers }: Owner): Promise<Figure[]> {
  const answer = async () => (await fetch(`${three.web}/api/agents`, { headers })).status === 200;
  const untilAnswer = async (began: number) => {
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
  /** The longest wait of a read while something happens, and for a moment after. */
  const longestWait = async (during: Promise<unknown>, afterMs: number) => {
    let isOver = false;
    const ended = during
      .then(() => Bun.sleep(afterMs))
      .finally(() => {
        isOver = true;
      });
    let worst = 0;
    while (!isOver) worst = Math.max(worst, await untilAnswer(performance.now()));
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
  await three.followed();
  const [server] = three.nats.servers;
  const worst = server ? await longestWait(server.kill(), 15_000) : 0;
  const [kill, end] = [Math.max(...kills), median(ends)];
  return [
    {
      baseline: "",
      what: "kill -9 of the owner until another node answers, the longest of three",
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
      what: "one of three servers of NATS lost: the longest wait of a read",
      figure: ms(worst),
      goal: "≤ 10 s",
      met: worst <= 10_000,
    },
  ];
}
