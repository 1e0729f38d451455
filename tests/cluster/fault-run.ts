// Runs a cluster under load while faults happen, then proves by its history that nothing was lost, doubled or put out of order.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, type Seeded, seeded } from "../support/eventually.ts";
import { CELL_FAULTS } from "./cell-faults.ts";
import { CLOCK_FAULTS } from "./clock-faults.ts";
import { DISK_FAULTS } from "./disk-faults.ts";
import { FAULTS, type Fault, settled } from "./faults.ts";
import {
  checkCalls,
  checkFiles,
  checkPollers,
  checkReplies,
  fencesOf,
  type Interruption,
  ledgersWritten,
} from "./history.ts";
import { allAnswer, isReply, type SignUps, startMessages, startReads, startSignUps } from "./load.ts";
import { NETWORK_FAULTS, SERVER_FAULTS } from "./network-faults.ts";
import { startSpending } from "./spending.ts";
import { startWorld, type World } from "./world.ts";

export interface FaultRun {
  seed: number;
  seconds: number;
  cells?: number;
  nodes?: number;
  natsServers?: number;
  /** Default: all that concern a cluster with so many cells. */
  faults?: readonly Fault[];
  /** Happen once each, in this order, before those that are chosen. */
  steps?: readonly Fault[];
  /** The machines' clocks can be set, and are by some faults. */
  hasClocks?: boolean;
  /** The disks of NATS' servers can be filled and all disks be slow, and are by some faults. */
  hasDisks?: boolean;
  /** Of all machines at the start. Default: `dist/berth`. */
  binary?: string;
  print(line: string): void;
}

export interface FaultReport {
  /** How often each happened, and the longest wait in ms for a reply to a message that was sent then: median, 95 % and longest. */
  faults: Record<string, { times: number; median: number; p95: number; longest: number }>;
  messages: number;
  /** Replies that a platform showed twice, each in transit when a process ended. */
  shownTwice: number;
  /** Calls of the model: that it got, and that are in the ledgers. */
  calls: { asked: number; inLedgers: number };
  /** Of all cells, that were compared in the end. */
  copies: number;
  /** Of all faults. */
  longestWaits: { median: number; p95: number; longest: number };
  /** How often each status came to reads. */
  reads: Record<string, number>;
  /** Of agents with a budget: how often each status came to their callers, and what each may spend and has spent. */
  spending: { statuses: Record<string, number>; budgetUsd: number; usd: number[] };
  /** Accounts that were made while cell 0 lost its owner, and those that were refused. */
  signUps: { made: number; failed: number };
}

interface FaultKinds extends Pick<FaultRun, "natsServers" | "hasClocks" | "hasDisks"> {
  cells: number;
}

export const faultsFor = ({ cells, natsServers = 3, hasClocks, hasDisks }: FaultKinds): readonly Fault[] => [
  ...FAULTS,
  ...NETWORK_FAULTS,
  ...(natsServers > 1 ? SERVER_FAULTS : []),
  ...(cells === 1 ? [] : CELL_FAULTS),
  ...(hasClocks ? CLOCK_FAULTS : []),
  ...(hasDisks ? DISK_FAULTS : []),
];

export async function runFaults(options: FaultRun): Promise<FaultReport> {
  const {
    seed,
    seconds,
    cells = 1,
    nodes = 3,
    natsServers = 3,
    faults = faultsFor({ ...options, cells }),
    print,
  } = options;
  const { steps = [], binary, hasClocks = false, hasDisks = false } = options;
  const random = seeded(seed);
  await using world = await startWorld({
    nodes,
    natsServers,
    cells,
    seed,
    hasClocks,
    hasDisks,
    ...(binary !== undefined && { binary }),
  });
  try {
    return await runUnderLoad({ world, random, seconds, faults, steps, print });
  } catch (error) {
    print(JSON.stringify(await world.cluster.status().catch(String)));
    throw error;
  } finally {
    const folder = mkdtempSync(join(tmpdir(), "berth-cluster-"));
    for (const [n, node] of world.cluster.nodes.entries())
      await Bun.write(join(folder, `node-${n}.log`), node.output().stderr);
    print(`the nodes' logs are in ${folder}`);
  }
}

interface Load {
  world: World;
  random: Seeded;
  seconds: number;
  faults: readonly Fault[];
  steps: readonly Fault[];
  print(line: string): void;
}

async function runUnderLoad({ world, random, seconds, faults, steps, print }: Load): Promise<FaultReport> {
  const { cluster, cells, ways } = world;
  const interruptions: Interruption[] = [];
  /** From its begin until all was well again, in epoch ms. */
  const happened: Interruption[] = [];
  const signUps: SignUps = { made: [], unknown: [] };
  const messages = startMessages(ways);
  const reads = startReads(world);
  const spending = await startSpending(world, seconds);
  const end = performance.now() + seconds * 1_000;
  const toCome = [...steps];
  while (toCome.length > 0 || performance.now() < end) {
    const fault = toCome.shift() ?? choose(faults, random);
    const began = Date.now();
    print(fault.name);
    await fault.run({
      cluster,
      cells,
      random,
      signUps: () => startSignUps(cluster, signUps),
      interrupt() {
        const interruption = { fault: fault.name, from: Date.now(), to: Number.POSITIVE_INFINITY };
        interruptions.push(interruption);
        return () => {
          interruption.to = Date.now();
        };
      },
    });
    const before = messages.total();
    await eventually(async () => (await answered(world)) >= before, {
      timeoutMs: 90_000,
      everyMs: 100,
      what: `all messages are answered after: ${fault.name}`,
    });
    await eventually(() => allAnswer(world), {
      timeoutMs: 60_000,
      everyMs: 250,
      what: `every machine answers for every cell after: ${fault.name}`,
    });
    happened.push({ fault: fault.name, from: began, to: Date.now() });
    print(`  ${((Date.now() - began) / 1000).toFixed(1)} s until all was answered`);
    await settled(world);
    const wrong = [...reads.wrong, ...spending.wrong];
    if (wrong.length > 0) throw new Error(`A request got a wrong answer: ${wrong.join("; ")}`);
    await Bun.sleep(random.integer(0, 1_500));
  }
  await Promise.all([messages.stop(), reads.stop(), spending.stop()]);
  await eventually(async () => (await answered(world)) >= messages.total(), { timeoutMs: 60_000, everyMs: 100 });
  for (const client of signUps.made) await client.signIn();
  await ledgersWritten(world);
  const explained = [...interruptions, ...fencesOf(world)];
  const { shownTwice, waits } = await checkReplies(world, messages, explained);
  await checkPollers(world, explained);
  print(JSON.stringify(await cluster.status()));
  checkCalls(world, waits, explained);
  const { inLedgers, copies, spentUsd } = await checkFiles(world, { messages, signUps, spending }, explained);
  const longest = happened.map(({ fault, from, to }) => ({
    fault,
    ms: Math.max(0, ...waits.filter(({ at }) => at >= from && at <= to).map(({ ms }) => ms)),
  }));
  return {
    faults: Object.fromEntries(
      [...Map.groupBy(longest, ({ fault }) => fault)].map(([fault, all]) => [
        fault,
        { times: all.length, ...spread(all.map(({ ms }) => ms)) },
      ]),
    ),
    messages: messages.total(),
    shownTwice,
    calls: { asked: world.upstream.chats.length, inLedgers },
    copies,
    longestWaits: spread(longest.map(({ ms }) => ms)),
    reads: reads.statuses,
    spending: { statuses: spending.statuses, budgetUsd: spending.budgetUsd, usd: spentUsd },
    signUps: { made: signUps.made.length, failed: signUps.unknown.length },
  };
}

function spread(values: readonly number[]) {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { median: at(0.5), p95: at(0.95), longest: at(1) };
}

function choose(faults: readonly Fault[], random: Seeded): Fault {
  let at = random.integer(
    1,
    faults.reduce((sum, { weight }) => sum + weight, 0),
  );
  for (const fault of faults) {
    at -= fault.weight;
    if (at <= 0) return fault;
  }
  throw new Error("There is no fault.");
}

/** Distinct replies that arrived. */
async function answered({ ways }: World): Promise<number> {
  const replies = await Promise.all(ways.map((way) => way.replies()));
  return new Set(
    replies
      .flat()
      .map(({ text }) => text)
      .filter(isReply),
  ).size;
}
