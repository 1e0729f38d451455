// Whether agents in trouble slow another: one's upstream hangs, one's floods, one has 10,000 messages waiting; the fourth is timed.

import { eventually } from "../tests/support/eventually.ts";
import { temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, ms } from "./support/figures.ts";
import { allGood, load } from "./support/load.ts";
import { queue } from "./support/seed.ts";
import { count, ownerOf, startProgram, startService } from "./support/service.ts";
import { messages } from "./turns.ts";

const QUEUED = 10_000;
const HANGING = 8;

export const isolation: Benchmark = {
  name: "isolation",
  summary: "an agent's reply time beside one that hangs, one that floods and one with 10,000 messages waiting",
  async run() {
    const folder = temporaryDir();
    const ended = new AbortController();
    try {
      await using upstream = await startProgram("bench/support/mixed-upstream.ts");
      await using berth = await startService(upstream, {}, folder.path);
      const owner = await ownerOf(berth, 4);
      const [hangs = "", floods = "", busy = "", fourth = ""] = owner.agentIds;
      const asks = messages({ ...owner, agentIds: [fourth] }, 200);
      const time = async () => {
        const stages = [{ name: "fourth", origin: berth.web, connections: 1, asks, seconds: 1 }];
        return allGood(await load({ stages, rounds: 2 }), "fourth").p50;
      };
      const talk = (agentId: string, message: string, topic: string) =>
        owner.client.fetch("POST", "/api/chat", { message, topic, agentId }, { headers: sse, signal: ended.signal });

      const before = await time();
      await berth.stop();
      queue(folder.path, busy, QUEUED);
      await berth.restart();
      for (let n = 0; n < HANGING; n++) void talk(hangs, "please hang", `hang ${n}`).catch(() => undefined);
      let floodBytes = 0;
      const flooding = (async () => {
        for (let n = 0; !ended.signal.aborted; n++) {
          const { body } = await talk(floods, "please flood", `flood ${n}`);
          for await (const part of body ?? []) floodBytes += part.length;
        }
      })().catch((error: unknown) => {
        if (!ended.signal.aborted) throw error;
      });
      const meanwhile = await time();
      const waiting = count(folder.path, pendingOf(busy));
      ended.abort();
      await flooding;
      await eventually(() => count(folder.path, pendingOf(busy)) === 0, {
        timeoutMs: 60_000,
        everyMs: 200,
        what: "the queue to be empty",
      });
      const after = await time();
      const alone = (before + after) / 2;
      const ratio = meanwhile / alone;
      return [
        {
          what: `reply of the fourth agent (${waiting.toLocaleString("en")} still waiting, ${(floodBytes / 1e6).toFixed(0)} MB flooded)`,
          ratio,
          figure: ms(meanwhile),
          baseline: `${ms(alone)} alone (${ms(before)} before, ${ms(after)} after)`,
          goal: "≤ 2×",
          met: ratio <= 2 && waiting > 0,
        },
      ];
    } finally {
      ended.abort();
      folder.remove();
    }
  },
};

const sse = { accept: "text/event-stream" };
const pendingOf = (agentId: string) =>
  `SELECT count(*) FROM inbox WHERE status = 'pending' AND agent_id = '${agentId}'`;
