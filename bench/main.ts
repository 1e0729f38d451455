// Runs all benchmarks but the long ones, or the named ones: bun bench/main.ts [name…]. Each figure is printed with a baseline of
// the same run. With --compare REF, measures what users feel beside the binary of another commit instead. With --rounds N, takes
// fewer rounds, to see that it works.

import { existsSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { beside } from "./beside.ts";
import { bots } from "./bots.ts";
import { cells } from "./cells.ts";
import { cluster } from "./cluster.ts";
import { clusterBots } from "./cluster-bots.ts";
import { clusterCells } from "./cluster-cells.ts";
import { clusterLarge } from "./cluster-large.ts";
import { compare } from "./compare/compare.ts";
import { MEASURES } from "./compare/measures.ts";
import { consolePages } from "./console.ts";
import { crowd } from "./crowd.ts";
import { delivery } from "./delivery.ts";
import { endurance } from "./endurance.ts";
import { engine } from "./engine.ts";
import { growth } from "./growth.ts";
import { hosted } from "./hosted.ts";
import { isolation } from "./isolation.ts";
import { knowledge } from "./knowledge.ts";
import { passthrough } from "./passthrough.ts";
import { recall } from "./recall.ts";
import { rss } from "./rss.ts";
import { schedules } from "./schedules.ts";
import { settings } from "./settings.ts";
import { sse } from "./sse.ts";
import { stalls } from "./stalls.ts";
import { start } from "./start.ts";
import { storm } from "./storm.ts";
import { streams } from "./streams.ts";
import type { Benchmark } from "./support/figures.ts";
import { mib, table } from "./support/figures.ts";
import { binary } from "./support/service.ts";
import { turns } from "./turns.ts";

const ROUNDS = 15;

const BENCHMARKS: readonly Benchmark[] = [
  start,
  rss,
  hosted,
  passthrough,
  sse,
  settings,
  turns,
  delivery,
  isolation,
  beside,
  streams,
  bots,
  storm,
  stalls,
  knowledge,
  schedules,
  growth,
  crowd,
  endurance,
  cells,
  cluster,
  engine,
  clusterCells,
  clusterBots,
  clusterLarge,
  recall,
  consolePages,
];

function machine(): string {
  const model = cpus()[0]?.model ?? "unknown processor";
  const busy = loadavg()[0]?.toFixed(2);
  return `${cpus().length} × ${model}, ${mib(totalmem())}, load ${busy}, Bun ${Bun.version}, ${new Date().toISOString()}`;
}

/** Exit code: 0 if all ran, even if goals were missed; 1 if one failed; 2 for an unknown name. */
async function main(args: string[]): Promise<number> {
  const { values, positionals: names } = parseArgs({
    args,
    options: { compare: { type: "string" }, rounds: { type: "string", default: String(ROUNDS) } },
    allowPositionals: true,
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    console.error(`--rounds ${values.rounds} is no number of rounds. Give a whole number from 1.`);
    return 2;
  }
  const compared = values.compare;
  const known = (compared === undefined ? BENCHMARKS : MEASURES).map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(
      `There is no benchmark ${unknown.join(", ")}${compared === undefined ? "" : " to compare"}. Benchmarks:`,
    );
    if (compared !== undefined) console.error(`  ${known.join(", ")}`);
    else for (const { name, summary } of BENCHMARKS) console.error(`  ${name.padEnd(13)} ${summary}`);
    return 2;
  }
  if (!existsSync(binary)) {
    console.error('dist/berth does not exist: run "npm run build" first, or "npm run bench", which does.');
    return 1;
  }
  console.log(machine());
  if (rounds < ROUNDS) console.log(`${rounds} rounds instead of ${ROUNDS}: these figures say little.`);
  if (compared !== undefined) {
    await compare(compared, names, rounds);
    return 0;
  }
  const broken: string[] = [];
  const missed: string[] = [];
  for (const { name, summary, isLong = false, run } of BENCHMARKS) {
    if (names.length > 0 ? !names.includes(name) : isLong) continue;
    const began = performance.now();
    console.log(`\n${name}: ${summary}`);
    try {
      const figures = await run({ rounds });
      console.log(table(figures));
      missed.push(...figures.filter(({ met }) => met === false).map(({ what }) => `${name}: ${what}`));
    } catch (error) {
      broken.push(name);
      console.log(`BROKEN: ${error instanceof Error ? error.message : String(error)}`);
    }
    console.log(`(${((performance.now() - began) / 1000).toFixed(0)} s)`);
  }
  const left = names.length > 0 ? [] : BENCHMARKS.filter(({ isLong }) => isLong).map(({ name }) => name);
  if (left.length > 0) console.log(`\nThese take long and run only if they are named: ${left.join(", ")}`);
  if (missed.length > 0) console.log(`\nMissed:\n${missed.map((what) => `  ${what}`).join("\n")}`);
  if (broken.length > 0) console.log(`\nBroken: ${broken.join(", ")}`);
  if (missed.length + broken.length === 0) console.log("\nEvery goal was met.");
  return broken.length > 0 ? 1 : 0;
}

process.exitCode = await main(Bun.argv.slice(2));
