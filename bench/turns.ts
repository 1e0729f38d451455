// Measures durable turns (a message accepted, answered by a 0 ms upstream, settled), and finds each in the database afterwards.

import { join } from "node:path";
import { temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, type Figure, median, ms, perSecond, ratioOf, timeFigure } from "./support/figures.ts";
import {
  type Ask,
  allGood,
  cpuOfFirst,
  eachRound,
  load,
  type Plan,
  p50Of,
  rateOf,
  type Stage,
} from "./support/load.ts";
import { count, type Owner, ownerOf, startBare, startService, startUpstream } from "./support/service.ts";
import { warmUp } from "./support/warm-up.ts";

const AGENTS = 25;
/** Number of conversations: enough that none gets so long that it is summarized, and no two connections share one. */
const TOPICS = 4_000;
/** The share of the bare turn's rate, and the time of one turn alone. */
const GOAL = { ratio: 0.45, aloneMs: 1.5 };

/** Messages to all agents in turn, each in its own conversation. */
export function messages({ agentIds, headers }: Owner, conversations = TOPICS): Ask[] {
  return Array.from({ length: conversations }, (_, n) => ({
    method: "POST",
    path: "/api/chat",
    headers,
    body: { message: "Hello there", topic: `topic ${n}`, agentId: agentIds[n % agentIds.length] },
  }));
}

export const turns: Benchmark = {
  name: "turns",
  summary: "durable turns over POST /api/chat",
  async run({ rounds }) {
    const folder = temporaryDir();
    const plainFolder = temporaryDir();
    try {
      await using upstream = await startUpstream();
      const address = `${upstream.origin}/v1/chat/completions`;
      await using bare = await startBare("turns", address, join(plainFolder.path, "turns.db"));
      await using berth = await startService(upstream, { dir: folder.path });
      const owner = await ownerOf(berth, AGENTS);
      const plain: Ask = { method: "POST", path: "/", body: { message: "Hello there" } };
      const stages = (connections: number, seconds: number): Stage[] => [
        { name: "berth", origin: berth.web, connections, asks: messages(owner), seconds, pids: [berth.pid] },
        { name: "bare", origin: bare.origin, connections, asks: [plain], seconds, pids: [bare.pid] },
      ];
      let answered = 0;
      const run = async (plan: Plan) => {
        const outcomes = await load(plan);
        if (outcomes.berth) answered += allGood(outcomes, "berth").answers;
        return outcomes;
      };
      await warmUp(stages(50, 1), run);
      const crowd = await run({ stages: stages(50, 1), rounds });
      const alone = await run({ stages: stages(1, 0.5), rounds });
      await berth.stop();
      return [
        throughput(eachRound(crowd, "berth", rateOf), eachRound(crowd, "bare", rateOf)),
        timeFigure(
          "processor time of a turn at c50",
          eachRound(crowd, "berth", cpuOfFirst),
          eachRound(crowd, "bare", cpuOfFirst),
        ),
        latency(eachRound(alone, "berth", p50Of), eachRound(alone, "bare", p50Of)),
        settled(folder.path, answered),
      ];
    } finally {
      for (const { remove } of [folder, plainFolder]) remove();
    }
  },
};

function throughput(rates: number[], bare: number[]): Figure {
  const gain = ratioOf(rates, bare);
  return {
    what: "turns at c50",
    ...gain,
    figure: perSecond(median(rates)),
    baseline: `${perSecond(median(bare))} bare turn (insert, fetch, update)`,
    goal: `≥ ${GOAL.ratio}×`,
    met: gain.ratio >= GOAL.ratio,
  };
}

function latency(times: number[], bare: number[]): Figure {
  return {
    what: "a turn at c1, median",
    ...ratioOf(times, bare),
    figure: ms(median(times)),
    baseline: `${ms(median(bare))} bare turn`,
    goal: `≤ ${GOAL.aloneMs} ms`,
    met: median(times) <= GOAL.aloneMs,
  };
}

/** Throws unless every answered request is a settled inbox entry with two messages and a ledger row. */
function settled(dir: string, answered: number): Figure {
  const found = {
    settled: count(dir, "SELECT count(*) FROM inbox WHERE status = 'done' AND settled_at IS NOT NULL"),
    unsettled: count(dir, "SELECT count(*) FROM inbox WHERE status <> 'done'"),
    messages: count(dir, "SELECT count(*) FROM messages"),
    usage: count(dir, "SELECT count(*) FROM usage WHERE kind = 'turn'"),
  };
  const right = found.settled === answered && found.unsettled === 0 && found.messages === 2 * answered;
  if (!right || found.usage !== answered)
    throw new Error(`${answered} turns were answered, but ${JSON.stringify(found)}`);
  return {
    what: "settled in the database",
    figure: found.settled.toLocaleString("en"),
    baseline: `${answered.toLocaleString("en")} answered`,
    goal: "all",
    met: true,
  };
}
