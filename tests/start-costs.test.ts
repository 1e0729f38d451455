// What a start loads: modules, functions and objects of the JavaScript heap. Unlike its time, this hardly depends on the machine.

import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";

/**
 * The most that an idle service may hold once it is ready. A feature that nobody has asked for is loaded when somebody does, so
 * it hardly changes these. A change that needs more says in its commit what for; one that needs less lowers them.
 */
const BUDGETS = {
  /** Chunks of the bundle that are loaded. More parts that are loaded late divide the rest into more chunks, which costs next to nothing. */
  modules: 82,
  /** Functions whose code is read. */
  functions: 7_205,
  objects: 85_400,
  heapBytes: 11_500_000,
};

/** The most that stays in memory of the program's own files once the start is over; without dropping them it is above 50 MiB. */
const FILE_BYTES = 28 * 1024 * 1024;

/** Resident memory that is mapped from files, in bytes. */
function fileMemoryOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const field = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, "m").exec(text)?.[1]) * 1024;
  return field("Rss") - field("Anonymous");
}

interface HeapStats {
  heapSize: number;
  objectCount: number;
  objectTypeCounts: Record<string, number>;
}

async function heapOf(berth: Berth): Promise<HeapStats> {
  const file = join(berth.dir, "heap.json");
  rmSync(file, { force: true });
  process.kill(berth.pid, "SIGUSR2");
  await eventually(() => existsSync(file), { what: "a report of the heap" });
  return JSON.parse(readFileSync(file, "utf8"));
}

const startWatched = () =>
  startBerth({
    isAsShipped: true,
    env: {
      BUN_OPTIONS: `--preload=${join(import.meta.dir, "support/heap-report.mjs")}`,
      BERTH_HEAP_REPORT: "heap.json",
    },
  });

test("a start loads no more than it needs", async () => {
  await using berth = await startWatched();
  // The first start makes the database.
  await berth.restart();
  await eventually(async () => (await createClient(berth).get("/readyz")).status === 200);
  const { heapSize, objectCount, objectTypeCounts } = await heapOf(berth);
  const found = {
    modules: objectTypeCounts.ModuleRecord ?? Number.NaN,
    functions: objectTypeCounts.FunctionExecutable ?? Number.NaN,
    objects: objectCount,
    heapBytes: heapSize,
  };
  console.info(`at the start: ${JSON.stringify(found)}`);
  const over = Object.entries(BUDGETS).filter(([name, most]) => !(found[name as keyof typeof found] <= most));
  expect(over.map(([name]) => ({ name, found: found[name as keyof typeof found] }))).toEqual([]);
  await eventually(() => fileMemoryOf(berth.pid) <= FILE_BYTES, { what: "the pages of files to be dropped" });
});
