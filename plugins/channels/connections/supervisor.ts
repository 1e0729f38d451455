// Sees to it that those bots are connected that should be, each by itself, and none in the way of another.
import { setTimeout as sleep } from "node:timers/promises";
import type { ChannelId } from "../../../channels/port.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { KeyedQueue } from "../../../src/kernel/util/keyed-queue.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { Adapters } from "../adapters.ts";
import { CHANNEL_IDS } from "../schema.ts";
import type { ConnectionLoop } from "./connection-loop.ts";
import type { ConnectionStates, ConnectionStatus, TrackedConnection } from "./connection-states.ts";
import type { Connection, ConnectionStore } from "./connection-store.ts";
import type { OpenConnection, OpenConnections } from "./open-connections.ts";
import type { ConnectionState } from "./owner-notices.ts";
import { waitAtMost } from "./wait-at-most.ts";
import type { WebhookUrls } from "./webhook-urls.ts";

export interface Supervisor {
  /**
   * Connects what should be connected, disconnects what should not be. To be called inside `inAgentQueue`. `reportedState`: the state
   * the owner knows of; a restart of Berth is no news.
   */
  reconcile(agentId: string, reportedState?: ConnectionState): Promise<void>;
  /** Ends a connection, as it will be written anew or removed. To be called inside `inAgentQueue`. */
  stopConnection(agentId: string, channel: ChannelId): Promise<void>;
  /** Waits for the first outcome of connecting, but not for long. */
  waitForFirstOutcome(agentId: string, channel: ChannelId): Promise<void>;
  statusOf(connection: Connection, isStopped: boolean): ConnectionStatus;
  /** The platform refused the bot elsewhere, such as when it was to send. */
  markRefused(openConnection: OpenConnection, reason: string): void;
  /** Why a bot is given up; undefined while it is not. Nothing more is asked of its platform with this token. */
  giveUpReason(openConnection: OpenConnection): string | undefined;
  /** Connections of an agent that work. */
  countConnected(agentId: string): number;
  /** Held connections by state. */
  countByState(): Record<ConnectionState, number>;
  /** Takes up all connections that need work, some at a time. Ends by itself at `stop`. */
  startAll(): Promise<void>;
  /** Ends all at once. */
  stop(): Promise<void>;
}

/** Connections that are made side by side at the start. */
const START_BATCH_SIZE = 50;
/** Between two agents whose connections are held here: making them is work, and requests wait meanwhile. Milliseconds. */
const START_SPACING_MS = 20;
const OUTCOME_TIMEOUT_MS = 5_000;
const STOP_TIMEOUT_MS = 1_500;

interface Deps extends Pick<Kernel, "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  adapters: Adapters;
  webhookUrls: WebhookUrls;
  connections: Pick<ConnectionStore, "list" | "setRegistration" | "listUnregisteredAgents">;
  openConnections: Pick<OpenConnections, "find" | "drop">;
  connectionStates: ConnectionStates;
  connectionLoop: ConnectionLoop;
  /** Runs works on one agent one after the other. */
  inAgentQueue: KeyedQueue;
}

export function createSupervisor(deps: Deps): Supervisor {
  const {
    log,
    agents,
    adapters,
    webhookUrls,
    connections,
    openConnections,
    connectionStates,
    connectionLoop,
    inAgentQueue,
  } = deps;
  let stopping = false;

  function startConnection(connection: Connection, reportedState: ConnectionState): void {
    if (stopping || connectionStates.find(connection.agentId, connection.channel)) return;
    const tracked = connectionStates.add(connection, reportedState);
    tracked.done = connectionLoop.run(tracked);
  }

  async function stopConnection(agentId: string, channel: ChannelId): Promise<void> {
    const tracked = connectionStates.find(agentId, channel);
    if (!tracked) return;
    connectionStates.drop(tracked);
    abortConnection(tracked);
    await waitAtMost(tracked.done, STOP_TIMEOUT_MS);
  }

  async function reconcile(agentId: string, reportedState: ConnectionState = "connected"): Promise<void> {
    if (stopping) return;
    const agent = await agents.find(agentId);
    const known = await connections.list(agentId);
    const shouldBeUp = agent !== undefined && agent.status !== "stopped";
    for (const channel of CHANNEL_IDS) {
      const connection = known.find((row) => row.channel === channel);
      const tracked = connectionStates.find(agentId, channel);
      const isStale = tracked && tracked.connection.callbackId !== connection?.callbackId;
      if (isStale || !shouldBeUp) await stopConnection(agentId, channel);
      if (!connection) continue;
      if (shouldBeUp && !webhookUrls.isRegistered(connection)) startConnection(connection, reportedState);
      else if (
        !shouldBeUp &&
        connection.registeredBase !== null &&
        !adapters[channel].adapter.webhook?.staysRegisteredWhileStopped
      ) {
        await unregisterWebhook(connection);
      }
    }
  }

  /** A stopped agent's bot gets nothing: what people write meanwhile waits at the platform. */
  async function unregisterWebhook({ agentId, channel, callbackId }: Connection): Promise<void> {
    const openConnection = await openConnections.find(agentId, channel);
    await connections.setRegistration(callbackId, null, null);
    if (!openConnection) return;
    openConnections.drop(agentId, channel);
    try {
      await openConnection.adapter.webhook?.unregister(openConnection.binding, AbortSignal.timeout(OUTCOME_TIMEOUT_MS));
    } catch (error) {
      // Posts are refused from now on in any case.
      log.debug("a webhook was not taken back", { agentId, error });
    }
  }

  const findTracked = ({ agentId, channel, callbackId }: Connection) => {
    const tracked = connectionStates.find(agentId, channel);
    return tracked?.connection.callbackId === callbackId ? tracked : undefined;
  };

  return {
    reconcile,
    stopConnection,
    waitForFirstOutcome: (agentId, channel) =>
      waitAtMost(
        connectionStates.find(agentId, channel)?.firstOutcome.promise ?? Promise.resolve(),
        OUTCOME_TIMEOUT_MS,
      ),

    statusOf(connection, isStopped) {
      const tracked = findTracked(connection);
      if (tracked) return tracked.status;
      const { createdAt, registeredAt } = connection;
      const rest = { since: createdAt, lastError: null, nextTryAt: null };
      if (isStopped) return { ...rest, state: "backing_off", lastError: "The agent is stopped." };
      if (webhookUrls.isRegistered(connection)) {
        return { ...rest, state: "connected", since: registeredAt ?? createdAt };
      }
      return { ...rest, state: "connecting" };
    },

    markRefused(openConnection, reason) {
      const { connection, mode } = openConnection;
      const { agentId, channel, callbackId } = connection;
      // A bot that polls hears it by itself.
      if (mode !== "webhook" || stopping || connectionStates.find(agentId, channel)) return;
      const tracked = connectionStates.add(connection, "connected");
      tracked.done = connections.setRegistration(callbackId, null, null).catch((error: unknown) => {
        log.error("a refused channel could not be recorded", { agentId, error });
      });
      connectionStates.transition(tracked, "failed", reason);
    },

    giveUpReason({ connection }) {
      const status = findTracked(connection)?.status;
      return status?.state === "failed" ? (status.lastError ?? "") : undefined;
    },

    countConnected: (agentId) =>
      CHANNEL_IDS.filter((channel) => connectionStates.find(agentId, channel)?.status.state === "connected").length,

    countByState() {
      const counts: Record<ConnectionState, number> = { connecting: 0, connected: 0, backing_off: 0, failed: 0 };
      for (const { status } of connectionStates.all()) counts[status.state]++;
      return counts;
    },

    async startAll() {
      const webhookChannels = CHANNEL_IDS.filter(webhookUrls.usesWebhook);
      const kinds = [
        { channels: CHANNEL_IDS.filter((id) => !webhookUrls.usesWebhook(id)), bases: [], spacing: START_SPACING_MS },
        { channels: webhookChannels, bases: webhookChannels.map(webhookUrls.registrationBase), spacing: 0 },
      ];
      for (const { channels, bases, spacing } of kinds) {
        if (channels.length === 0) continue;
        for (let after = ""; !stopping; ) {
          const ids = await connections.listUnregisteredAgents(after, channels, bases, START_BATCH_SIZE);
          const reconciled = ids.map(async (id, n) => {
            if (n * spacing > 0) await sleep(n * spacing, undefined, { ref: false });
            await inAgentQueue(id, () => reconcile(id));
          });
          await Promise.all(reconciled);
          const firstOutcomes = ids.flatMap((id) =>
            channels.map((channel) => connectionStates.find(id, channel)?.firstOutcome.promise),
          );
          await waitAtMost(Promise.all(firstOutcomes), OUTCOME_TIMEOUT_MS);
          const last = ids.at(-1);
          if (last === undefined || ids.length < START_BATCH_SIZE) break;
          after = last;
        }
      }
    },

    async stop() {
      stopping = true;
      connectionLoop.stop();
      const all = connectionStates.all();
      for (const tracked of all) abortConnection(tracked);
      await waitAtMost(Promise.all(all.map(({ done }) => done)), STOP_TIMEOUT_MS);
    },
  };
}

function abortConnection(tracked: TrackedConnection): void {
  tracked.abortController.abort();
  tracked.firstOutcome.resolve();
}
