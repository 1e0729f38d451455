// Measures several cells on one machine beside one process: turns, what the router costs, and the share of it that is serial.

import { cellOfId } from "../src/kernel/cells/marks.ts";
import type { Berth } from "../tests/support/berth.ts";
import { temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, type Figure, median, ms, perSecond } from "./support/figures.ts";
import { allGood, load, type Outcome, type Stage } from "./support/load.ts";
import { cpuOf, type Owner, ownerOf, startService, startUpstream } from "./support/service.ts";
import { messages } from "./turns.ts";

const AGENTS = 25;
const ROUNDS = 4;
/** Accounts that may be made until there is one in each cell. */
const TRIES = 6;

/** What the answers of a stage cost the processes, in ms of processor time each. */
interface Measured {
  rate: number;
  first: number;
  second: number;
}

export const cells: Benchmark = {
  name: "cells",
  summary: "turns with two cells beside one process, and what the router costs",
  async run() {
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
        seconds: connections === 1 ? 1 : 2,
      });
      const measured: Record<string, Measured[]> = { one: [], two: [], far: [] };
      const stages = [stage("one", one, messages(alone)), stage("two", two, both), stage("far", two, messages(far))];
      // The first round compiles the code.
      for (let round = 0; round <= ROUNDS; round++) {
        for (const each of stages) {
          const pids = each.name === "one" ? [one.pid, one.pid] : [two.pid, second];
          const found = await measure(each, pids);
          if (round > 0) measured[each.name]?.push(found);
        }
      }
      const quiet = await load({
        stages: [
          stage("one", one, messages(alone), 1),
          stage("near", two, messages(near), 1),
          stage("far", two, messages(far), 1),
        ],
        rounds: 3,
      });
      return figures(measured, quiet);
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

async function measure(stage: Stage, pids: readonly number[]): Promise<Measured> {
  const before = pids.map(cpuOf);
  const outcome = allGood(await load({ stages: [stage], rounds: 1 }), stage.name);
  const [first = 0, second = 0] = pids.map((pid, n) => (cpuOf(pid) - (before[n] ?? 0)) / outcome.answers);
  return { rate: outcome.rate, first, second };
}

function figures(measured: Record<string, Measured[]>, quiet: Record<string, Outcome>): Figure[] {
  const of = (name: string, field: keyof Measured) => median((measured[name] ?? []).map((one) => one[field]));
  const [single, double] = [of("one", "rate"), of("two", "rate")];
  const [turn, relay, inCell] = [of("one", "first"), of("far", "first"), of("far", "second")];
  // Half of the turns are sent on; each processor gives 1,000 ms a second.
  const possible = 2_000 / ((turn + inCell + relay) / 2);
  const added = allGood(quiet, "far").p50 - allGood(quiet, "near").p50;
  return [
    {
      what: "turns at c50, two cells, load and model beside them",
      ratio: double / single,
      figure: perSecond(double),
      baseline: `${perSecond(single)} one process`,
      goal: "≥ 1.2×",
      met: double / single >= 1.2,
    },
    {
      what: "the same if the service had two processors for itself, by processor time",
      ratio: possible / (1000 / turn),
      figure: perSecond(possible),
      baseline: `${perSecond(1000 / turn)} one process`,
      goal: "≥ 1.5×",
      met: possible / (1000 / turn) >= 1.5,
    },
    {
      what: "processor time of a turn in cell 1, its own process",
      ratio: inCell / turn,
      figure: ms(inCell),
      baseline: `${ms(turn)} one process`,
      goal: "",
    },
    {
      what: "the same, in the first process, which sends it on",
      ratio: relay / turn,
      figure: ms(relay),
      baseline: `${ms(turn)} a turn of its own`,
      goal: "",
    },
    {
      what: "serial share of a turn that is sent on",
      figure: `${((relay / (relay + inCell)) * 100).toFixed(0)} %`,
      baseline: `at most ${perSecond(1000 / relay)} sent on, whatever the number of cells`,
      goal: "",
    },
    {
      what: "added to a turn at c1 by sending it on, median",
      figure: ms(added),
      baseline: `${ms(allGood(quiet, "one").p50)} one process`,
      goal: "≤ 0.5 ms",
      met: added <= 0.5,
    },
  ];
}
