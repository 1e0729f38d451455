// Links: the connections that are being made, held or waited for, and how each one is.
import type { ChannelError, ChannelId } from "../../channels/channel.ts";
import type { Connection } from "./connections.ts";
import type { State, Tell } from "./news.ts";

/** How a connection is. Times are epoch ms. */
export interface Standing {
  state: State;
  since: number;
  lastError: string | null;
  /** When it is tried again, while it waits for that. */
  nextTryAt: number | null;
}

/** One that is registered with its platform needs no link: what has none and is registered works. */
export interface Link {
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

export interface Links {
  of(agentId: string, channel: ChannelId): Link | undefined;
  all(): Link[];
  /** A link that begins now, in the place of none. `told`: the state the owner knows of. */
  add(connection: Connection, told: State): Link;
  /** False when another is in its place by now. */
  drop(link: Link): boolean;
  /** Puts a link in a state; its owner is told of one that is news. */
  turn(link: Link, state: State, reason: string | null, nextTryAt?: number | null): void;
}

const keyOf = (agentId: string, channel: ChannelId) => `${agentId} ${channel}`;

export function createLinks(tell: Tell): Links {
  const links = new Map<string, Link>();
  return {
    of: (agentId, channel) => links.get(keyOf(agentId, channel)),
    all: () => [...links.values()],

    add(connection, told) {
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
      links.set(keyOf(connection.agentId, connection.channel), link);
      return link;
    },

    drop(link) {
      const key = keyOf(link.connection.agentId, link.connection.channel);
      return links.get(key) === link && links.delete(key);
    },

    turn(link, state, reason, nextTryAt = null) {
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
    },
  };
}
