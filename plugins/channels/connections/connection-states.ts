// Tracks the connections that this process is making, holding or retrying, with the state of each.
import type { ChannelError, ChannelErrorKind, ChannelId } from "../../../channels/port.ts";
import type { Connection } from "./connection-store.ts";

export type ConnectionState = "connecting" | "connected" | "backing_off" | "failed";

/** Why a connection does not work, as a code: pages say in the reader's language what to do about it. */
export type ConnectionProblem = ChannelErrorKind | "agent_stopped" | "internal";

/** Why a connection does not work: its kind, and a sentence for the owner. */
export interface ConnectionFailure {
  problem: ConnectionProblem;
  reason: string;
}

/** Notifies the owner of a state that is new to them. */
export type NotifyState = (connection: Connection, state: ConnectionState, failure: ConnectionFailure | null) => void;

/** The state of a connection. Times are epoch ms. */
export interface ConnectionStatus {
  state: ConnectionState;
  since: number;
  lastError: string | null;
  /** Null while it works. */
  problem: ConnectionProblem | null;
  /** The time of the next try, while it waits for that. */
  nextTryAt: number | null;
}

/** A connection that this process works on. One whose webhook is registered needs no work and is not tracked. */
export interface TrackedConnection {
  readonly connection: Connection;
  readonly abortController: AbortController;
  /** Resolves when the connection has its first outcome. */
  readonly firstOutcome: PromiseWithResolvers<void>;
  done: Promise<void>;
  status: ConnectionStatus;
  /** The platform's last sign of life, epoch ms. */
  lastAliveAt: number;
  /** Fails the attempt under way with this reason. */
  failAttempt?: (reason: ChannelError) => void;
  /** The state that the owner was last notified of. */
  reportedState: ConnectionState;
  consecutiveFailures: number;
}

export interface ConnectionStates {
  find(agentId: string, channel: ChannelId): TrackedConnection | undefined;
  all(): TrackedConnection[];
  /** Tracks a connection that is not tracked yet. `reportedState`: the state that the owner knows of. */
  add(connection: Connection, reportedState: ConnectionState): TrackedConnection;
  /** Stops tracking it; false if another one has taken its place. */
  drop(tracked: TrackedConnection): boolean;
  /** Changes the state, and notifies the owner if it is new to them. */
  transition(
    tracked: TrackedConnection,
    state: ConnectionState,
    failure: ConnectionFailure | null,
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
        status: { state: "connecting", since: Date.now(), lastError: null, problem: null, nextTryAt: null },
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

    transition(tracked, state, failure, nextTryAt = null) {
      const { status } = tracked;
      const reason = failure?.reason ?? null;
      const isNew = status.state !== state;
      // The last error stays visible until there is another one.
      if (!isNew && (reason === null || reason === status.lastError) && nextTryAt === status.nextTryAt) return;
      tracked.status = {
        state,
        since: isNew ? Date.now() : status.since,
        lastError: reason ?? status.lastError,
        problem: failure?.problem ?? null,
        nextTryAt,
      };
      tracked.firstOutcome.resolve();
      if (tracked.reportedState === state) return;
      tracked.reportedState = state;
      notifyState(tracked.connection, state, failure);
    },
  };
}
