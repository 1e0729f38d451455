// Tests that a bot stays connected through silence, stuck attempts, failures and late answers, with a scripted adapter.
import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import {
  type Binding,
  type ChannelAdapter,
  ChannelError,
  type Sink,
  type WebhookReceiver,
  type WebhookTarget,
} from "../../../channels/port.ts";
import { channelDefinition } from "../../../channels/registry.ts";
import { loadConfig } from "../../../src/kernel/config/config.ts";
import { openKernel, type RunningKernel } from "../../../src/kernel/kernel.ts";
import { createKeyedQueue } from "../../../src/kernel/util/keyed-queue.ts";
import { eventually, seeded } from "../../../tests/support/eventually.ts";
import { placeMigratedDatabase } from "../../../tests/support/migrated.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import type { Adapters } from "../adapters.ts";
import { createWebhookUrls } from "../webhooks/webhook-urls.ts";
import { backoffDelay, createConnectionLoop, type RetryTiming } from "./connection-loop.ts";
import { createConnectionStates } from "./connection-states.ts";
import { createConnectionStore } from "./connection-store.ts";
import { createOpenConnections } from "./open-connections.ts";
import { createResumePoints } from "./resume-points.ts";
import { createSupervisor } from "./supervisor.ts";

const connect = (bot: { id: string; username: string }) =>
  kernel.database.write([createConnectionStore(kernel).putStatement(AGENT, "channel_a", bot, "token")]);
const OWNER = "01890a5d-ac96-774b-bcce-b302099a8001";
const AGENT = "01890a5d-ac96-774b-bcce-b302099a8002";
const QUICK = { initialDelay: 20, maxDelay: 40, silenceCheckInterval: 5 };

/** One attempt to connect. */
interface Attempt {
  binding: Binding;
  resume: string | undefined;
  sink: Sink;
  signal: AbortSignal;
  fail(error: Error): void;
}

let dir: ReturnType<typeof temporaryDir>;
let kernel: RunningKernel;
let attempts: Attempt[];
let notices: [string, string | null][];
/** Whether the adapter obeys the abort signal. */
let obeys: boolean;
let open: { stop(): Promise<void> }[];

beforeEach(async () => {
  dir = temporaryDir();
  await placeMigratedDatabase(dir.path);
  kernel = await openKernel(loadConfig({ DATA_DIR: dir.path, LOG_LEVEL: "error" }, { cwd: dir.path }));
  [attempts, notices, obeys, open] = [[], [], true, []];
  await kernel.database.write([
    {
      sql: `INSERT INTO users (id, email, name, referral_code, created_at, updated_at) VALUES (?, 'a@b.cd', 'A', 'r', 0, 0)`,
      args: [OWNER],
    },
    {
      sql: `INSERT INTO agents (id, user_id, name, model, status, wanted, subdomain, runtime_version, created_at, updated_at)
        VALUES (?, ?, 'A', 'model_a', 'active', 'up', 'a', '1', 0, 0)`,
      args: [AGENT, OWNER],
    },
  ]);
  await connect({ id: "1", username: "bot" });
});
afterEach(async () => {
  for (const host of open) await host.stop();
  await kernel.close();
  dir.remove();
});

const scripted = (): ChannelAdapter => {
  const unused = () => Promise.reject(new Error("not asked for"));
  return {
    listener: {
      listen(binding, sink, signal) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        if (obeys) signal.addEventListener("abort", () => resolve(), { once: true });
        attempts.push({ binding, resume: binding.resume, sink, signal, fail: reject });
        return promise;
      },
    },
    identify: unused,
    send: unused,
    preview: unused,
    typing: unused,
    fetchFile: unused,
    forget: () => undefined,
  };
};

interface Options {
  silentAfter?: number;
  pace?: Partial<RetryTiming>;
  /** Makes the channel receive by webhook instead of listening. */
  webhook?: WebhookReceiver;
}

/** All parts that keep connections, as one process has them. */
function start({ silentAfter = 60_000, pace = {}, webhook }: Options = {}) {
  const capabilities = { ...channelDefinition("channel_a").capabilities, silenceTimeout: silentAfter };
  const adapter = webhook
    ? ({ adapter: { ...scripted(), webhook }, mode: "webhook", capabilities } as const)
    : ({ adapter: scripted(), mode: "polling", capabilities } as const);
  const adapters: Adapters = { get: () => adapter };
  const { log, config } = kernel;
  const agent = { id: AGENT, userId: OWNER, status: "active" } as const;
  const agents = {
    find: async () => agent as never,
    credentials: { open: async () => "token" } as never,
  };
  const connections = createConnectionStore(kernel);
  const resumePoints = createResumePoints({ log, connections });
  const webhookUrls = createWebhookUrls(config, adapters);
  const connectionStates = createConnectionStates(
    (_, state, failure) => void notices.push([state, failure?.reason ?? null]),
  );
  const openConnections = createOpenConnections({ log, agents, adapters, connections });
  const held = { log, adapters, webhookUrls, connections, openConnections, connectionStates };
  const connectionLoop = createConnectionLoop({
    ...held,
    createSink: (line, reportAlive) => ({
      accept: async () => undefined,
      reportAlive,
      saveResumePoint: (resume) => resumePoints.save(line, resume),
      reportUndelivered: () => Promise.resolve(),
    }),
    timing: { ...QUICK, ...pace },
  });
  const supervisor = createSupervisor({ ...held, agents, connectionLoop, inAgentQueue: createKeyedQueue() });
  const host = {
    settle: () => supervisor.reconcile(AGENT, "connecting"),
    async status() {
      const connection = await connections.find(AGENT, "channel_a");
      if (!connection) throw new Error("no connection");
      return supervisor.statusOf(connection, false);
    },
    async stop() {
      await supervisor.stop();
      await resumePoints.stop();
    },
  };
  open.push(host);
  return host;
}

/** Resolves with the attempt of this number once it is made. */
const attempt = (n: number) => eventually(() => attempts[n]);
const cut = () => new ChannelError("unreachable", "The platform can't be reached.", "bot");

describe("a connection that was ready", () => {
  afterEach(() => void setSystemTime());
  const later = (ms: number) => void setSystemTime(Date.now() + ms);
  /** After two intervals of the silence check, at least one complete check has run. */
  const waitForSilenceCheck = async () => {
    for (let ticks = 0; ticks < 2; ticks++)
      await new Promise((resolve) => setTimeout(resolve, QUICK.silenceCheckInterval));
  };

  test("is retried after too long a silence", async () => {
    const host = start({ silentAfter: 60_000 });
    await host.settle();
    const { sink, signal } = await attempt(0);
    sink.reportAlive();
    later(40_000);
    sink.reportAlive();
    later(40_000);
    await waitForSilenceCheck();
    expect({ ended: signal.aborted, ...(await host.status()) }).toMatchObject({ ended: false, state: "connected" });
    later(30_000);
    const second = await attempt(1);
    expect(signal.aborted).toBe(true);
    expect((await host.status()).lastError).toBe("The platform has been silent for 70 s.");
    second.sink.reportAlive();
    expect((await host.status()).state).toBe("connected");
    expect(notices.map(([state]) => state)).toEqual(["connected", "backing_off", "connected"]);
  });

  test("is retried even if it ignores the abort signal", async () => {
    obeys = false;
    const host = start({ silentAfter: 60_000 });
    await host.settle();
    await attempt(0);
    later(61_000);
    (await attempt(1)).sink.reportAlive();
    expect((await host.status()).state).toBe("connected");
  });

  test("does not delay a stop, even if it ignores the abort signal", async () => {
    obeys = false;
    const host = start();
    await host.settle();
    await attempt(0);
    await host.stop();
    expect(attempts[0]?.signal.aborted).toBe(true);
  });
});

describe("a connection that failed", () => {
  test("shows the time of the next try only while it waits for it", async () => {
    const host = start({ pace: { initialDelay: 400, maxDelay: 400 } });
    await host.settle();
    const before = Date.now();
    (await attempt(0)).fail(cut());
    const status = await eventually(async () => {
      const now = await host.status();
      return now.state === "backing_off" ? now : undefined;
    });
    expect(status.lastError).toBe("The platform can't be reached.");
    expect(status.nextTryAt).toBeGreaterThanOrEqual(before + 200);
    expect(status.nextTryAt).toBeLessThanOrEqual(Date.now() + 400);
    (await attempt(1)).sink.reportAlive();
    expect(Date.now()).toBeGreaterThanOrEqual((status.nextTryAt ?? 0) - 5);
    expect(await host.status()).toMatchObject({ state: "connected", nextTryAt: null });
  });

  test("does not become connected by a report of an ended attempt", async () => {
    const host = start({ pace: { initialDelay: 10_000 } });
    await host.settle();
    const { sink, fail } = await attempt(0);
    sink.saveResumePoint("at 1");
    fail(cut());
    await eventually(async () => (await host.status()).state === "backing_off");
    sink.reportAlive();
    sink.saveResumePoint("at 2");
    expect((await host.status()).state).toBe("backing_off");
    expect(notices.map(([state]) => state)).toEqual(["backing_off"]);
    await host.stop();
    expect((await createConnectionStore(kernel).find(AGENT, "channel_a"))?.resume).toBe("at 1");
  });

  test("causes one notice, however often it is retried", async () => {
    const host = start();
    await host.settle();
    for (const n of [0, 1, 2, 3]) (await attempt(n)).fail(cut());
    (await attempt(4)).sink.reportAlive();
    expect(notices).toEqual([
      ["backing_off", "The platform can't be reached."],
      ["connected", null],
    ]);
  });

  test("by a final refusal is not retried", async () => {
    const host = start({ pace: { initialDelay: 1 } });
    await host.settle();
    (await attempt(0)).fail(new ChannelError("refused", "This token belongs to no bot.", "bot"));
    await eventually(async () => (await host.status()).state === "failed");
    expect(await host.status()).toMatchObject({ lastError: "This token belongs to no bot.", nextTryAt: null });
    await host.settle();
    expect(await host.status()).toMatchObject({ state: "failed" });
    expect(attempts).toHaveLength(1);
  });
});

describe("the registration of a webhook", () => {
  test("is retried if the platform does not answer", async () => {
    const asked: AbortSignal[] = [];
    const register = (_: Binding, __: WebhookTarget, signal: AbortSignal) => {
      asked.push(signal);
      return asked.length === 1 ? new Promise<void>(() => undefined) : Promise.resolve();
    };
    const webhook = { register, unregister: () => Promise.resolve(), receive: () => Promise.reject(new Error("none")) };
    const host = start({ webhook, pace: { registerTimeout: 30 } });
    await host.settle();
    await eventually(async () => (await host.status()).state === "connected");
    expect(asked.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(notices).toEqual([
      ["backing_off", "The platform gave no answer in time."],
      ["connected", null],
    ]);
  });
});

describe("the resume point", () => {
  test("is given to the next attempt", async () => {
    const host = start();
    await host.settle();
    const first = await attempt(0);
    expect(first.resume).toBeUndefined();
    first.sink.saveResumePoint("session 7, message 3");
    first.sink.saveResumePoint("session 7, message 4");
    first.fail(cut());
    expect((await attempt(1)).resume).toBe("session 7, message 4");
  });

  test("is given to the first attempt after a restart", async () => {
    const before = start();
    await before.settle();
    (await attempt(0)).sink.saveResumePoint("session 7, message 4");
    await before.stop();
    const after = start();
    await after.settle();
    expect((await attempt(1)).resume).toBe("session 7, message 4");
  });

  test("is dropped when the bot is replaced", async () => {
    const before = start();
    await before.settle();
    (await attempt(0)).sink.saveResumePoint("session 7, message 4");
    await before.stop();
    await connect({ id: "2", username: "other" });
    await start().settle();
    expect(await attempt(1)).toMatchObject({ resume: undefined, binding: { bot: { id: "2" } } });
  });
});

describe("the delay", () => {
  const pace = {
    initialDelay: 1_000,
    maxDelay: 300_000,
    stableAfter: 60_000,
    silenceCheckInterval: 5_000,
    registerTimeout: 30_000,
  };

  test("doubles up to five minutes, and is never less than half of that", () => {
    const least = [1, 2, 3, 9, 10, 40].map((failures) => backoffDelay(failures, 0, pace, () => 0));
    expect(least).toEqual([500, 1_000, 2_000, 128_000, 150_000, 150_000]);
    expect(backoffDelay(40, 0, pace, () => 0.999)).toBeLessThanOrEqual(300_000);
  });

  test("spreads out the bots of one outage", () => {
    const { next } = seeded(7);
    // After a minute of an outage each has failed about six times.
    const delays = Array.from({ length: 300 }, () => backoffDelay(6, 0, pace, next));
    const perSecond = Map.groupBy(delays, (delay) => Math.floor(delay / 1_000));
    expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(14_000);
    expect(Math.max(...[...perSecond.values()].map(({ length }) => length))).toBeLessThan(40);
  });

  test("is at least what the platform asked for, plus a random part", () => {
    const { next } = seeded(7);
    const delays = Array.from({ length: 100 }, () => backoffDelay(1, 30_000, pace, next));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(30_000);
    expect(new Set(delays).size).toBeGreaterThan(90);
    expect(backoffDelay(1, 100, pace, () => 0)).toBe(500);
  });
});
