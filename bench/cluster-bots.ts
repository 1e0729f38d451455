// Measures how long 300 bots of one cell need until they answer on another machine, when the cell moves and when its machine is killed.

import { runTakeovers, type TakeoverResult } from "../tests/support/bots-over-takeovers.ts";
import { seeded } from "../tests/support/eventually.ts";
import { startPlatforms } from "../tests/support/storm-platforms.ts";
import type { Benchmark, Figure } from "./support/figures.ts";
import { binary } from "./support/service.ts";

/** Of each of four platforms. */
const BOTS = 75;
const GOAL_MS = 10_000;

export const clusterBots: Benchmark = {
  name: "cluster-bots",
  summary: "a cell with 300 bots that moves, and whose machine dies, while people write to all of them",
  isLong: true,
  async run() {
    await using started = new AsyncDisposableStack();
    const platforms = await startPlatforms(started);
    const results = await runTakeovers({ platforms, bots: BOTS, random: seeded(1), binary });
    return results.flatMap(figuresOf);
  },
};

function figuresOf({ platform, answeredMs, ...result }: TakeoverResult): Figure[] {
  const waitOf = (what: string, waitMs: number): Figure => ({
    what: `${platform}: ${what} until each of ${BOTS} bots has answered`,
    figure: `${(waitMs / 1000).toFixed(1)} s`,
    baseline: "",
    goal: `≤ ${GOAL_MS / 1000} s`,
    met: waitMs <= GOAL_MS,
  });
  const { messages, lost, disordered, overlaps = 0, repeated, repeatedOnTheirWay } = result;
  return [
    waitOf("a planned move", answeredMs.move),
    waitOf("kill -9 of the machine", answeredMs.kill),
    {
      what: `${platform}: lost, out of order or connected twice; shown twice, but for what was on its way`,
      figure: `${lost + disordered + overlaps}; ${repeated - repeatedOnTheirWay}`,
      baseline: `${messages} messages`,
      goal: "0; 0",
      met: lost + disordered + overlaps + repeated - repeatedOnTheirWay === 0,
    },
  ];
}
