// Measures whether memory grows with use: a million turns of the same conversations, one after the other on 50 connections.

import { temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, mib } from "./support/figures.ts";
import { allGood, load } from "./support/load.ts";
import { memoryOf } from "./support/process-usage.ts";
import { ownerOf, startService, startUpstream } from "./support/service.ts";
import { messages } from "./turns.ts";

const TURNS = 1_000_000;
/** Caches are full by then. */
const WARM_UP = 200_000;
const SECONDS = 10;
const IDLE_MS = 10_000;

export const endurance: Benchmark = {
  name: "endurance",
  summary: `memory over ${TURNS.toLocaleString("en")} turns (ten minutes and more)`,
  isLong: true,
  async run() {
    const folder = temporaryDir();
    try {
      await using upstream = await startUpstream();
      await using berth = await startService(upstream, { dir: folder.path });
      const asks = messages(await ownerOf(berth, 25));
      const stage = { name: "turns", origin: berth.web, connections: 50, asks, seconds: SECONDS };
      const turns = async (count: number) => {
        for (let done = 0; done < count; ) {
          done += allGood(await load({ stages: [{ ...stage, atMost: count - done }], rounds: 1 }), "turns").answers;
        }
        await Bun.sleep(IDLE_MS);
        return memoryOf(berth.pid);
      };
      const before = await turns(WARM_UP);
      const after = await turns(TURNS - WARM_UP);
      return [
        {
          what: `RSS after ${TURNS.toLocaleString("en")} turns`,
          ratio: after.rss / before.rss,
          figure: mib(after.rss),
          baseline: `${mib(before.rss)} after ${WARM_UP.toLocaleString("en")}`,
          goal: "≤ 1.1×",
          met: after.rss <= 1.1 * before.rss,
        },
        {
          what: "of it its own (not mapped from files)",
          ratio: after.own / before.own,
          figure: mib(after.own),
          baseline: mib(before.own),
          goal: "",
        },
      ];
    } finally {
      folder.remove();
    }
  },
};
