// What is compared between two binaries, and with a bare program that does the same. Each measure opens a side once and then
// measures it round by round.

import { join } from "node:path";
import { temporaryDir } from "../../tests/support/process.ts";
import { connectBots, converse } from "../delivery.ts";
import { askOf, MODELS, pricedProvider } from "../passthrough.ts";
import { buildBare } from "../support/bare-binary.ts";
import { mib, ms, perSecond } from "../support/figures.ts";
import { type Ask, allGood, load } from "../support/load.ts";
import { cpuOf, cpuOfThreads, memoryOf } from "../support/process-usage.ts";
import { ownerOf, type Program, SECRET_KEY, startBare, startProgram, startService } from "../support/service.ts";
import { freePort, timeStart } from "../support/starting.ts";
import { untilCompiled } from "../support/warm-up.ts";
import { messages } from "../turns.ts";

/** The values of one round, by the names of the measure's figures. */
export type Round = Record<string, number>;

/** One of the two binaries or the bare program, ready to be measured. */
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
  openBare(upstream: Program): Promise<Side>;
}

const CONNECTIONS = 50;
const SECONDS = 0.7;
const IDLE_MS = 5_000;
const BOTS = 50;

/** A running program that answers these requests. */
interface Target {
  pid: number;
  origin: string;
  asks: Ask[];
}

interface Opening {
  upstream: Program;
  /** An empty folder for the data. */
  dir: string;
  /** Ends a program after the measure. */
  use<Used extends AsyncDisposable>(used: Used): Used;
}

/** Measures requests at 50 connections, and one at a time. */
function requestsOf(
  name: string,
  what: string,
  open: (binary: string, opening: Opening) => Promise<Target>,
  openBare: (opening: Opening) => Promise<Target>,
): Measure {
  const side = async (upstream: Program, targetOf: (opening: Opening) => Promise<Target>): Promise<Side> => {
    const used = new AsyncDisposableStack();
    const folder = temporaryDir();
    used.defer(() => folder.remove());
    const target = await targetOf({ upstream, dir: folder.path, use: (program) => used.use(program) });
    const { pid, origin, asks } = target;
    const ask = async (connections: number, seconds: number) =>
      allGood(await load({ stages: [{ name, origin, connections, asks, seconds }], rounds: 1 }), name);
    await untilCompiled(pid, () => ask(CONNECTIONS, SECONDS), `${what} (process ${pid})`);
    return {
      async round() {
        const before = cpuOf(pid);
        const { rate, answers } = await ask(CONNECTIONS, SECONDS);
        const cpu = (cpuOf(pid) - before) / answers;
        const { p50 } = await ask(1, SECONDS / 2);
        return { rate, cpu, alone: p50 };
      },
      [Symbol.asyncDispose]: () => used.disposeAsync(),
    };
  };
  return {
    name,
    figures: {
      rate: { what: `${what} at c${CONNECTIONS}`, isRate: true, text: perSecond },
      cpu: { what: `${what}: processor time`, text: ms },
      alone: { what: `${what} at c1, median`, text: ms },
    },
    open: (binary, upstream) => side(upstream, (opening) => open(binary, opening)),
    openBare: (upstream) => side(upstream, openBare),
  };
}

const addressOf = ({ origin }: Program) => `${origin}/v1/chat/completions`;

const turns = requestsOf(
  "turns",
  "a turn",
  async (binary, { upstream, dir, use }) => {
    const berth = use(await startService(upstream, { dir, binary }));
    return { pid: berth.pid, origin: berth.web, asks: messages(await ownerOf(berth, 25)) };
  },
  async ({ upstream, dir, use }) => {
    const { pid, origin } = use(await startBare("turns", addressOf(upstream), join(dir, "turns.db")));
    return { pid, origin, asks: [{ method: "POST", path: "/", body: { message: "Hello there" } }] };
  },
);

const settings = requestsOf(
  "settings",
  "a signed-in read",
  async (binary, { upstream, dir, use }) => {
    const berth = use(await startService(upstream, { dir, binary }));
    const { headers } = await ownerOf(berth, 0);
    return { pid: berth.pid, origin: berth.web, asks: [{ method: "GET", path: "/api/settings", headers }] };
  },
  async ({ upstream, dir, use }) => {
    await using berth = await startService(upstream, { dir });
    const { text } = await (await ownerOf(berth, 0)).client.get("/api/settings");
    const { pid, origin } = use(await startBare("json", text));
    return { pid, origin, asks: [{ method: "GET", path: "/api/settings" }] };
  },
);

const callsOf = (name: string, what: string, model: string) =>
  requestsOf(
    name,
    what,
    async (binary, { upstream, dir, use }) => {
      const berth = use(await startService(upstream, { dir, binary, env: pricedProvider(upstream) }));
      return { pid: berth.pid, origin: berth.backend, asks: [askOf("/api/ai/chat", model)] };
    },
    async ({ upstream, use }) => {
      const { pid, origin } = use(await startBare("proxy", addressOf(upstream)));
      return { pid, origin, asks: [askOf("/", "fake-small")] };
    },
  );

const deliveries: Measure = {
  name: "delivery",
  figures: {
    rate: { what: `a delivery at ${CONNECTIONS} chats`, isRate: true, text: perSecond },
    cpu: { what: "a delivery: processor time", text: ms },
    alone: { what: "a delivery, one chat, median", text: ms },
  },
  open: (binary, upstream) =>
    conversing(async (dir, platform, use) => {
      const env = { CHANNEL_C_API_ROOT: `${platform.origin}/v25.0` };
      const berth = use(await startService(upstream, { dir, binary, env }));
      await connectBots(await ownerOf(berth, BOTS));
      return { pid: berth.pid, origin: berth.web };
    }),
  openBare: (upstream) =>
    conversing(async (dir, platform, use) =>
      use(await startBare("bots", addressOf(upstream), join(dir, "turns.db"), platform.origin)),
    ),
};

/** Measures conversations with what `open` starts. */
async function conversing(
  open: (dir: string, platform: Program, use: Opening["use"]) => Promise<Omit<Target, "asks">>,
): Promise<Side> {
  const used = new AsyncDisposableStack();
  const folder = temporaryDir();
  used.defer(() => folder.remove());
  const platform = used.use(await startProgram("bench/support/whatsapp-sink.ts"));
  const { pid, origin } = await open(folder.path, platform, (program) => used.use(program));
  const talk = async (chats: number, seconds: number) => {
    const conversed = await converse(platform, origin, chats, seconds);
    if (conversed.lost > 0) throw new Error(`${conversed.lost} messages got no reply.`);
    return conversed;
  };
  await untilCompiled(pid, () => talk(CONNECTIONS, 2 * SECONDS), `a delivery (process ${pid})`);
  return {
    async round() {
      const before = cpuOf(pid);
      const { answered, seconds } = await talk(CONNECTIONS, 2 * SECONDS);
      const cpu = (cpuOf(pid) - before) / answered;
      const { p50 } = await talk(1, SECONDS);
      return { rate: answered / seconds, cpu, alone: p50 };
    },
    [Symbol.asyncDispose]: () => used.disposeAsync(),
  };
}

type Start = () => ReturnType<typeof timeStart>;

/** Starts a program again and again in the same folder, and measures each start. The first one is not measured. */
async function starting(
  open: (dir: string, used: AsyncDisposableStack) => Promise<Start>,
  measure: (started: Awaited<ReturnType<Start>>) => Round | Promise<Round>,
): Promise<Side> {
  const used = new AsyncDisposableStack();
  const folder = temporaryDir();
  used.defer(() => folder.remove());
  const start = await open(folder.path, used);
  await (await start()).stop();
  return {
    async round() {
      const started = await start();
      try {
        return await measure(started);
      } finally {
        await started.stop();
      }
    },
    [Symbol.asyncDispose]: () => used.disposeAsync(),
  };
}

const startOf = (binary: string) => async (dir: string) => async () => {
  const port = await freePort();
  const env = { SECRET_KEY, PORT: String(port), BACKEND_PORT: String(await freePort()) };
  return timeStart([binary, "serve"], { env, dir, port, paths: ["/healthz", "/readyz"] });
};

/** The bare binary is ready at once: it answers any path. */
async function startOfBare(_: string, used: AsyncDisposableStack): Promise<Start> {
  const bare = await buildBare();
  used.defer(() => bare.remove());
  return async () => {
    const port = await freePort();
    return timeStart(bare.command(port), { dir: bare.dir, port, paths: ["/healthz", "/readyz"] });
  };
}

const timesOf = ({ took, pid }: Awaited<ReturnType<Start>>): Round => ({
  healthz: took["/healthz"] ?? Number.NaN,
  readyz: took["/readyz"] ?? Number.NaN,
  cpu: cpuOfThreads(pid),
});

const start: Measure = {
  name: "start",
  figures: {
    healthz: { what: "start to /healthz", text: ms },
    readyz: { what: "start to /readyz", text: ms },
    cpu: { what: "start: processor time until ready", text: ms },
  },
  open: (binary) => starting(startOf(binary), timesOf),
  openBare: () => starting(startOfBare, timesOf),
};

async function idleMemory({ pid }: Awaited<ReturnType<Start>>): Promise<Round> {
  await Bun.sleep(IDLE_MS);
  const { rss, own } = memoryOf(pid);
  return { rss, own };
}

const memory: Measure = {
  name: "rss",
  figures: {
    rss: { what: "RSS, idle", text: mib },
    own: { what: "RSS, idle: its own (not mapped from files)", text: mib },
  },
  atMost: 5,
  open: (binary) => starting(startOf(binary), idleMemory),
  openBare: () => starting(startOfBare, idleMemory),
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
