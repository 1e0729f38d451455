// Measures reads and turns over a database as large as that of years of use, and what others wait meanwhile.

import { statSync } from "node:fs";
import { join } from "node:path";
import type { Berth } from "../tests/support/berth.ts";
import type { Client } from "../tests/support/client.ts";
import { run, temporaryDir } from "../tests/support/process.ts";
import { type Benchmark, type Figure, median, ms, perSecond, quantile, ratioOf } from "./support/figures.ts";
import { grow, LARGE } from "./support/grow.ts";
import { eachRound, load, rateOf, type Stage } from "./support/load.ts";
import { copyToDisk, dropFromCache } from "./support/page-cache.ts";
import { binary, type Owner, ownerOf, serviceEnv, startService, startUpstream } from "./support/service.ts";
import { watchStalls } from "./support/stalls.ts";
import { warmUp } from "./support/warm-up.ts";
import { messages } from "./turns.ts";

/** Of a read, the first after a start as well; of what others wait meanwhile; shares of what an empty database gives. */
const GOAL = { readMs: 10, stallMs: 20, turns: 0.9, start: 1.1, backup: 2 };
const TURNING_AGENTS = 25;
const BACKUP_MS = 600_000;
/** After which each path is read for the first time, and before which the database is taken out of the page cache. */
const STARTS = 5;
const CONVERSATION = `sess_${(LARGE.conversations - 1).toString(16).padStart(16, "0")}`;

/** What people open first, of an account with thousands of agents and of one agent with a long past. */
const readsOf = (agent: string) => [
  "/api/agents",
  "/api/agents/overview",
  "/api/usage",
  `/api/agents/${agent}/conversations`,
  `/api/agents/${agent}/conversations/${CONVERSATION}/messages`,
  `/api/agents/${agent}/turns`,
  `/api/agents/${agent}/messages`,
  `/api/agents/${agent}/logs`,
  `/api/agents/${agent}/usage`,
  `/api/agents/${agent}/figures`,
  `/api/agents/${agent}/stats`,
  `/api/chat?agentId=${agent}&topic=topic-7`,
  `/api/chat?agentId=${agent}&topic=of-no-message`,
];

export const growth: Benchmark = {
  name: "growth",
  summary: "reads over 100,000 agents, a million messages and five million calls, and what others wait beside them",
  isLong: true,
  async run({ rounds }) {
    const folder = temporaryDir();
    const smallFolder = temporaryDir();
    try {
      await using upstream = await startUpstream();
      await using berth = await startService(upstream, { dir: folder.path });
      const owner = await ownerOf(berth, TURNING_AGENTS);
      await berth.stop();
      const agent = grow(folder.path, { ...LARGE, userId: owner.userId });
      await using small = await startService(upstream, { dir: smallFolder.path });
      const smallOwner = await ownerOf(small, TURNING_AGENTS);
      const starts = await timeStarts(berth, small, rounds);
      const reads = await timeReads(berth, owner.client, readsOf(agent), rounds);
      const others = await turnsBeside({ service: berth, owner }, { service: small, owner: smallOwner }, rounds);
      const backup = await timeBackup(berth, upstream.origin);
      return [...reads, ...backup, others, ...starts].map(({ what, ...figure }) => ({
        what: what.replace(agent, "ID").replace(CONVERSATION, "ID"),
        ...figure,
      }));
    } finally {
      for (const { remove } of [folder, smallFolder]) remove();
    }
  },
};

/** Milliseconds until the service is ready again. */
async function restart(service: Berth, between?: () => Promise<unknown>): Promise<number> {
  await service.stop();
  await between?.();
  const began = performance.now();
  await service.restart();
  return performance.now() - began;
}

/** Starts with the large database beside those with an empty one, and with the large one out of the page cache. */
async function timeStarts(large: Berth, small: Berth, rounds: number): Promise<Figure[]> {
  const [times, smallTimes, coldTimes]: [number[], number[], number[]] = [[], [], []];
  for (let n = 0; n < rounds; n++) {
    smallTimes.push(await restart(small));
    times.push(await restart(large));
    if (n < STARTS) coldTimes.push(await restart(large, () => dropFromCache(fileOf(large))));
  }
  const gain = ratioOf(times, smallTimes);
  return [
    {
      what: "start to ready",
      ...gain,
      figure: ms(median(times)),
      baseline: `${ms(median(smallTimes))} empty`,
      goal: `≤ ${GOAL.start}×`,
      met: gain.ratio <= GOAL.start,
    },
    {
      what: "start to ready, the database read from the disk",
      ...ratioOf(coldTimes, times),
      figure: ms(median(coldTimes)),
      baseline: `${ms(median(times))} from the page cache`,
      goal: "",
    },
  ];
}

const fileOf = ({ dir }: Berth) => join(dir, "data/berth.db");

/** Reads each path once after each of some starts with the database out of the page cache, and then again and again; the loop's longest pause over the reads of the last start. */
async function timeReads(berth: Berth, client: Client, paths: string[], rounds: number): Promise<Figure[]> {
  const read = async (path: string) => {
    const at = performance.now();
    const { status, text } = await client.get(path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 200)}`);
    return performance.now() - at;
  };
  const first = paths.map((): number[] => []);
  const readAll = async () => {
    for (const [n, path] of paths.entries()) first[n]?.push(await read(path));
  };
  for (let n = 1; n < Math.min(STARTS, rounds); n++) {
    await restart(berth, () => dropFromCache(fileOf(berth)));
    await readAll();
  }
  await restart(berth, () => dropFromCache(fileOf(berth)));
  using watch = await watchStalls(berth);
  await readAll();
  const figures: Figure[] = [];
  for (const [n, path] of paths.entries()) {
    const again: number[] = [];
    for (let round = 0; round < rounds; round++) again.push(await read(path));
    figures.push(timed(path, again), timed(`${path}, the first time`, first[n] ?? []));
  }
  return [...figures, watch.figure("worst /healthz while all of them are read", await watch.longest(), GOAL.stallMs)];
}

const timed = (what: string, times: number[]): Figure => ({
  what,
  figure: ms(median(times)),
  baseline: `${ms(quantile(times, 0.25))} to ${ms(quantile(times, 0.75))} of ${times.length}`,
  goal: `≤ ${GOAL.readMs} ms`,
  met: median(times) <= GOAL.readMs,
});

/** A backup beside a copy of the same file, which is the disk's pace. */
async function timeBackup(berth: Berth, upstream: string): Promise<Figure[]> {
  using watch = await watchStalls(berth);
  const file = join(berth.dir, "backup.db");
  const began = performance.now();
  const { exitCode, stderr } = await run([binary, "backup", file], serviceEnv(upstream), berth.dir, BACKUP_MS);
  const took = performance.now() - began;
  if (exitCode !== 0) throw new Error(`The backup failed: ${stderr}`);
  const worst = await watch.longest();
  const copied = await copyToDisk(file, `${file}-copy`);
  const pace = (time: number) => {
    const megabytes = statSync(file).size / 1e6;
    return `${(time / 1000).toFixed(1)} s, ${Math.round(megabytes / (time / 1000))} MB/s`;
  };
  return [
    watch.figure("worst /healthz while the database is backed up", worst, GOAL.stallMs),
    {
      what: "backup",
      ratio: took / copied,
      figure: pace(took),
      baseline: `${pace(copied)} a copy of the file`,
      goal: `≤ ${GOAL.backup}×`,
      met: took <= GOAL.backup * copied,
    },
  ];
}

interface Turning {
  service: Berth;
  owner: Owner;
}

async function turnsBeside(large: Turning, small: Turning, rounds: number): Promise<Figure> {
  const stage = (name: string, { service, owner }: Turning): Stage => ({
    ...{ name, origin: service.web, connections: 50 },
    ...{ asks: messages(owner), seconds: 1, pids: [service.pid] },
  });
  const stages = [stage("large", large), stage("small", small)];
  await warmUp(stages);
  const outcomes = await load({ stages, rounds });
  const [rates, baseline] = [eachRound(outcomes, "large", rateOf), eachRound(outcomes, "small", rateOf)];
  const gain = ratioOf(rates, baseline);
  return {
    what: "turns at c50 of other agents",
    ...gain,
    figure: perSecond(median(rates)),
    baseline: `${perSecond(median(baseline))} over an empty database`,
    goal: `≥ ${GOAL.turns}×`,
    met: gain.ratio >= GOAL.turns,
  };
}
