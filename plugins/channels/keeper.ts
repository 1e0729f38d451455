// Keeps one bot connected: made, held, watched, and tried again with growing delays, until it is ended or refused for good.
import { setTimeout as sleep } from "node:timers/promises";
import { type Callback, ChannelError, type Sink } from "../../channels/channel.ts";
import type { Kernel } from "../../src/plugin.ts";
import type { Adapters } from "./adapters.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Connections } from "./connections.ts";
import type { Line, Lines } from "./lines.ts";
import type { Link, Links } from "./links.ts";

/** Milliseconds. */
export interface Pace {
  firstDelay: number;
  longestDelay: number;
  /** A connection that held for so long begins anew with the shortest delay. */
  steady: number;
  /** How often connections are looked at that say nothing. */
  lookEvery: number;
  /** A platform that has not said by then whether it will post to us is asked again. */
  registerWithin: number;
}

const PACE: Pace = {
  firstDelay: 1_000,
  longestDelay: 5 * 60_000,
  steady: 60_000,
  lookEvery: 5_000,
  registerWithin: 30_000,
};

export interface Keeper {
  /** Until the link is aborted, refused, or registered. Never rejects. */
  keep(link: Link): Promise<void>;
  stop(): void;
}

interface Deps extends Pick<Kernel, "log"> {
  adapters: Adapters;
  callbacks: Callbacks;
  connections: Pick<Connections, "registered">;
  lines: Pick<Lines, "of">;
  links: Links;
  sinkOf(line: Line, alive: () => void): Sink;
  pace?: Partial<Pace> | undefined;
  /** In [0, 1). */
  random?: (() => number) | undefined;
}

/**
 * Milliseconds until a connection is tried again that failed so often in a row: doubled each time, and between half of
 * that and all of it, so that those whom one outage ended don't come back in one moment. What the platform asked for is
 * kept to, and spread out beyond.
 */
export function delayAfter(failures: number, asked: number, pace: Pace, random: () => number): number {
  const longest = Math.min(pace.longestDelay, pace.firstDelay * 2 ** Math.min(failures - 1, 20));
  const delay = longest * (0.5 + random() / 2);
  return asked > delay ? asked + random() * pace.firstDelay : delay;
}

export function createKeeper(deps: Deps): Keeper {
  const { log, adapters, callbacks, connections, lines, links, sinkOf, random = Math.random } = deps;
  const pace = { ...PACE, ...deps.pace };
  let watching: Timer | undefined;

  async function hold(link: Link): Promise<void> {
    const { signal } = link.abort;
    while (!signal.aborted) {
      try {
        if (await attempt(link, signal)) return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ChannelError && error.kind === "refused") return links.turn(link, "failed", error.message);
        await backOff(link, error, signal);
      }
    }
  }

  /** True: nothing is left to do. */
  async function attempt(link: Link, signal: AbortSignal): Promise<boolean> {
    const { agentId, channel, registeredBase } = link.connection;
    const line = await lines.of(agentId, channel);
    if (line?.connection.callbackId !== link.connection.callbackId) {
      throw new ChannelError("refused", "The stored token is not this bot's. Connect the channel again.", "bot");
    }
    const { callbackId } = line.connection;
    // Before the platform is told otherwise, so that a kill in between is noticed at the next start.
    if (registeredBase !== null) await connections.registered(callbackId, null, null);
    if (line.mode !== "webhook") return listen(link, line, signal);
    const base = callbacks.base(channel);
    const { secret } = line;
    await register(line, { url: callbacks.address(line.connection, secret), secret }, signal);
    await connections.registered(callbackId, base, Date.now());
    links.turn(link, "connected", null);
    links.drop(link);
    return true;
  }

  async function register({ channel, binding }: Line, callback: Callback, signal: AbortSignal): Promise<void> {
    const ending = new AbortController();
    const late = Promise.withResolvers<never>();
    const clock = setTimeout(() => {
      late.reject(new ChannelError("unreachable", "The platform gave no answer in time.", "bot"));
      ending.abort();
    }, pace.registerWithin);
    try {
      const asked = channel.posts?.register(binding, callback, AbortSignal.any([signal, ending.signal]));
      await Promise.race([asked, late.promise]);
    } finally {
      clearTimeout(clock);
    }
  }

  /** Holds a connection until it is ended, fails, or has been silent for too long. */
  async function listen(link: Link, line: Line, signal: AbortSignal): Promise<boolean> {
    const { listening } = line.channel;
    if (!listening) throw new ChannelError("refused", "Berth can't listen on this channel.", "bot");
    const ending = new AbortController();
    const dead = Promise.withResolvers<never>();
    // Whoever waits for it may be gone first.
    dead.promise.catch(() => undefined);
    let over = false;
    link.giveUp = (reason) => {
      dead.reject(reason);
      ending.abort();
    };
    const sink = sinkOf(line, () => {
      if (ending.signal.aborted) return;
      link.lastSign = Date.now();
      links.turn(link, "connected", null);
    });
    // Where receiving was when it was ended is still taken; what an attempt says that is over counts no more.
    const own: Sink = { ...sink, keep: (resume) => (over ? undefined : sink.keep(resume)) };
    const end = () => ending.abort();
    signal.addEventListener("abort", end, { once: true });
    link.lastSign = Date.now();
    watching ??= setInterval(look, pace.lookEvery).unref();
    try {
      // One that is wedged may not even hear that it is to end.
      await Promise.race([listening.listen(line.binding, own, ending.signal), dead.promise]);
    } finally {
      over = true;
      ending.abort();
      signal.removeEventListener("abort", end);
      delete link.giveUp;
    }
    if (!signal.aborted) throw new ChannelError("unreachable", "The connection ended.", "bot");
    return true;
  }

  /** Begins those connections anew that are silent for longer than a living one can be. */
  function look(): void {
    const now = Date.now();
    for (const { connection, lastSign, giveUp } of links.all()) {
      const silentAfter = adapters[connection.channel].channel.listening?.silentAfter;
      if (!giveUp || silentAfter === undefined || now - lastSign < silentAfter) continue;
      const seconds = Math.round((now - lastSign) / 1000);
      giveUp(new ChannelError("unreachable", `The platform has been silent for ${seconds} s.`, "bot"));
    }
  }

  async function backOff(link: Link, error: unknown, signal: AbortSignal): Promise<void> {
    const { standing } = link;
    const held = standing.state === "connected" && Date.now() - standing.since > pace.steady;
    link.failures = held ? 1 : link.failures + 1;
    const asked = error instanceof ChannelError ? (error.retryAfter ?? 0) : 0;
    const delay = delayAfter(link.failures, asked, pace, random);
    if (!(error instanceof ChannelError)) log.error("a channel could not be served", { error });
    const reason = error instanceof ChannelError ? error.message : "Berth could not serve this channel.";
    links.turn(link, "backing_off", reason, Date.now() + delay);
    // The only thing that rejects is the end of waiting.
    await sleep(delay, undefined, { signal, ref: false }).catch(() => undefined);
  }

  return {
    async keep(link) {
      try {
        await hold(link);
      } catch (error) {
        log.error("a channel's supervision ended", { agentId: link.connection.agentId, error });
      }
    },
    stop: () => clearInterval(watching),
  };
}
