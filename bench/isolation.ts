// Measures whether agents slow down another one: an agent whose upstream hangs, one whose upstream floods, and one with 10,000
// waiting messages.

import { eventually } from "../tests/support/eventually.ts";
import { temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, type Figure, ms } from "./support/figures.ts";
import { allGood, load } from "./support/load.ts";
import { queue } from "./support/seed.ts";
import { count, type Owner, ownerOf, startProgram, startService } from "./support/service.ts";
import { untilCompiled } from "./support/warm-up.ts";
import { messages } from "./turns.ts";

const QUEUED = 10_000;
const HANGING = 8;

export const isolation: Benchmark = {
  name: "isolation",
  summary: "an agent's reply time beside one that hangs, one that floods and one with 10,000 messages waiting",
  async run() {
    const folder = temporaryDir();
    try {
      await using upstream = await startProgram("bench/support/mixed-upstream.ts");
      await using berth = await startService(upstream, { dir: folder.path });
      const owner = await ownerOf(berth, 4);
      const [hanging = "", flooding = "", busy = "", fourth = ""] = owner.agentIds;
      const waiting = () =>
        count(folder.path, `SELECT count(*) FROM inbox WHERE status = 'pending' AND agent_id = '${busy}'`);
      const asks = messages({ ...owner, agentIds: [fourth] });
      const time = async (seconds = 0.8, rounds = 2) => {
        const stages = [{ name: "fourth", origin: berth.web, connections: 1, asks, seconds }];
        return allGood(await load({ stages, rounds }), "fourth").p50;
      };
      // A service that has just started is slow by itself.
      const warmUp = () => untilCompiled(berth.pid, () => time(0.2, 1));
      const beside = async (...troubles: ((owner: Owner) => Trouble)[]) => {
        const started = troubles.map((trouble) => trouble(owner));
        const took = await time();
        for (const { stop } of started) await stop();
        return took;
      };

      await warmUp();
      const before = await time();
      const hangs = await beside(hang(hanging));
      const floods = await beside(flood(flooding));
      const besideQueue = async (...troubles: ((owner: Owner) => Trouble)[]) => {
        await berth.stop();
        queue(folder.path, busy, QUEUED);
        await berth.restart();
        await warmUp();
        const took = await beside(...troubles);
        if (waiting() === 0) throw new Error("The queue was empty before the end of the measurement.");
        return took;
      };
      const all = await besideQueue(hang(hanging), flood(flooding));
      const left = waiting();
      const queued = await besideQueue();
      const leftOfQueue = waiting();
      await eventually(() => waiting() === 0, { timeoutMs: 60_000, everyMs: 200, what: "the queue to be empty" });
      const after = await time();

      const alone = (before + after) / 2;
      const baseline = `${ms(alone)} alone (${ms(before)} before, ${ms(after)} after)`;
      const figure = (what: string, took: number, goal?: number): Figure => ({
        what,
        ratio: took / alone,
        figure: ms(took),
        baseline,
        goal: goal === undefined ? "" : `≤ ${goal}×`,
        ...(goal === undefined ? {} : { met: took / alone <= goal }),
      });
      return [
        figure(`a reply beside all three (${left.toLocaleString("en")} still waiting)`, all, 2),
        figure("beside the one that hangs", hangs),
        figure("beside the one that gets 10 MB", floods),
        figure(`beside the one whose queue is worked off (${leftOfQueue.toLocaleString("en")} still waiting)`, queued),
      ];
    } finally {
      folder.remove();
    }
  },
};

/** A load that runs until `stop()`. */
interface Trouble {
  stop(): Promise<void>;
}

/** More messages than the service runs at once, none of which is ever answered. */
const hang =
  (agentId: string) =>
  ({ client }: Owner): Trouble => {
    const ended = new AbortController();
    const asked = Array.from({ length: HANGING }, async (_, n) => {
      const body = { message: "please hang", topic: `hang ${n}`, agentId };
      const answer = await client.fetch("POST", "/api/chat", body, { signal: ended.signal });
      throw new Error(`A call that should hang was answered ${answer.status}.`);
    });
    return { stop: () => stopped(ended, asked) };
  };

/** Reads one stream of 10 MB after the other, as fast as possible. */
const flood =
  (agentId: string) =>
  ({ client }: Owner): Trouble => {
    const ended = new AbortController();
    const options = { headers: { accept: "text/event-stream" }, signal: ended.signal };
    const stream = async () => {
      for (let n = 0; ; n++) {
        const body = { message: "please flood", topic: `flood ${n}`, agentId };
        const answer = await client.fetch("POST", "/api/chat", body, options);
        if (!answer.ok) throw new Error(`The flood was answered ${answer.status}.`);
        for await (const _ of answer.body ?? []);
      }
    };
    return { stop: () => stopped(ended, [stream()]) };
  };

/** Ends the load; throws errors from before the end. */
async function stopped(ended: AbortController, running: Promise<void>[]): Promise<void> {
  const early = await Promise.race([Promise.allSettled(running), Promise.resolve(undefined)]);
  ended.abort();
  const outcomes = early ?? (await Promise.allSettled(running));
  for (const outcome of outcomes) {
    if (outcome.status === "rejected" && !isAbort(outcome.reason)) throw outcome.reason;
  }
}

const isAbort = (error: unknown) => error instanceof Error && error.name === "AbortError";
