// What a start loads: modules, their bytecode, functions and objects of the JavaScript heap. Unlike its time, this hardly depends on the machine.

import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import { bytecodeSizes } from "./support/bundle.ts";
import { createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { bun, launch, temporaryDir } from "./support/process.ts";

/**
 * The most that an idle service may hold once it is ready. A feature that nobody has asked for is loaded when somebody does, so
 * it hardly changes these. A change that needs more says in its commit what for; one that needs less lowers them.
 */
const BUDGETS = {
  /** Chunks of the bundle that are loaded. More parts that are loaded late divide the rest into more chunks, which costs next to nothing. */
  modules: 82,
  /** Functions whose code is read. */
  functions: 7_226,
  objects: 85_600,
  heapBytes: 11_620_000,
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

/**
 * The most bytes of bytecode, of all chunks that are loaded: the loader reads them, and the engine decodes what runs of them.
 * They depend on the source and the version of Bun alone.
 */
const BYTECODE_BYTES = {
  /** `/healthz` is answered as soon as the ports are bound. */
  beforePorts: 380_000,
  beforeReady: 6_190_000,
};

test("a start reads little code before it binds its ports, and no more than it needs before it is ready", async () => {
  await using berth = await startBerth({
    isAsShipped: true,
    env: {
      BUN_OPTIONS: `--preload=${join(import.meta.dir, "support/loaded-modules.mjs")}`,
      ...{ BERTH_LOADED_MODULES: "modules.json", BERTH_LOADED_BEFORE_PORTS: "before-ports.json" },
    },
  });
  // The first start makes the database.
  await berth.restart();
  await eventually(async () => (await createClient(berth).get("/readyz")).status === 200);
  process.kill(berth.pid, "SIGUSR2");
  await eventually(() => existsSync(join(berth.dir, "modules.json")), { what: "the list of modules" });
  const sizes = bytecodeSizes(join(import.meta.dir, "../dist/berth"));
  const bytesOf = (list: string) => {
    const paths: string[] = JSON.parse(readFileSync(join(berth.dir, list), "utf8"));
    const own = paths.filter((path) => path.startsWith("/$bunfs/"));
    expect(own.filter((path) => !sizes.has(path))).toEqual([]);
    return own.reduce((sum, path) => sum + (sizes.get(path) ?? 0), 0);
  };
  const found = { beforePorts: bytesOf("before-ports.json"), beforeReady: bytesOf("modules.json") };
  console.info(`bytecode: ${JSON.stringify(found)}`);
  // The entry at least; none would mean that the lists name other paths than the binary.
  expect(found.beforePorts).toBeGreaterThan(10_000);
  expect(found.beforePorts).toBeLessThanOrEqual(BYTECODE_BYTES.beforePorts);
  expect(found.beforeReady).toBeLessThanOrEqual(BYTECODE_BYTES.beforeReady);
});

/** Of src/cluster, a service that is alone needs these, to know that it is alone. */
const SETTINGS = ["nats/nats-address.ts", "settings.ts"];

/** From the source: in the binary, modules are parts of chunks without names. */
test("without CLUSTER_URL, no module of NATS is loaded, and of the cluster's code its settings alone", async () => {
  const root = join(import.meta.dir, "..");
  const { path: dir, remove } = temporaryDir();
  const service = launch({
    command: [bun, join(root, "src/server/main.ts"), "serve", "--ready-fd", "3"],
    dir,
    env: {
      ...{ PORT: "0", BACKEND_PORT: "0", RTMP_PORT: "0" },
      BUN_OPTIONS: `--preload=${join(import.meta.dir, "support/loaded-modules.mjs")}`,
      BERTH_LOADED_MODULES: "modules.json",
    },
    ready: "fd3",
  });
  try {
    const { web } = JSON.parse(await service.ready(60_000)) as { web: string };
    await eventually(async () => (await createClient(web).get("/readyz")).status === 200);
    service.signal("SIGUSR2");
    const file = join(dir, "modules.json");
    await eventually(() => existsSync(file), { what: "the list of modules" });
    const loaded: string[] = JSON.parse(readFileSync(file, "utf8"));
    expect(loaded).toContain(join(root, "src/kernel/config/config.ts"));
    expect(loaded.filter((path) => path.includes("/@nats-io/"))).toEqual([]);
    const folder = join(root, "src/cluster/");
    const ofCluster = loaded.filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length));
    expect(ofCluster.sort()).toEqual(SETTINGS);
  } finally {
    service.signal("SIGKILL");
    await service.exited;
    remove();
  }
});
