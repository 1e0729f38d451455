// Keeps one bot connected: connects, watches for silence, and retries with growing delays until it is stopped or
// refused.
import { setTimeout as sleep } from "node:timers/promises";
import { ChannelError, type Sink, type WebhookTarget } from "../../../channels/port.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { Adapters } from "../adapters.ts";
import type { WebhookUrls } from "../webhooks/webhook-urls.ts";
import type { ConnectionFailure, ConnectionStates, TrackedConnection } from "./connection-states.ts";
import type { ConnectionStore } from "./connection-store.ts";
import type { OpenConnection, OpenConnections } from "./open-connections.ts";

/** Milliseconds. */
export interface RetryTiming {
  initialDelay: number;
  maxDelay: number;
  /** After a connection of this duration the delays start from the shortest again. */
  stableAfter: number;
  /** The interval at which connections are checked for silence. */
  silenceCheckInterval: number;
  /** The time after which the registration of a webhook is retried. */
  registerTimeout: number;
}

const DEFAULT_RETRY_TIMING: RetryTiming = {
  initialDelay: 1_000,
  maxDelay: 5 * MINUTE,
  stableAfter: MINUTE,
  silenceCheckInterval: 5_000,
  registerTimeout: 30_000,
};

export interface ConnectionLoop {
  /** Runs until the connection is aborted, refused, or registered. Never rejects. */
  run(tracked: TrackedConnection): Promise<void>;
  stop(): void;
}

interface Deps extends Pick<Kernel, "log"> {
  adapters: Adapters;
  webhookUrls: WebhookUrls;
  connections: Pick<ConnectionStore, "setRegistration">;
  openConnections: Pick<OpenConnections, "find">;
  connectionStates: ConnectionStates;
  createSink(openConnection: OpenConnection, reportAlive: () => void): Sink;
  timing?: Partial<RetryTiming> | undefined;
  /** In [0, 1). */
  random?: (() => number) | undefined;
}

/**
 * Milliseconds until the next try after so many failures in a row: doubled for each, and random between half and all of
 * that, so that the bots of one outage do not reconnect at once. A longer delay that the platform asked for is kept, plus
 * a random part.
 */
export function backoffDelay(
  consecutiveFailures: number,
  retryAfter: number,
  timing: RetryTiming,
  random: () => number,
): number {
  const cap = Math.min(timing.maxDelay, timing.initialDelay * 2 ** Math.min(consecutiveFailures - 1, 20));
  const delay = cap * (0.5 + random() / 2);
  return retryAfter > delay ? retryAfter + random() * timing.initialDelay : delay;
}

export function createConnectionLoop(deps: Deps): ConnectionLoop {
  const {
    log,
    adapters,
    webhookUrls,
    connections,
    openConnections,
    connectionStates,
    createSink,
    random = Math.random,
  } = deps;
  const timing = { ...DEFAULT_RETRY_TIMING, ...deps.timing };
  let silenceTimer: Timer | undefined;

  async function runUntilEnded(tracked: TrackedConnection): Promise<void> {
    const { signal } = tracked.abortController;
    while (!signal.aborted) {
      try {
        if (await attempt(tracked, signal)) return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ChannelError && error.kind === "refused")
          return connectionStates.transition(tracked, "failed", { problem: "refused", reason: error.message });
        await backOff(tracked, error, signal);
      }
    }
  }

  /** Makes one attempt; true if nothing is left to do. */
  async function attempt(tracked: TrackedConnection, signal: AbortSignal): Promise<boolean> {
    const { agentId, channel, registeredBase } = tracked.connection;
    const openConnection = await openConnections.find(agentId, channel);
    if (openConnection?.connection.callbackId !== tracked.connection.callbackId) {
      throw new ChannelError("refused", "The stored token is not this bot's. Connect the channel again.", "bot");
    }
    const { callbackId } = openConnection.connection;
    // Written before the platform is called, so that the next start notices a crash in between.
    if (registeredBase !== null) await connections.setRegistration(callbackId, null, null);
    if (openConnection.mode !== "webhook") return listen(tracked, openConnection, signal);
    const base = webhookUrls.registrationBase(channel);
    const { secret } = openConnection;
    await register(openConnection, { url: webhookUrls.urlOf(openConnection.connection, secret), secret }, signal);
    await connections.setRegistration(callbackId, base, Date.now());
    connectionStates.transition(tracked, "connected", null);
    connectionStates.drop(tracked);
    return true;
  }

  async function register(
    { adapter, binding }: OpenConnection,
    target: WebhookTarget,
    signal: AbortSignal,
  ): Promise<void> {
    const ending = new AbortController();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(new ChannelError("unreachable", "The platform gave no answer in time.", "bot"));
      ending.abort();
    }, timing.registerTimeout);
    try {
      const registration = adapter.webhook?.register(binding, target, AbortSignal.any([signal, ending.signal]));
      await Promise.race([registration, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Holds a connection until it is stopped, fails, or is silent for too long. */
  async function listen(
    tracked: TrackedConnection,
    openConnection: OpenConnection,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { listener } = openConnection.adapter;
    if (!listener) throw new ChannelError("refused", "Berth can't listen on this channel.", "bot");
    const ending = new AbortController();
    const dead = Promise.withResolvers<never>();
    // It may reject when nothing awaits it any more.
    dead.promise.catch(() => undefined);
    let hasEnded = false;
    tracked.failAttempt = (reason) => {
      dead.reject(reason);
      ending.abort();
    };
    const sink = createSink(openConnection, () => {
      if (ending.signal.aborted) return;
      tracked.lastAliveAt = Date.now();
      connectionStates.transition(tracked, "connected", null);
    });
    // The resume point is accepted until the attempt has ended, but not after that.
    const attemptSink: Sink = {
      ...sink,
      saveResumePoint: (resume) => (hasEnded ? undefined : sink.saveResumePoint(resume)),
    };
    const end = () => ending.abort();
    signal.addEventListener("abort", end, { once: true });
    tracked.lastAliveAt = Date.now();
    silenceTimer ??= setInterval(endSilentAttempts, timing.silenceCheckInterval).unref();
    try {
      // A hung listener may ignore the abort signal, so race it.
      await Promise.race([listener.listen(openConnection.binding, attemptSink, ending.signal), dead.promise]);
    } finally {
      hasEnded = true;
      ending.abort();
      signal.removeEventListener("abort", end);
      delete tracked.failAttempt;
    }
    if (!signal.aborted) throw new ChannelError("unreachable", "The connection ended.", "bot");
    return true;
  }

  /** Fails the attempts that are silent for longer than a working connection can be, so that they are retried. */
  function endSilentAttempts(): void {
    const now = Date.now();
    for (const { connection, lastAliveAt, failAttempt } of connectionStates.all()) {
      const silentAfter = adapters.get(connection.channel).capabilities.silenceTimeout;
      if (!failAttempt || silentAfter === undefined || now - lastAliveAt < silentAfter) continue;
      const seconds = Math.round((now - lastAliveAt) / 1000);
      failAttempt(new ChannelError("unreachable", `The platform has been silent for ${seconds} s.`, "bot"));
    }
  }

  async function backOff(tracked: TrackedConnection, error: unknown, signal: AbortSignal): Promise<void> {
    const { status } = tracked;
    const wasStable = status.state === "connected" && Date.now() - status.since > timing.stableAfter;
    tracked.consecutiveFailures = wasStable ? 1 : tracked.consecutiveFailures + 1;
    const retryAfter = error instanceof ChannelError ? (error.retryAfter ?? 0) : 0;
    const delay = backoffDelay(tracked.consecutiveFailures, retryAfter, timing, random);
    if (!(error instanceof ChannelError)) log.error("connecting a channel failed", { error });
    const failure: ConnectionFailure =
      error instanceof ChannelError
        ? { problem: error.kind, reason: error.message }
        : { problem: "internal", reason: "Berth could not serve this channel." };
    connectionStates.transition(tracked, "backing_off", failure, Date.now() + delay);
    // Only an abort rejects.
    await sleep(delay, undefined, { signal, ref: false }).catch(() => undefined);
  }

  return {
    async run(tracked) {
      try {
        await runUntilEnded(tracked);
      } catch (error) {
        log.error("a connection loop failed", { agentId: tracked.connection.agentId, error });
      }
    },
    stop: () => clearInterval(silenceTimer),
  };
}
