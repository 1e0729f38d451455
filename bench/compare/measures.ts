// What is compared between two binaries. Each measure opens a binary once and then measures it round by round.

import { temporaryDir } from "../../tests/support/process.ts";
import { connectBots, converse } from "../delivery.ts";
import { askOf, MODELS, pricedProvider } from "../passthrough.ts";
import { mib, ms, perSecond } from "../support/figures.ts";
import { type Ask, allGood, load } from "../support/load.ts";
import { cpuOf, memoryOf, ownerOf, type Program, SECRET_KEY, startProgram, startService } from "../support/service.ts";
import { freePort, timeStart } from "../support/starting.ts";
import { untilCompiled } from "../support/warm-up.ts";
import { messages } from "../turns.ts";

/** The values of one round, by the names of the measure's figures. */
export type Round = Record<string, number>;

/** One of the two binaries, ready to be measured. */
export interface Side extends AsyncDisposable {
  round(): Promise<Round>;
}

export interface ComparedFigure {
  what: string;
  /** Whether a larger value is better. */
  isRate?: true;
  text(value: number): string;
}

export interface Measure {
  name: string;
  figures: Record<string, ComparedFigure>;
  /** Number of rounds, where those of the command would take too long. */
  atMost?: number;
  open(binary: string, upstream: Program): Promise<Side>;
}

const CONNECTIONS = 50;
const SECONDS = 0.7;
const IDLE_MS = 5_000;
const BOTS = 50;

/** A running service that answers these requests. */
interface Target extends AsyncDisposable {
  pid: number;
  origin: string;
  asks: Ask[];
}

/** Measures requests at 50 connections, and one at a time. */
function requestsOf(
  name: string,
  what: string,
  open: (upstream: Program, binary: string, dir: string) => Promise<Target>,
): Measure {
  return {
    name,
    figures: {
      rate: { what: `${what} at c${CONNECTIONS}`, isRate: true, text: perSecond },
      cpu: { what: `${what}: processor time`, text: ms },
      alone: { what: `${what} at c1, median`, text: ms },
    },
    async open(binary, upstream) {
      const folder = temporaryDir();
      const target = await open(upstream, binary, folder.path);
      const { pid, origin, asks } = target;
      const ask = async (connections: number, seconds: number) =>
        allGood(await load({ stages: [{ name, origin, connections, asks, seconds }], rounds: 1 }), name);
      await untilCompiled(pid, () => ask(CONNECTIONS, SECONDS));
      return {
        async round() {
          const before = cpuOf(pid);
          const { rate, answers } = await ask(CONNECTIONS, SECONDS);
          const cpu = (cpuOf(pid) - before) / answers;
          const { p50 } = await ask(1, SECONDS / 2);
          return { rate, cpu, alone: p50 };
        },
        async [Symbol.asyncDispose]() {
          await target[Symbol.asyncDispose]();
          folder.remove();
        },
      };
    },
  };
}

const turns = requestsOf("turns", "a turn", async (upstream, binary, dir) => {
  const berth = await startService(upstream, { dir, binary });
  const owner = await ownerOf(berth, 25);
  return {
    pid: berth.pid,
    origin: berth.web,
    asks: messages(owner),
    [Symbol.asyncDispose]: () => berth[Symbol.asyncDispose](),
  };
});

const settings = requestsOf("settings", "a signed-in read", async (upstream, binary, dir) => {
  const berth = await startService(upstream, { dir, binary });
  const { headers } = await ownerOf(berth, 0);
  return {
    pid: berth.pid,
    origin: berth.web,
    asks: [{ method: "GET", path: "/api/settings", headers }],
    [Symbol.asyncDispose]: () => berth[Symbol.asyncDispose](),
  };
});

const callsOf = (name: string, what: string, model: string) =>
  requestsOf(name, what, async (upstream, binary, dir) => {
    const berth = await startService(upstream, { dir, binary, env: pricedProvider(upstream) });
    return {
      pid: berth.pid,
      origin: berth.backend,
      asks: [askOf("/api/ai/chat", model)],
      [Symbol.asyncDispose]: () => berth[Symbol.asyncDispose](),
    };
  });

const deliveries: Measure = {
  name: "delivery",
  figures: {
    rate: { what: `a delivery at ${CONNECTIONS} chats`, isRate: true, text: perSecond },
    cpu: { what: "a delivery: processor time", text: ms },
    alone: { what: "a delivery, one chat, median", text: ms },
  },
  async open(binary, upstream) {
    const folder = temporaryDir();
    const platform = await startProgram("bench/support/whatsapp-sink.ts");
    const env = { CHANNEL_C_API_ROOT: `${platform.origin}/v25.0` };
    const berth = await startService(upstream, { dir: folder.path, binary, env });
    await connectBots(await ownerOf(berth, BOTS));
    const talk = async (chats: number, seconds: number) => {
      const conversed = await converse(platform, berth.web, chats, seconds);
      if (conversed.lost > 0) throw new Error(`${conversed.lost} messages got no reply.`);
      return conversed;
    };
    await untilCompiled(berth.pid, () => talk(CONNECTIONS, 2 * SECONDS));
    return {
      async round() {
        const before = cpuOf(berth.pid);
        const { answered, seconds } = await talk(CONNECTIONS, 2 * SECONDS);
        const cpu = (cpuOf(berth.pid) - before) / answered;
        const { p50 } = await talk(1, SECONDS);
        return { rate: answered / seconds, cpu, alone: p50 };
      },
      async [Symbol.asyncDispose]() {
        await berth[Symbol.asyncDispose]();
        await platform[Symbol.asyncDispose]();
        folder.remove();
      },
    };
  },
};

/** Starts the binary again and again in the same folder. */
async function startIn(binary: string, dir: string) {
  const port = await freePort();
  const env = { SECRET_KEY, PORT: String(port), BACKEND_PORT: String(await freePort()) };
  return timeStart([binary, "serve"], { env, dir, port, paths: ["/healthz", "/readyz"] });
}

const start: Measure = {
  name: "start",
  figures: {
    healthz: { what: "start to /healthz", text: ms },
    readyz: { what: "start to /readyz", text: ms },
    cpu: { what: "start: processor time until ready", text: ms },
  },
  async open(binary) {
    const folder = temporaryDir();
    await (await startIn(binary, folder.path)).stop();
    return {
      async round() {
        const started = await startIn(binary, folder.path);
        const cpu = cpuOf(started.pid);
        await started.stop();
        return { healthz: started.took["/healthz"] ?? 0, readyz: started.took["/readyz"] ?? 0, cpu };
      },
      [Symbol.asyncDispose]: async () => folder.remove(),
    };
  },
};

const memory: Measure = {
  name: "rss",
  figures: {
    rss: { what: "RSS, idle", text: mib },
    own: { what: "RSS, idle: its own (not mapped from files)", text: mib },
  },
  atMost: 5,
  async open(binary) {
    const folder = temporaryDir();
    await (await startIn(binary, folder.path)).stop();
    return {
      async round() {
        const started = await startIn(binary, folder.path);
        await Bun.sleep(IDLE_MS);
        const { rss, own } = memoryOf(started.pid);
        await started.stop();
        return { rss, own };
      },
      [Symbol.asyncDispose]: async () => folder.remove(),
    };
  },
};

export const MEASURES: readonly Measure[] = [
  start,
  memory,
  settings,
  callsOf("free", "a call, local provider", MODELS.free),
  callsOf("priced", "a call, priced provider", MODELS.priced),
  turns,
  deliveries,
];
