// Connects the bots that should be connected and disconnects the others, each independently.
import { setTimeout as sleep } from "node:timers/promises";
import type { ChannelId } from "../../../channels/port.ts";
import { channelIds } from "../../../channels/registry.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { KeyedQueue } from "../../../src/kernel/util/keyed-queue.ts";
import { type agents as agentsPlugin, takesMessages } from "../../agents/index.ts";
import type { Adapters } from "../adapters.ts";
import type { WebhookUrls } from "../webhooks/webhook-urls.ts";
import type { ConnectionLoop } from "./connection-loop.ts";
import type { ConnectionState, ConnectionStates, ConnectionStatus, TrackedConnection } from "./connection-states.ts";
import type { Connection, ConnectionStore } from "./connection-store.ts";
import type { OpenConnection, OpenConnections } from "./open-connections.ts";
import { waitAtMost } from "./wait-at-most.ts";

/** The facts that the state of a connection depends on, beside those in memory. */
export type ConnectionFacts = Pick<
  Connection,
  "agentId" | "channel" | "callbackId" | "registeredBase" | "registeredAt" | "createdAt"
>;

export interface Supervisor {
  /**
   * Starts and stops connections to match the agent's status. Call it inside `inAgentQueue`. `reportedState`: the state
   * that the owner was last notified of; a restart of Berth causes no notice.
   */
  reconcile(agentId: string, reportedState?: ConnectionState): Promise<void>;
  /** Ends a connection before it is replaced or removed. Call it inside `inAgentQueue`. */
  stopConnection(agentId: string, channel: ChannelId): Promise<void>;
  /** Waits up to 5 s for the first outcome of connecting. */
  waitForFirstOutcome(agentId: string, channel: ChannelId): Promise<void>;
  statusOf(connection: ConnectionFacts, isStopped: boolean): ConnectionStatus;
  /** Marks a bot as failed after the platform refused it elsewhere, such as for a send. */
  markRefused(openConnection: OpenConnection, reason: string): void;
  /** Why a bot has failed, so that its token is not used again; undefined if it has not. */
  giveUpReason(openConnection: OpenConnection): string | undefined;
  /** The number of an agent's connections that work. */
  countConnected(agentId: string): number;
  /** The agents with a connection that has failed. */
  failedAgents(): string[];
  /** The number of held connections by state. */
  countByState(): Record<ConnectionState, number>;
  /** Starts all connections that need work, in batches. Ends early at `stop`. */
  startAll(): Promise<void>;
  /** Reconciles all agents, after connections may have changed unnoticed. */
  reconcileAll(): Promise<void>;
  /** Ends all connections. */
  stop(): Promise<void>;
}

/** Agents that are started at the same time. */
const START_BATCH_SIZE = 50;
/** Milliseconds between two agents of a batch, because connecting takes CPU time that requests wait for. */
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
  /** Runs the tasks of one agent one after the other. */
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
    // The bots of a frozen agent stay, to take messages and to say once that it is paused.
    const shouldBeUp = agent !== undefined && takesMessages(agent);
    for (const channel of channelIds()) {
      const connection = known.find((row) => row.channel === channel);
      const tracked = connectionStates.find(agentId, channel);
      const isStale = tracked && tracked.connection.callbackId !== connection?.callbackId;
      if (isStale || !shouldBeUp) await stopConnection(agentId, channel);
      if (!connection) continue;
      if (shouldBeUp && !webhookUrls.isRegistered(connection)) startConnection(connection, reportedState);
      else if (
        !shouldBeUp &&
        connection.registeredBase !== null &&
        !adapters.get(channel).capabilities.staysRegisteredWhileStopped
      ) {
        await unregisterWebhook(connection);
      }
    }
  }

  /** Unregisters a stopped agent's webhook, so that messages wait at the platform. */
  async function unregisterWebhook({ agentId, channel, callbackId }: Connection): Promise<void> {
    const openConnection = await openConnections.find(agentId, channel);
    await connections.setRegistration(callbackId, null, null);
    if (!openConnection) return;
    openConnections.drop(agentId, channel);
    try {
      await openConnection.adapter.webhook?.unregister(openConnection.binding, AbortSignal.timeout(OUTCOME_TIMEOUT_MS));
    } catch (error) {
      // Berth refuses its posts from now on in any case.
      log.debug("unregistering a webhook failed", { agentId, error });
    }
  }

  async function startAll(): Promise<void> {
    const webhookChannels = channelIds().filter(webhookUrls.usesWebhook);
    const kinds = [
      { channels: channelIds().filter((id) => !webhookUrls.usesWebhook(id)), bases: [], spacing: START_SPACING_MS },
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
  }

  const findTracked = ({ agentId, channel, callbackId }: Pick<Connection, "agentId" | "channel" | "callbackId">) => {
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
      const defaults = { since: createdAt, lastError: null, problem: null, nextTryAt: null };
      if (isStopped) {
        return { ...defaults, state: "backing_off", lastError: "The agent is stopped.", problem: "agent_stopped" };
      }
      if (webhookUrls.isRegistered(connection)) {
        return { ...defaults, state: "connected", since: registeredAt ?? createdAt };
      }
      return { ...defaults, state: "connecting" };
    },

    markRefused(openConnection, reason) {
      const { connection, mode } = openConnection;
      const { agentId, channel, callbackId } = connection;
      // A bot with a listener gets the refusal itself.
      if (mode !== "webhook" || stopping || connectionStates.find(agentId, channel)) return;
      const tracked = connectionStates.add(connection, "connected");
      tracked.done = connections.setRegistration(callbackId, null, null).catch((error: unknown) => {
        log.error("recording a refused channel failed", { agentId, error });
      });
      connectionStates.transition(tracked, "failed", { problem: "refused", reason });
    },

    giveUpReason({ connection }) {
      const status = findTracked(connection)?.status;
      return status?.state === "failed" ? (status.lastError ?? "") : undefined;
    },

    countConnected: (agentId) =>
      channelIds().filter((channel) => connectionStates.find(agentId, channel)?.status.state === "connected").length,

    failedAgents: () =>
      connectionStates
        .all()
        .flatMap(({ connection, status }) => (status.state === "failed" ? [connection.agentId] : [])),

    countByState() {
      const counts: Record<ConnectionState, number> = { connecting: 0, connected: 0, backing_off: 0, failed: 0 };
      for (const { status } of connectionStates.all()) counts[status.state]++;
      return counts;
    },

    startAll,
    async reconcileAll() {
      const held = new Set(connectionStates.all().map(({ connection }) => connection.agentId));
      for (const agentId of held) await inAgentQueue(agentId, () => reconcile(agentId));
      await startAll();
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
