// Measures reads and turns over a database as large as that of years of use, and what others wait meanwhile.

import type { Berth } from "../tests/support/berth.ts";
import type { Client } from "../tests/support/client.ts";
import { run, temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, type Figure, median, ms, perSecond } from "./support/figures.ts";
import { grow, LARGE } from "./support/grow.ts";
import { allGood, load } from "./support/load.ts";
import { binary, type Owner, ownerOf, serviceEnv, startService, startUpstream } from "./support/service.ts";
import { watchStalls } from "./support/stalls.ts";
import { messages } from "./turns.ts";

const READ_MS = 10;
const STALL_MS = 20;
const TURNING_AGENTS = 25;
const BACKUP_MS = 600_000;
const ROUNDS = 9;
const CONVERSATION = `sess_${(LARGE.conversations - 1).toString(16).padStart(16, "0")}`;

/** What people open first, of an account with thousands of agents and of one agent with a long past. */
const readsOf = (agent: string) => [
  "/api/agents",
  "/api/agents/overview",
  "/api/usage",
  `/api/agents/${agent}/conversations`,
  `/api/agents/${agent}/conversations/${CONVERSATION}/messages`,
  `/api/agents/${agent}/turns`,
  `/api/agents/${agent}/messages`,
  `/api/agents/${agent}/logs`,
  `/api/agents/${agent}/usage`,
  `/api/agents/${agent}/figures`,
  `/api/agents/${agent}/stats`,
  `/api/chat?agentId=${agent}&topic=topic-7`,
  `/api/chat?agentId=${agent}&topic=of-no-message`,
];

export const growth: Benchmark = {
  name: "growth",
  summary: "reads over 100,000 agents, a million messages and five million calls, and what others wait beside them",
  async run() {
    const folder = temporaryDir();
    const smallFolder = temporaryDir();
    try {
      await using upstream = await startUpstream();
      await using berth = await startService(upstream, { dir: folder.path });
      const owner = await ownerOf(berth, TURNING_AGENTS);
      await berth.stop();
      const agent = grow(folder.path, { ...LARGE, userId: owner.userId });
      await using small = await startService(upstream, { dir: smallFolder.path });
      const smallOwner = await ownerOf(small, TURNING_AGENTS);
      const startOf = async (service: Berth) => {
        const began = performance.now();
        await service.restart();
        return performance.now() - began;
      };
      const smallStarts = [await startOf(small), await startOf(small), await startOf(small)];
      const starts = [await startOf(berth), await startOf(berth), await startOf(berth)];
      using watch = await watchStalls(berth);
      const reads = await timeReads(owner.client, agent);
      const worst = await watch.longest();
      const backedUp = await run(
        [binary, "backup", `${folder.path}/backup.db`],
        serviceEnv(upstream.origin),
        folder.path,
        BACKUP_MS,
      );
      if (backedUp.exitCode !== 0) throw new Error(`The backup failed: ${backedUp.stderr}`);
      const worstInBackup = await watch.longest();
      return [
        ...reads,
        watch.figure("worst /healthz while all of them are read", worst, STALL_MS),
        watch.figure("worst /healthz while the database is backed up", worstInBackup, STALL_MS),
        await turnsBeside({ service: berth, owner }, { service: small, owner: smallOwner }),
        {
          what: "start to ready",
          ratio: median(starts) / median(smallStarts),
          figure: ms(median(starts)),
          baseline: `${ms(median(smallStarts))} empty`,
          goal: "≤ 1.1×",
          met: median(starts) <= 1.1 * median(smallStarts),
        },
      ];
    } finally {
      for (const { remove } of [folder, smallFolder]) remove();
    }
  },
};

/** Reads each path several times; its figure is the median of all but the first. */
async function timeReads(client: Client, agent: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const path of readsOf(agent)) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const at = performance.now();
      const { status, text } = await client.get(path);
      times.push(performance.now() - at);
      if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 200)}`);
    }
    const [first = 0, ...others] = times;
    figures.push({
      what: path.replace(agent, "ID").replace(CONVERSATION, "ID"),
      figure: ms(median(others)),
      baseline: `${ms(first)} the first time`,
      goal: `≤ ${READ_MS} ms`,
      met: median(others) <= READ_MS,
    });
  }
  return figures;
}

interface Turning {
  service: Berth;
  owner: Owner;
}

async function turnsBeside(large: Turning, small: Turning): Promise<Figure> {
  const stage = (name: string, { service, owner }: Turning) => ({
    name,
    origin: service.web,
    connections: 50,
    asks: messages(owner),
    seconds: 1,
  });
  const outcomes = await load({ stages: [stage("large", large), stage("small", small)], rounds: 9 });
  const [rate, baseline] = [allGood(outcomes, "large").rate, allGood(outcomes, "small").rate];
  return {
    what: "turns at c50 of other agents",
    ratio: rate / baseline,
    figure: perSecond(rate),
    baseline: `${perSecond(baseline)} over an empty database`,
    goal: "≥ 0.9×",
    met: rate >= 0.9 * baseline,
  };
}
