// Links: the connections that are being made, held or waited for, and how each one is.
import type { ChannelError, ChannelId } from "../../../channels/port.ts";
import type { Connection } from "./connection-store.ts";
import type { ConnectionState, NotifyState } from "./owner-notices.ts";

/** How a connection is. Times are epoch ms. */
export interface ConnectionStatus {
  state: ConnectionState;
  since: number;
  lastError: string | null;
  /** When it is tried again, while it waits for that. */
  nextTryAt: number | null;
}

/** One that is registered with its platform needs no link: what has none and is registered works. */
export interface TrackedConnection {
  readonly connection: Connection;
  readonly abortController: AbortController;
  /** Resolves with the first outcome. */
  readonly firstOutcome: PromiseWithResolvers<void>;
  done: Promise<void>;
  status: ConnectionStatus;
  /** When the platform last gave a sign of life; epoch ms. */
  lastAliveAt: number;
  /** Ends the attempt under way, with the reason. */
  failAttempt?: (reason: ChannelError) => void;
  /** What the owner was last told. */
  reportedState: ConnectionState;
  consecutiveFailures: number;
}

export interface ConnectionStates {
  find(agentId: string, channel: ChannelId): TrackedConnection | undefined;
  all(): TrackedConnection[];
  /** A link that begins now, in the place of none. `reportedState`: the state the owner knows of. */
  add(connection: Connection, reportedState: ConnectionState): TrackedConnection;
  /** False when another is in its place by now. */
  drop(tracked: TrackedConnection): boolean;
  /** Puts a link in a state; its owner is told of one that is news. */
  transition(
    tracked: TrackedConnection,
    state: ConnectionState,
    reason: string | null,
    nextTryAt?: number | null,
  ): void;
}

const keyOf = (agentId: string, channel: ChannelId) => `${agentId} ${channel}`;

export function createConnectionStates(notifyState: NotifyState): ConnectionStates {
  const trackedConnections = new Map<string, TrackedConnection>();
  return {
    find: (agentId, channel) => trackedConnections.get(keyOf(agentId, channel)),
    all: () => [...trackedConnections.values()],

    add(connection, reportedState) {
      const tracked: TrackedConnection = {
        connection,
        abortController: new AbortController(),
        firstOutcome: Promise.withResolvers(),
        done: Promise.resolve(),
        status: { state: "connecting", since: Date.now(), lastError: null, nextTryAt: null },
        lastAliveAt: Date.now(),
        reportedState,
        consecutiveFailures: 0,
      };
      trackedConnections.set(keyOf(connection.agentId, connection.channel), tracked);
      return tracked;
    },

    drop(tracked) {
      const key = keyOf(tracked.connection.agentId, tracked.connection.channel);
      return trackedConnections.get(key) === tracked && trackedConnections.delete(key);
    },

    transition(tracked, state, reason, nextTryAt = null) {
      const { status } = tracked;
      const isNew = status.state !== state;
      // What went wrong last stays to be seen until the next thing does.
      if (!isNew && (reason === null || reason === status.lastError) && nextTryAt === status.nextTryAt) return;
      tracked.status = {
        state,
        since: isNew ? Date.now() : status.since,
        lastError: reason ?? status.lastError,
        nextTryAt,
      };
      tracked.firstOutcome.resolve();
      if (tracked.reportedState === state) return;
      tracked.reportedState = state;
      notifyState(tracked.connection, state, reason);
    },
  };
}
