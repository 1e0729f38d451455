// Keeps bots connected: each by itself, with a state that can be seen, and none in the way of another.
import { setTimeout as sleep } from "node:timers/promises";
import { ChannelError, type ChannelId, type Sink } from "../../channels/channel.ts";
import type { Order } from "../../src/order.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { Adapters } from "./adapters.ts";
import type { Connection, Connections } from "./connections.ts";
import type { Line, Lines } from "./lines.ts";
import type { State, Tell } from "./news.ts";
import { CHANNEL_IDS } from "./schema.ts";
import { within } from "./wait.ts";

/** How a connection is. Times are epoch ms. */
export interface Standing {
  state: State;
  since: number;
  lastError: string | null;
  /** When it is tried again, while it waits for that. */
  nextTryAt: number | null;
}

export interface Supervisor {
  /**
   * Connects what should be connected, disconnects what should not be. To be called inside `inOrder`. `told`: the state
   * the owner knows of; a restart of Berth is no news.
   */
  settle(agentId: string, told?: State): Promise<void>;
  /** Ends a connection, as it will be written anew or removed. To be called inside `inOrder`. */
  end(agentId: string, channel: ChannelId): Promise<void>;
  /** Waits for the first outcome of connecting, but not for long. */
  outcome(agentId: string, channel: ChannelId): Promise<void>;
  standing(connection: Connection, isStopped: boolean): Standing;
  /** The platform refused the bot elsewhere, such as when it was to send. */
  refused(line: Line, reason: string): void;
  /** Connections of an agent that work. */
  kept(agentId: string): number;
  /** Held connections by state. */
  counts(): Record<State, number>;
  /** Takes up all connections that need work, some at a time. Ends by itself at `stop`. */
  startAll(): Promise<void>;
  /** Ends all at once. */
  stop(): Promise<void>;
}

/**
 * A connection that is being made, held or waited for. One that is registered with its platform needs none: what has
 * no link and is registered works.
 */
interface Link {
  readonly connection: Connection;
  readonly abort: AbortController;
  /** Resolves with the first outcome. */
  readonly settled: PromiseWithResolvers<void>;
  done: Promise<void>;
  standing: Standing;
  /** When the platform last gave a sign of life; epoch ms. */
  lastSign: number;
  /** Ends the attempt under way, with the reason. */
  giveUp?: (reason: ChannelError) => void;
  /** What the owner was last told. */
  told: State;
  failures: number;
}

const FIRST_DELAY = 1_000;
const LONGEST_DELAY = 5 * 60_000;
/** A connection that held for so long begins anew with the shortest delay. */
const STEADY = 60_000;
/** Connections that are made side by side at the start. */
const AT_ONCE = 50;
const OUTCOME_WITHIN = 5_000;
const STOP_WITHIN = 1_500;
/** How often connections are looked at that say nothing. */
const LOOK_EVERY = 5_000;

interface Deps extends Pick<Kernel, "config" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  adapters: Adapters;
  connections: Connections;
  lines: Lines;
  sinkOf(line: Line, alive: () => void): Sink;
  /** Runs works on one agent one after the other. */
  inOrder: Order;
  tell: Tell;
}

export function createSupervisor(deps: Deps): Supervisor {
  const { config, log, agents, adapters, connections, lines, sinkOf, inOrder, tell } = deps;
  const links = new Map<string, Link>();
  let stopping = false;
  let watching: Timer | undefined;

  const keyOf = (agentId: string, channel: ChannelId) => `${agentId} ${channel}`;
  const base = (channel: ChannelId) => `${config.baseUrl}/hooks/${channel}/`;
  const isPosted = (id: ChannelId) => adapters[id]?.mode === "webhook";
  const isRegistered = ({ channel, registeredBase }: Connection) =>
    isPosted(channel) && registeredBase === base(channel);

  function begin(connection: Connection, told: State): void {
    const key = keyOf(connection.agentId, connection.channel);
    if (stopping || links.has(key)) return;
    const link: Link = {
      connection,
      abort: new AbortController(),
      settled: Promise.withResolvers(),
      done: Promise.resolve(),
      standing: { state: "connecting", since: Date.now(), lastError: null, nextTryAt: null },
      lastSign: Date.now(),
      told,
      failures: 0,
    };
    links.set(key, link);
    link.done = keep(link).catch((error: unknown) => {
      log.error("a channel's supervision ended", { agentId: connection.agentId, error });
    });
  }

  /** Until it is aborted, refused, or registered. */
  async function keep(link: Link): Promise<void> {
    const { signal } = link.abort;
    while (!signal.aborted) {
      try {
        if (await attempt(link, signal)) return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ChannelError && error.kind === "refused") return turn(link, "failed", error.message);
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
    const callback = { url: base(channel) + callbackId, secret: line.secret };
    await line.channel.posts?.register(line.binding, callback, signal);
    await connections.registered(callbackId, base(channel), Date.now());
    turn(link, "connected", null);
    if (links.get(keyOf(agentId, channel)) === link) links.delete(keyOf(agentId, channel));
    return true;
  }

  /** Holds a connection until it is ended, fails, or has been silent for too long. */
  async function listen(link: Link, line: Line, signal: AbortSignal): Promise<boolean> {
    const { listening } = line.channel;
    if (!listening) throw new ChannelError("refused", "Berth can't listen on this channel.", "bot");
    const ending = new AbortController();
    const dead = Promise.withResolvers<never>();
    // Whoever waits for it may be gone first.
    dead.promise.catch(() => undefined);
    link.giveUp = (reason) => {
      dead.reject(reason);
      ending.abort();
    };
    const sink = sinkOf(line, () => {
      // What a connection that was given up still says counts no more.
      if (ending.signal.aborted) return;
      link.lastSign = Date.now();
      turn(link, "connected", null);
    });
    const end = () => ending.abort();
    signal.addEventListener("abort", end, { once: true });
    link.lastSign = Date.now();
    watching ??= setInterval(look, LOOK_EVERY).unref();
    try {
      // One that is wedged may not even hear that it is to end.
      await Promise.race([listening.listen(line.binding, sink, ending.signal), dead.promise]);
    } finally {
      signal.removeEventListener("abort", end);
      delete link.giveUp;
    }
    if (!signal.aborted) throw new ChannelError("unreachable", "The connection ended.", "bot");
    return true;
  }

  /** Begins those connections anew that are silent for longer than a living one can be. */
  function look(): void {
    const now = Date.now();
    for (const { connection, lastSign, giveUp } of links.values()) {
      const silentAfter = adapters[connection.channel]?.channel.listening?.silentAfter;
      if (!giveUp || silentAfter === undefined || now - lastSign < silentAfter) continue;
      const seconds = Math.round((now - lastSign) / 1000);
      giveUp(new ChannelError("unreachable", `The platform has been silent for ${seconds} s.`, "bot"));
    }
  }

  async function backOff(link: Link, error: unknown, signal: AbortSignal): Promise<void> {
    const { standing } = link;
    const held = standing.state === "connected" && Date.now() - standing.since > STEADY;
    link.failures = held ? 1 : link.failures + 1;
    const asked = error instanceof ChannelError ? (error.retryAfter ?? 0) : 0;
    const longest = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(link.failures - 1, 20));
    const delay = Math.max(asked, longest * (0.5 + Math.random() / 2));
    if (!(error instanceof ChannelError)) log.error("a channel could not be served", { error });
    const reason = error instanceof ChannelError ? error.message : "Berth could not serve this channel.";
    turn(link, "backing_off", reason, Date.now() + delay);
    // The only thing that rejects is the end of waiting.
    await sleep(delay, undefined, { signal, ref: false }).catch(() => undefined);
  }

  function turn(link: Link, state: State, reason: string | null, nextTryAt: number | null = null): void {
    const { standing } = link;
    const isNew = standing.state !== state;
    // What went wrong last stays to be seen until the next thing does.
    if (!isNew && (reason === null || reason === standing.lastError) && nextTryAt === standing.nextTryAt) return;
    link.standing = {
      state,
      since: isNew ? Date.now() : standing.since,
      lastError: reason ?? standing.lastError,
      nextTryAt,
    };
    link.settled.resolve();
    if (link.told === state) return;
    link.told = state;
    tell(link.connection, state, reason);
  }

  async function end(agentId: string, channel: ChannelId): Promise<void> {
    const key = keyOf(agentId, channel);
    const link = links.get(key);
    if (!link) return;
    links.delete(key);
    link.abort.abort();
    link.settled.resolve();
    await within(link.done, STOP_WITHIN);
  }

  async function settle(agentId: string, told: State = "connected"): Promise<void> {
    if (stopping) return;
    const agent = await agents.find(agentId);
    const known = await connections.of(agentId);
    const up = agent !== undefined && agent.status !== "stopped";
    for (const channel of CHANNEL_IDS) {
      const connection = known.find((row) => row.channel === channel);
      const link = links.get(keyOf(agentId, channel));
      const stale = link && link.connection.callbackId !== connection?.callbackId;
      if (stale || !up) await end(agentId, channel);
      if (!connection || !adapters[channel]) continue;
      if (up && !isRegistered(connection)) begin(connection, told);
      else if (!up && connection.registeredBase !== null && !adapters[channel]?.channel.posts?.losesUnregistered) {
        await takeBack(connection);
      }
    }
  }

  /** A stopped agent's bot gets nothing: what people write meanwhile waits at the platform. */
  async function takeBack({ agentId, channel, callbackId }: Connection): Promise<void> {
    const line = await lines.of(agentId, channel);
    await connections.registered(callbackId, null, null);
    if (!line) return;
    lines.drop(agentId, channel);
    try {
      await line.channel.posts?.unregister(line.binding, AbortSignal.timeout(OUTCOME_WITHIN));
    } catch (error) {
      // Posts are refused from now on in any case.
      log.debug("a webhook was not taken back", { agentId, error });
    }
  }

  return {
    settle,
    end,
    outcome: (agentId, channel) =>
      within(links.get(keyOf(agentId, channel))?.settled.promise ?? Promise.resolve(), OUTCOME_WITHIN),

    standing(connection, isStopped) {
      const link = links.get(keyOf(connection.agentId, connection.channel));
      if (link?.connection.callbackId === connection.callbackId) return link.standing;
      const { createdAt, registeredAt } = connection;
      const rest = { since: createdAt, lastError: null, nextTryAt: null };
      if (isStopped) return { ...rest, state: "backing_off", lastError: "The agent is stopped." };
      if (isRegistered(connection)) return { ...rest, state: "connected", since: registeredAt ?? createdAt };
      return { ...rest, state: "connecting" };
    },

    refused(line, reason) {
      const { connection } = line;
      const { agentId, channel, callbackId } = connection;
      // A bot that polls hears it by itself.
      if (line.mode !== "webhook" || stopping || links.has(keyOf(agentId, channel))) return;
      const standing: Standing = { state: "connecting", since: Date.now(), lastError: null, nextTryAt: null };
      const settled = Promise.withResolvers<void>();
      const done = connections.registered(callbackId, null, null).catch((error: unknown) => {
        log.error("a refused channel could not be recorded", { agentId, error });
      });
      const link: Link = {
        connection,
        abort: new AbortController(),
        settled,
        done,
        standing,
        lastSign: Date.now(),
        told: "connected",
        failures: 0,
      };
      links.set(keyOf(agentId, channel), link);
      turn(link, "failed", reason);
    },

    kept: (agentId) =>
      CHANNEL_IDS.filter((channel) => links.get(keyOf(agentId, channel))?.standing.state === "connected").length,

    counts() {
      const counts: Record<State, number> = { connecting: 0, connected: 0, backing_off: 0, failed: 0 };
      for (const { standing } of links.values()) counts[standing.state]++;
      return counts;
    },

    async startAll() {
      const webhook = CHANNEL_IDS.filter(isPosted);
      const kinds = [
        { channels: CHANNEL_IDS.filter((id) => adapters[id] && !isPosted(id)), bases: [] },
        { channels: webhook, bases: webhook.map(base) },
      ];
      for (const { channels, bases } of kinds) {
        if (channels.length === 0) continue;
        for (let after = ""; !stopping; ) {
          const ids = await connections.unregistered(after, channels, bases, AT_ONCE);
          await Promise.all(ids.map((id) => inOrder(id, () => settle(id))));
          const begun = ids.flatMap((id) => channels.map((channel) => links.get(keyOf(id, channel))?.settled.promise));
          await within(Promise.all(begun), OUTCOME_WITHIN);
          const last = ids.at(-1);
          if (last === undefined || ids.length < AT_ONCE) break;
          after = last;
        }
      }
    },

    async stop() {
      stopping = true;
      clearInterval(watching);
      const all = [...links.values()];
      for (const link of all) {
        link.abort.abort();
        link.settled.resolve();
      }
      await within(Promise.all(all.map(({ done }) => done)), STOP_WITHIN);
    },
  };
}
