// Runs a cluster under load while faults happen, then proves by its history that nothing was lost, doubled or put out of order.
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { eventually, seeded } from "../support/eventually.ts";
import { member, provision } from "../support/members.ts";
import { type SpawnedTelegram, spawnTelegram } from "../support/telegram-control.ts";
import { startUpstream } from "../support/upstream.ts";
import { compareCopies, contentsOf } from "./copies.ts";
import { FAULTS, type Fault, settled } from "./faults.ts";

export interface FaultRun {
  seed: number;
  seconds: number;
  nodes?: number;
  natsServers?: number;
  faults?: readonly Fault[];
  print(line: string): void;
}

export interface FaultReport {
  faults: Record<string, number>;
  messages: number;
  /** Replies that a platform showed twice, each in transit when a process ended. */
  shownTwice: number;
  /** Milliseconds from a fault until all that had been sent before it was answered. */
  recoveryMs: number[];
}

const AGENTS = 4;
const CHATS = 40;
/** Milliseconds between two messages. */
const PACE_MS = 40;
/** How long, in ms, a send can be on its way when its process ends or is cut off. */
const IN_FLIGHT_MS = 1_000;
/** After a process goes on, or NATS is back: until who was cut off knows it. */
const CUT_OFF_MS = 1_000;

/** A time in which processes ended or were cut off. */
interface Interruption {
  fault: string;
  /** Epoch ms. */
  from: number;
  to: number;
}

const tokens = Array.from(
  { length: AGENTS },
  (_, n) => `${100_000 + n}:${"cluster-test-token-of-a-bot".padEnd(35, "x")}`,
);
const tokenOf = (chat: number) => tokens[chat % AGENTS] ?? "";
/** Texts are unique and the provider echoes them, so a reply identifies its message. */
const textOf = (chat: number, n: number) => `message ${n} of chat ${chat}`;

export async function runFaults({
  seed,
  seconds,
  nodes = 3,
  natsServers = 3,
  faults = FAULTS,
  print,
}: FaultRun): Promise<FaultReport> {
  const random = seeded(seed);
  const upstream = await startUpstream();
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: random.integer(0, 60) }));
  await using telegram = await spawnTelegram("--latency-ms", "5");
  await telegram.addBots(tokens.map((token) => ({ token })));
  await using cluster = await startCluster({
    nodes,
    natsServers,
    env: {
      CHANNEL_A_API_ROOT: telegram.url,
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:fake-small",
      RATE_LIMITS: "off",
    },
  });
  const owner = await member(cluster, "enterprise");
  for (const [n, token] of tokens.entries()) {
    const { id } = await provision(owner, `Agent ${n}`, { channels: { channel_a: { access: "open" } } });
    const { status, text } = await owner.put(`/api/agents/${id}/channels/channel_a`, { token });
    if (status !== 200) throw new Error(`The bot could not be connected: ${text}`);
  }
  await settled(cluster);

  try {
    return await runUnderLoad({ cluster, telegram, random, seconds, faults, print });
  } catch (error) {
    print(JSON.stringify(await cluster.status().catch(String)));
    throw error;
  } finally {
    const folder = mkdtempSync(join(tmpdir(), "berth-cluster-"));
    for (const [n, node] of cluster.nodes.entries())
      await Bun.write(join(folder, `node-${n}.log`), node.output().stderr);
    print(`the nodes' logs are in ${folder}`);
    await upstream.stop();
  }
}

interface Load {
  cluster: Cluster;
  telegram: SpawnedTelegram;
  random: ReturnType<typeof seeded>;
  seconds: number;
  faults: readonly Fault[];
  print(line: string): void;
}

async function runUnderLoad({ cluster, telegram, random, seconds, faults, print }: Load): Promise<FaultReport> {
  const interruptions: Interruption[] = [];
  const load = startLoad(telegram);
  const report: FaultReport = { faults: {}, messages: 0, shownTwice: 0, recoveryMs: [] };
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    const fault = choose(faults, random);
    const began = performance.now();
    report.faults[fault.name] = (report.faults[fault.name] ?? 0) + 1;
    await fault.run({
      cluster,
      random,
      interrupt() {
        const interruption = { fault: fault.name, from: Date.now(), to: Number.POSITIVE_INFINITY };
        interruptions.push(interruption);
        return () => {
          interruption.to = Date.now();
        };
      },
    });
    const before = load.sent();
    await eventually(async () => (await answered(telegram)) >= before, {
      timeoutMs: 90_000,
      everyMs: 100,
      what: `all messages are answered after: ${fault.name}`,
    });
    report.recoveryMs.push(Math.round(performance.now() - began));
    print(`${fault.name}: ${((performance.now() - began) / 1000).toFixed(1)} s until all was answered`);
    await settled(cluster);
    await Bun.sleep(random.integer(0, 1_500));
  }
  const counts = await load.stop();
  report.messages = counts.reduce((sum, count) => sum + count, 0);
  await eventually(async () => (await answered(telegram)) >= report.messages, { timeoutMs: 60_000, everyMs: 100 });
  report.shownTwice = await checkReplies(telegram, counts, interruptions);
  await checkCopies(cluster, counts, print);
  return report;
}

function choose(faults: readonly Fault[], random: ReturnType<typeof seeded>): Fault {
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
async function answered(telegram: SpawnedTelegram): Promise<number> {
  const sent = await Promise.all(tokens.map((token) => telegram.sent(token)));
  return new Set(sent.flat().map(({ text }) => text)).size;
}

/** Sends messages of all chats in turn, until it is stopped; returns how many each chat has sent. */
function startLoad(telegram: SpawnedTelegram) {
  const counts = Array.from({ length: CHATS }, () => 0);
  let isOver = false;
  let total = 0;
  const running = (async () => {
    for (let n = 0; !isOver; n++) {
      const chat = n % CHATS;
      const number = counts[chat] ?? 0;
      await telegram.userSays(tokenOf(chat), 1_000 + chat, textOf(chat, number));
      counts[chat] = number + 1;
      total++;
      await Bun.sleep(PACE_MS);
    }
  })();
  return {
    sent: () => total,
    async stop() {
      isOver = true;
      await running;
      return counts;
    },
  };
}

/** Every reply came, in the order of its chat; one that came twice was on its way when a process was interrupted. */
async function checkReplies(
  telegram: SpawnedTelegram,
  counts: readonly number[],
  interruptions: readonly Interruption[],
): Promise<number> {
  let twice = 0;
  for (const [chat, count] of counts.entries()) {
    const sent = await telegram.sent(tokenOf(chat), 1_000 + chat);
    const firsts = sent.filter(({ text }, at) => sent.findIndex((other) => other.text === text) === at);
    const expected = Array.from({ length: count }, (_, n) => `echo: ${textOf(chat, n)}`);
    const found = firsts.map(({ text }) => text);
    if (found.join("\n") !== expected.join("\n")) {
      const at = expected.findIndex((text, n) => found[n] !== text);
      throw new Error(
        `Chat ${chat} got "${found[at]}" where "${expected[at]}" was expected (${found.length} of ${count}).`,
      );
    }
    for (const again of sent.filter((message) => !firsts.includes(message))) {
      twice++;
      const first = firsts.find(({ text }) => text === again.text);
      const at = first?.at ?? 0;
      const isExplained = interruptions.some(({ from, to }) => at >= from - IN_FLIGHT_MS && at <= to + CUT_OFF_MS);
      if (isExplained) continue;
      const nearest = interruptions.toSorted((a, b) => Math.abs(a.from - at) - Math.abs(b.from - at))[0];
      throw new Error(
        `"${again.text}" was shown at ${at} and at ${again.at}, and nothing had interrupted its send: ${JSON.stringify(nearest)}`,
      );
    }
  }
  return twice;
}

/** Each message was settled once, and all copies have the same contents at the same place of the log. */
async function checkCopies(cluster: Cluster, counts: readonly number[], print: Load["print"]): Promise<void> {
  const messages = counts.reduce((sum, count) => sum + count, 0);
  await cluster.followed();
  print(JSON.stringify(await cluster.status()));
  await Promise.all(cluster.nodes.map((node) => node.kill()));
  const files = cluster.nodes.map((node) => `${node.dir}/data/berth.db`);
  // A node that was never first in line has no copy.
  const copies = files.filter((file) => existsSync(file)).map(contentsOf);
  if (copies.length < 2) throw new Error("There are not two copies to compare.");
  const [newest] = copies.toSorted((a, b) => b.number - a.number);
  if (!newest) throw new Error("There is no copy.");
  const expected = {
    inbox: messages,
    done: messages,
    answers: messages,
    distinctAnswers: messages,
    sent: messages,
  };
  if (JSON.stringify(newest.counts) !== JSON.stringify(expected))
    throw new Error(`Expected ${JSON.stringify(expected)}, found ${JSON.stringify(newest.counts)}.`);
  compareCopies(copies);
}
