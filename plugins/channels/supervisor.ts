// Sees to it that those bots are connected that should be, each by itself, and none in the way of another.
import { setTimeout as sleep } from "node:timers/promises";
import type { ChannelId } from "../../channels/channel.ts";
import type { Order } from "../../src/order.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { Adapters } from "./adapters.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Connection, Connections } from "./connections.ts";
import type { Keeper } from "./keeper.ts";
import type { Line, Lines } from "./lines.ts";
import type { Link, Links, Standing } from "./links.ts";
import type { State } from "./news.ts";
import { CHANNEL_IDS } from "./schema.ts";
import { within } from "./wait.ts";

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
  /** Why a bot is given up; undefined while it is not. Nothing more is asked of its platform with this token. */
  givenUp(line: Line): string | undefined;
  /** Connections of an agent that work. */
  kept(agentId: string): number;
  /** Held connections by state. */
  counts(): Record<State, number>;
  /** Takes up all connections that need work, some at a time. Ends by itself at `stop`. */
  startAll(): Promise<void>;
  /** Ends all at once. */
  stop(): Promise<void>;
}

/** Connections that are made side by side at the start. */
const AT_ONCE = 50;
/** Between two agents whose connections are held here: making them is work, and requests wait meanwhile. Milliseconds. */
const APART = 20;
const OUTCOME_WITHIN = 5_000;
const STOP_WITHIN = 1_500;

interface Deps extends Pick<Kernel, "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  adapters: Adapters;
  callbacks: Callbacks;
  connections: Pick<Connections, "of" | "registered" | "unregistered">;
  lines: Pick<Lines, "of" | "drop">;
  links: Links;
  keeper: Keeper;
  /** Runs works on one agent one after the other. */
  inOrder: Order;
}

export function createSupervisor(deps: Deps): Supervisor {
  const { log, agents, adapters, callbacks, connections, lines, links, keeper, inOrder } = deps;
  let stopping = false;

  function begin(connection: Connection, told: State): void {
    if (stopping || links.of(connection.agentId, connection.channel)) return;
    const link = links.add(connection, told);
    link.done = keeper.keep(link);
  }

  async function end(agentId: string, channel: ChannelId): Promise<void> {
    const link = links.of(agentId, channel);
    if (!link) return;
    links.drop(link);
    abort(link);
    await within(link.done, STOP_WITHIN);
  }

  async function settle(agentId: string, told: State = "connected"): Promise<void> {
    if (stopping) return;
    const agent = await agents.find(agentId);
    const known = await connections.of(agentId);
    const up = agent !== undefined && agent.status !== "stopped";
    for (const channel of CHANNEL_IDS) {
      const connection = known.find((row) => row.channel === channel);
      const link = links.of(agentId, channel);
      const stale = link && link.connection.callbackId !== connection?.callbackId;
      if (stale || !up) await end(agentId, channel);
      if (!connection) continue;
      if (up && !callbacks.isRegistered(connection)) begin(connection, told);
      else if (!up && connection.registeredBase !== null && !adapters[channel].channel.posts?.losesUnregistered) {
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

  const linkOf = ({ agentId, channel, callbackId }: Connection) => {
    const link = links.of(agentId, channel);
    return link?.connection.callbackId === callbackId ? link : undefined;
  };

  return {
    settle,
    end,
    outcome: (agentId, channel) =>
      within(links.of(agentId, channel)?.settled.promise ?? Promise.resolve(), OUTCOME_WITHIN),

    standing(connection, isStopped) {
      const link = linkOf(connection);
      if (link) return link.standing;
      const { createdAt, registeredAt } = connection;
      const rest = { since: createdAt, lastError: null, nextTryAt: null };
      if (isStopped) return { ...rest, state: "backing_off", lastError: "The agent is stopped." };
      if (callbacks.isRegistered(connection)) {
        return { ...rest, state: "connected", since: registeredAt ?? createdAt };
      }
      return { ...rest, state: "connecting" };
    },

    refused(line, reason) {
      const { connection, mode } = line;
      const { agentId, channel, callbackId } = connection;
      // A bot that polls hears it by itself.
      if (mode !== "webhook" || stopping || links.of(agentId, channel)) return;
      const link = links.add(connection, "connected");
      link.done = connections.registered(callbackId, null, null).catch((error: unknown) => {
        log.error("a refused channel could not be recorded", { agentId, error });
      });
      links.turn(link, "failed", reason);
    },

    givenUp({ connection }) {
      const standing = linkOf(connection)?.standing;
      return standing?.state === "failed" ? (standing.lastError ?? "") : undefined;
    },

    kept: (agentId) =>
      CHANNEL_IDS.filter((channel) => links.of(agentId, channel)?.standing.state === "connected").length,

    counts() {
      const counts: Record<State, number> = { connecting: 0, connected: 0, backing_off: 0, failed: 0 };
      for (const { standing } of links.all()) counts[standing.state]++;
      return counts;
    },

    async startAll() {
      const posted = CHANNEL_IDS.filter(callbacks.isPosted);
      const kinds = [
        { channels: CHANNEL_IDS.filter((id) => !callbacks.isPosted(id)), bases: [], apart: APART },
        { channels: posted, bases: posted.map(callbacks.base), apart: 0 },
      ];
      for (const { channels, bases, apart } of kinds) {
        if (channels.length === 0) continue;
        for (let after = ""; !stopping; ) {
          const ids = await connections.unregistered(after, channels, bases, AT_ONCE);
          const settled = ids.map(async (id, n) => {
            if (n * apart > 0) await sleep(n * apart, undefined, { ref: false });
            await inOrder(id, () => settle(id));
          });
          await Promise.all(settled);
          const begun = ids.flatMap((id) => channels.map((channel) => links.of(id, channel)?.settled.promise));
          await within(Promise.all(begun), OUTCOME_WITHIN);
          const last = ids.at(-1);
          if (last === undefined || ids.length < AT_ONCE) break;
          after = last;
        }
      }
    },

    async stop() {
      stopping = true;
      keeper.stop();
      const all = links.all();
      for (const link of all) abort(link);
      await within(Promise.all(all.map(({ done }) => done)), STOP_WITHIN);
    },
  };
}

function abort(link: Link): void {
  link.abort.abort();
  link.settled.resolve();
}
