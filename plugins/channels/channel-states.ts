// Shows the connections of agents with their states: rows of the database, and what the supervisor knows of each.
import type { ReceiveMode } from "../../channels/definition.ts";
import type { ChannelId } from "../../channels/port.ts";
import { channelDefinition } from "../../channels/registry.ts";
import { notFound } from "../../src/kernel/errors.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { AgentStatus, agents as agentsPlugin } from "../agents/index.ts";
import type { Adapters } from "./adapters.ts";
import type { ConnectionStatus } from "./connections/connection-states.ts";
import type { Connection, ConnectionStore } from "./connections/connection-store.ts";
import type { Supervisor } from "./connections/supervisor.ts";

/** A connection as shown to its owner. */
export interface ChannelState extends ConnectionStatus {
  channel: ChannelId;
  bot: { id: string; username: string };
  mode: ReceiveMode;
  /** The platform's id of the bot's owner. */
  ownerId: string | null;
}

export interface ChannelStates {
  /** The channels on which an agent has a bot, from the database. */
  listChannelIds(agentId: string): Promise<ChannelId[]>;
  list(agentId: string): Promise<ChannelState[]>;
  /** The channels of many agents, by agent; agents without one are left out. */
  listOfAgents(
    agents: readonly { id: string; status: AgentStatus }[],
  ): Promise<ReadonlyMap<string, readonly ChannelState[]>>;
  /** The agents, of all accounts, with a connection that this process has given up. */
  failedAgents(): string[];
  /** One of an agent's channels; 404 `CHANNEL_NOT_CONNECTED`. */
  get(agentId: string, channel: ChannelId): Promise<ChannelState>;
}

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  adapters: Pick<Adapters, "get">;
  connections: Pick<ConnectionStore, "list" | "listOfAgents">;
  supervisor: Pick<Supervisor, "statusOf" | "failedAgents">;
}

export function createChannelStates({ agents, adapters, connections, supervisor }: Deps): ChannelStates {
  const stateOf = (connection: Connection, isStopped: boolean): ChannelState => ({
    channel: connection.channel,
    bot: { id: connection.botId, username: connection.botUsername },
    mode: adapters.get(connection.channel).mode,
    ownerId: connection.ownerId,
    ...supervisor.statusOf(connection, isStopped),
  });

  async function list(agentId: string): Promise<ChannelState[]> {
    const [agent, rows] = await Promise.all([agents.find(agentId), connections.list(agentId)]);
    return rows.map((row) => stateOf(row, agent?.status === "stopped"));
  }

  return {
    listChannelIds: async (agentId) => (await connections.list(agentId)).map(({ channel }) => channel),
    list,

    async listOfAgents(listed) {
      const stopped = new Set(listed.flatMap(({ id, status }) => (status === "stopped" ? [id] : [])));
      const rows = await connections.listOfAgents(listed.map(({ id }) => id));
      return Map.groupBy(
        rows.map((row) => ({ agentId: row.agentId, ...stateOf(row, stopped.has(row.agentId)) })),
        ({ agentId }) => agentId,
      );
    },
    failedAgents: supervisor.failedAgents,

    async get(agentId, channel) {
      const state = (await list(agentId)).find((one) => one.channel === channel);
      if (state) return state;
      throw notFound(`This agent is not connected to ${channelDefinition(channel).label}.`, "CHANNEL_NOT_CONNECTED");
    },
  };
}
