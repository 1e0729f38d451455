// Measures durable turns (a message accepted, answered by a 0 ms upstream, settled), and finds each in the database afterwards.

import { join } from "node:path";
import { temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, cpuFigure, type Figure, ms, perSecond } from "./support/figures.ts";
import { type Ask, allGood, load, type Stage } from "./support/load.ts";
import { count, cpuDuring, type Owner, ownerOf, startBare, startService, startUpstream } from "./support/service.ts";

const AGENTS = 25;
/** Number of conversations: enough that none gets long and no two connections share one. */
const TOPICS = 4_000;

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
  async run() {
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
        { name: "berth", origin: berth.web, connections, asks: messages(owner), seconds },
        { name: "bare", origin: bare.origin, connections, asks: [plain], seconds },
      ];
      // The load test first, so that the JIT has compiled the code before latencies are measured.
      const cpu = await cpuDuring([berth.pid, bare.pid], () => load({ stages: stages(50, 2), rounds: 3 }));
      const alone = await load({ stages: stages(1, 1), rounds: 3 });
      const crowd = cpu.result;
      const answered = allGood(alone, "berth").answers + allGood(crowd, "berth").answers;
      await berth.stop();
      return [
        throughput(allGood(crowd, "berth").rate, allGood(crowd, "bare").rate),
        cpuFigure(
          "processor time of a turn at c50",
          cpu.service / allGood(crowd, "berth").answers,
          cpu.baseline / allGood(crowd, "bare").answers,
        ),
        latency(allGood(alone, "berth").p50, allGood(alone, "bare").p50),
        settled(folder.path, answered),
      ];
    } finally {
      for (const { remove } of [folder, plainFolder]) remove();
    }
  },
};

const throughput = (rate: number, bare: number): Figure => ({
  what: "turns at c50",
  ratio: rate / bare,
  figure: perSecond(rate),
  baseline: `${perSecond(bare)} bare turn (insert, fetch, update)`,
  goal: "≥ 3,000/s",
  met: rate >= 3_000,
});

const latency = (p50: number, bare: number): Figure => ({
  what: "a turn at c1, median",
  ratio: p50 / bare,
  figure: ms(p50),
  baseline: `${ms(bare)} bare turn`,
  goal: "≤ 1.5 ms",
  met: p50 <= 1.5,
});

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
