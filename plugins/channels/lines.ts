// Lines: connections ready for use, their token open. The few that were used lately are kept; an idle bot costs nothing.
import type { Binding, Channel, ChannelId } from "../../channels/channel.ts";
import { heldBytes } from "../../src/held-bytes.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { Adapters, Mode } from "./adapters.ts";
import { type Connection, type Connections, digestOf } from "./connections.ts";
import { createMeter } from "./meter.ts";
import { CHANNEL_IDS } from "./schema.ts";

const KEPT = 2_048;

/** One agent's bot, ready to speak. Replaced as a whole when its connection is written. */
export interface Line {
  readonly connection: Connection;
  readonly channel: Channel;
  readonly mode: Mode;
  readonly binding: Binding;
  /** What the platform has to bring along when it posts. */
  readonly secret: string;
  /** Counts the platform's posts. */
  readonly posts: ReturnType<typeof createMeter>;
}

export interface Lines {
  /** Undefined when the channel is not connected, or its token is not the one it was connected with. */
  of(agentId: string, channel: ChannelId): Promise<Line | undefined>;
  byCallback(callbackId: string): Promise<Line | undefined>;
  /** Bytes kept in memory for an agent. */
  held(agentId: string): number;
  /** A connection was written, or is gone. Answers what was kept of it. */
  drop(agentId: string, channel: ChannelId): Line | undefined;
}

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "credentials">;
  adapters: Adapters;
  connections: Connections;
}

export function createLines({ agents, adapters, connections }: Deps): Lines {
  /** By agent and channel, the one unused for longest first. */
  const kept = new Map<string, Line>();
  const callbacks = new Map<string, Line>();
  let drops = 0;

  const keyOf = (agentId: string, channel: ChannelId) => `${agentId} ${channel}`;
  const keyOfLine = ({ connection }: Line) => keyOf(connection.agentId, connection.channel);

  function keep(line: Line): Line {
    const key = keyOfLine(line);
    remove(key);
    kept.set(key, line);
    callbacks.set(line.connection.callbackId, line);
    if (kept.size > KEPT) remove(kept.keys().next().value ?? "");
    return line;
  }

  function remove(key: string): Line | undefined {
    const line = kept.get(key);
    kept.delete(key);
    if (line) callbacks.delete(line.connection.callbackId);
    return line;
  }

  function touched(line: Line): Line {
    const key = keyOfLine(line);
    kept.delete(key);
    kept.set(key, line);
    return line;
  }

  async function open(find: () => Promise<Connection | undefined>): Promise<Line | undefined> {
    const before = drops;
    const connection = await find();
    if (!connection) return undefined;
    const adapter = adapters[connection.channel];
    const { agentId, channel, botId, botUsername, detail, resume } = connection;
    const token = await agents.credentials.open(agentId, channel);
    // A kill between the two writes of connecting leaves another token, or none: then this is not that bot.
    if (token === undefined || digestOf(token) !== connection.tokenDigest) return undefined;
    const line: Line = {
      connection,
      channel: adapter.channel,
      mode: adapter.mode,
      binding: {
        agentId,
        token,
        bot: { id: botId, username: botUsername, ...(detail === null ? {} : { detail }) },
        ...(resume === null ? {} : { resume }),
      },
      secret: connections.openSecret(connection),
      posts: createMeter(),
    };
    // A write in between may have overtaken what was read.
    return before === drops ? keep(line) : line;
  }

  return {
    async of(agentId, channel) {
      const line = kept.get(keyOf(agentId, channel));
      return line ? touched(line) : open(() => connections.find(agentId, channel));
    },
    async byCallback(callbackId) {
      const line = callbacks.get(callbackId);
      return line ? touched(line) : open(() => connections.byCallback(callbackId));
    },
    held: (agentId) =>
      heldBytes(
        CHANNEL_IDS.flatMap((channel) => {
          const line = kept.get(keyOf(agentId, channel));
          return line ? [line.connection, line.binding, line.secret] : [];
        }),
      ),
    drop(agentId, channel) {
      drops++;
      return remove(keyOf(agentId, channel));
    },
  };
}
