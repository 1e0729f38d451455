// Measures several cells on one machine beside one process: turns, what the router costs, and the share of it that is serial.

import { cellOfId } from "../src/kernel/cells/marks.ts";
import type { Berth } from "../tests/support/berth.ts";
import { temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, type Figure, median, ms, perSecond, ratioOf, timeFigure } from "./support/figures.ts";
import { cpuOfFirst, eachRound, load, type Outcome, p50Of, rateOf, type Stage } from "./support/load.ts";
import { type Owner, ownerOf, startService, startUpstream } from "./support/service.ts";
import { warmUp } from "./support/warm-up.ts";
import { messages } from "./turns.ts";

const AGENTS = 25;
/** Accounts that may be made until there is one in each cell. */
const TRIES = 6;

export const cells: Benchmark = {
  name: "cells",
  summary: "turns with two cells beside one process, and what the router costs",
  async run({ rounds }) {
    const [oneFolder, twoFolder] = [temporaryDir(), temporaryDir()];
    try {
      await using upstream = await startUpstream();
      await using one = await startService(upstream, { dir: oneFolder.path });
      await using two = await startService(upstream, { dir: twoFolder.path, env: { CELLS: "2" }, readyMs: 60_000 });
      const alone = await ownerOf(one, AGENTS);
      const [near, far] = await ownersOf(two);
      const second = await pidOfSecond(two);
      const both = messages(near).map((ask, n) => (n % 2 === 0 ? ask : (messages(far)[n] ?? ask)));
      const stage = (name: string, berth: Berth, asks: Stage["asks"], connections = 50): Stage => ({
        ...{ name, origin: berth.web, connections, asks },
        ...{ seconds: connections === 1 ? 0.5 : 1, pids: berth === one ? [one.pid] : [two.pid, second] },
      });
      const stages = [stage("one", one, messages(alone)), stage("two", two, both), stage("far", two, messages(far))];
      await warmUp(stages);
      const crowd = await load({ stages, rounds });
      const quiet = await load({
        stages: [
          stage("one", one, messages(alone), 1),
          stage("near", two, messages(near), 1),
          stage("far", two, messages(far), 1),
        ],
        rounds,
      });
      return figures(crowd, quiet);
    } finally {
      for (const { remove } of [oneFolder, twoFolder]) remove();
    }
  },
};

/** An owner in each of both cells. */
async function ownersOf(berth: Berth): Promise<[Owner, Owner]> {
  const owners = new Map<number, Owner>();
  for (let n = 0; owners.size < 2 && n < TRIES; n++) {
    const owner = await ownerOf(berth, AGENTS);
    owners.set(cellOfId(owner.userId), owner);
  }
  const [near, far] = [owners.get(0), owners.get(1)];
  if (!near || !far) throw new Error("All accounts are in one cell.");
  return [near, far];
}

async function pidOfSecond(berth: Berth): Promise<number> {
  const { stdout } = await berth.command("cells", "--json");
  const states = JSON.parse(stdout) as { cell: number; pid: number }[];
  const pid = states.find(({ cell }) => cell === 1)?.pid;
  if (pid === undefined) throw new Error("There is no process of cell 1.");
  return pid;
}

function figures(crowd: Record<string, Outcome>, quiet: Record<string, Outcome>): Figure[] {
  const [single, double] = [eachRound(crowd, "one", rateOf), eachRound(crowd, "two", rateOf)];
  const gain = ratioOf(double, single);
  const [turns, relays] = [eachRound(crowd, "one", cpuOfFirst), eachRound(crowd, "far", cpuOfFirst)];
  const inCells = eachRound(crowd, "far", ({ cpu: [, second = Number.NaN] }) => second);
  const [turn, relay, inCell] = [median(turns), median(relays), median(inCells)];
  // Half of the turns are sent on; each processor gives 1,000 ms a second.
  const possible = 2_000 / ((turn + inCell + relay) / 2);
  const far = eachRound(quiet, "far", p50Of);
  const added = median(eachRound(quiet, "near", p50Of).map((time, round) => (far[round] ?? Number.NaN) - time));
  return [
    {
      what: "turns at c50, two cells, load and model beside them",
      ...gain,
      figure: perSecond(median(double)),
      baseline: `${perSecond(median(single))} one process`,
      goal: "≥ 1.2×",
      met: gain.ratio >= 1.2,
    },
    {
      what: "the same if the service had two processors for itself, by processor time",
      ratio: possible / (1000 / turn),
      figure: perSecond(possible),
      baseline: `${perSecond(1000 / turn)} one process`,
      goal: "≥ 1.5×",
      met: possible / (1000 / turn) >= 1.5,
    },
    timeFigure("processor time of a turn in cell 1, its own process", inCells, turns, "one process"),
    timeFigure("the same, in the first process, which sends it on", relays, turns, "a turn of its own"),
    {
      what: "serial share of a turn that is sent on",
      figure: `${((relay / (relay + inCell)) * 100).toFixed(0)} %`,
      baseline: `at most ${perSecond(1000 / relay)} sent on, whatever the number of cells`,
      goal: "",
    },
    {
      what: "added to a turn at c1 by sending it on, median",
      figure: ms(added),
      baseline: `${ms(median(eachRound(quiet, "one", p50Of)))} one process`,
      goal: "≤ 0.5 ms",
      met: added <= 0.5,
    },
  ];
}
