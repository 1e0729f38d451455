// Caches connections that are ready for use, with their token decrypted. Only those used last are kept in memory.
import type { ReceiveMode } from "../../../channels/definition.ts";
import type { Binding, ChannelAdapter, ChannelId } from "../../../channels/port.ts";
import { channelIds } from "../../../channels/registry.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { estimateMemorySize } from "../../../src/kernel/util/memory-size.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { Adapters } from "../adapters.ts";
import { secretValues } from "../submitted-credentials.ts";
import { createWebhookRateLimiter } from "../webhooks/webhook-rate-limiter.ts";
import { type Connection, type ConnectionStore, digestToken } from "./connection-store.ts";

const MAX_CACHED = 2_048;

/** One agent's bot, ready for use. Replaced as a whole when its connection is written. */
export interface OpenConnection {
  readonly connection: Connection;
  readonly adapter: ChannelAdapter;
  readonly mode: ReceiveMode;
  readonly binding: Binding;
  /** The secret that the platform sends with its posts. */
  readonly secret: string;
  /** Limits the platform's posts. */
  readonly rateLimiter: ReturnType<typeof createWebhookRateLimiter>;
}

export interface OpenConnections {
  /** Undefined if the channel is not connected, or its token is not the one it was connected with. */
  find(agentId: string, channel: ChannelId): Promise<OpenConnection | undefined>;
  findByCallback(callbackId: string): Promise<OpenConnection | undefined>;
  /** Bytes cached for an agent. */
  memoryBytes(agentId: string): number;
  /** Drops a connection after a write, and returns the cached one. */
  drop(agentId: string, channel: ChannelId): OpenConnection | undefined;
}

interface Deps extends Pick<Kernel, "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "credentials">;
  adapters: Adapters;
  connections: ConnectionStore;
}

export function createOpenConnections({ log, agents, adapters, connections }: Deps): OpenConnections {
  /** By agent and channel, the least recently used first. */
  const cache = new Map<string, OpenConnection>();
  const byCallbackId = new Map<string, OpenConnection>();
  let invalidations = 0;

  const keyOf = (agentId: string, channel: ChannelId) => `${agentId} ${channel}`;
  const keyOfConnection = ({ connection }: OpenConnection) => keyOf(connection.agentId, connection.channel);

  function store(openConnection: OpenConnection): OpenConnection {
    const key = keyOfConnection(openConnection);
    remove(key);
    cache.set(key, openConnection);
    byCallbackId.set(openConnection.connection.callbackId, openConnection);
    if (cache.size > MAX_CACHED) remove(cache.keys().next().value ?? "");
    return openConnection;
  }

  function remove(key: string): OpenConnection | undefined {
    const openConnection = cache.get(key);
    cache.delete(key);
    if (openConnection) byCallbackId.delete(openConnection.connection.callbackId);
    return openConnection;
  }

  function markUsed(openConnection: OpenConnection): OpenConnection {
    const key = keyOfConnection(openConnection);
    cache.delete(key);
    cache.set(key, openConnection);
    return openConnection;
  }

  async function open(find: () => Promise<Connection | undefined>): Promise<OpenConnection | undefined> {
    const before = invalidations;
    const connection = await find();
    if (!connection) return undefined;
    const adapter = adapters.get(connection.channel);
    const { agentId, channel, botId, botUsername, detail, resume } = connection;
    const token = await agents.credentials.open(agentId, channel);
    // A crash between the two writes of connecting leaves another token, or none: then it does not belong to this bot.
    if (token === undefined || digestToken(token) !== connection.tokenDigest) return undefined;
    // A password has no form by which the log would know it.
    for (const value of secretValues(channel, token)) log.redactSecret(value);
    const openConnection: OpenConnection = {
      connection,
      adapter: adapter.adapter,
      mode: adapter.mode,
      binding: {
        agentId,
        token,
        bot: { id: botId, username: botUsername, ...(detail === null ? {} : { detail }) },
        ...(resume === null ? {} : { resume }),
      },
      secret: connections.unsealSecret(connection),
      rateLimiter: createWebhookRateLimiter(),
    };
    // What was read is not cached if a write happened in between.
    return before === invalidations ? store(openConnection) : openConnection;
  }

  return {
    async find(agentId, channel) {
      const openConnection = cache.get(keyOf(agentId, channel));
      return openConnection ? markUsed(openConnection) : open(() => connections.find(agentId, channel));
    },
    async findByCallback(callbackId) {
      const openConnection = byCallbackId.get(callbackId);
      return openConnection ? markUsed(openConnection) : open(() => connections.findByCallback(callbackId));
    },
    memoryBytes: (agentId) =>
      estimateMemorySize(
        channelIds().flatMap((channel) => {
          const openConnection = cache.get(keyOf(agentId, channel));
          return openConnection ? [openConnection.connection, openConnection.binding, openConnection.secret] : [];
        }),
      ),
    drop(agentId, channel) {
      invalidations++;
      return remove(keyOf(agentId, channel));
    },
  };
}
