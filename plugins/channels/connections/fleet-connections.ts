// Lists the bots of all agents with their states, for admins: from memory those that have failed or wait, the others page
// by page from the database.
import type { InValue, ResultSet, Row } from "@libsql/client";
import type { ReceiveMode } from "../../../channels/definition.ts";
import type { ChannelId } from "../../../channels/port.ts";
import { isChannelId } from "../../../channels/registry.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Adapters } from "../adapters.ts";
import type { ConnectionState, ConnectionStates, ConnectionStatus } from "./connection-states.ts";
import type { Supervisor } from "./supervisor.ts";

/** `stopped`: the agent is, and so its bot is not connected. */
export type FleetState = ConnectionState | "stopped";

/** A bot of any agent. Times are epoch ms. */
export interface FleetConnection extends Omit<ConnectionStatus, "state"> {
  state: FleetState;
  agent: { id: string; name: string };
  owner: { id: string; email: string };
  channel: ChannelId;
  bot: { id: string; username: string };
  mode: ReceiveMode;
}

export interface FleetFilter {
  state?: FleetState | undefined;
  channel?: ChannelId | undefined;
  /** A part of the agent's name, the bot's name or the owner's address, ignoring case. */
  query?: string | undefined;
  /** The place after which the page begins, as the page before it returned. */
  after?: string | undefined;
  limit: number;
}

export interface FleetConnections {
  counts(): Promise<Record<FleetState, number>>;
  /** Newest agents first. `next` is undefined on the last page; a page may have fewer entries than the limit before that. */
  page(filter: FleetFilter): Promise<{ connections: FleetConnection[]; next: string | undefined }>;
  /** The connections of these agents, by agent. */
  ofAgents(agentIds: readonly string[]): Promise<Map<string, FleetConnection[]>>;
}

/** Rows that one page may read when few of them match. */
const MAX_SCANNED = 1_000;
const LAST_PLACE = "~ ~";
/** Milliseconds for which the counts of rows are kept; those of states in memory are always exact. */
const COUNTS_FRESH_MS = 5_000;

const SELECT = `SELECT c.agent_id, c.channel, c.bot_id, c.bot_username, c.callback_id, c.registered_base, c.registered_at,
    c.created_at, a.name AS agent_name, a.status AS agent_status, a.user_id, u.email
  FROM channel_connections AS c JOIN agents AS a ON a.id = c.agent_id JOIN users AS u ON u.id = a.user_id`;
const COUNTS = `SELECT count(*) AS total, coalesce(sum(a.status = 'stopped'), 0) AS stopped,
    coalesce(sum(a.status <> 'stopped' AND c.registered_base IS NOT NULL), 0) AS registered
  FROM channel_connections AS c JOIN agents AS a ON a.id = c.agent_id`;

const placeOf = ({ agent, channel }: Pick<FleetConnection, "agent" | "channel">) => `${agent.id} ${channel}`;

/** Whether a connection has these words in its names; every one has no words. */
function containing(query = ""): (connection: FleetConnection) => boolean {
  const words = query.trim().toLowerCase();
  return ({ agent, owner, bot }) => `${agent.name}\n${bot.username}\n${owner.email}`.toLowerCase().includes(words);
}

interface Deps extends Pick<Kernel, "database"> {
  adapters: Pick<Adapters, "get">;
  connectionStates: Pick<ConnectionStates, "all">;
  supervisor: Pick<Supervisor, "statusOf" | "countByState">;
}

export function createFleetConnections({ database, adapters, connectionStates, supervisor }: Deps): FleetConnections {
  let countedAt = 0;
  let counted: Promise<ResultSet>;

  function toConnection(row: Row): FleetConnection[] {
    const channel = String(row.channel);
    // Rows of a channel that this build does not have stay in the table, unused.
    if (!isChannelId(channel)) return [];
    const agentId = String(row.agent_id);
    const isStopped = row.agent_status === "stopped";
    const status = supervisor.statusOf(
      {
        agentId,
        channel,
        callbackId: String(row.callback_id),
        registeredBase: row.registered_base === null ? null : String(row.registered_base),
        registeredAt: row.registered_at === null ? null : Number(row.registered_at),
        createdAt: Number(row.created_at),
      },
      isStopped,
    );
    return [
      {
        ...status,
        ...(isStopped && { state: "stopped" as const, lastError: null }),
        agent: { id: agentId, name: String(row.agent_name) },
        owner: { id: String(row.user_id), email: String(row.email) },
        channel,
        bot: { id: String(row.bot_id), username: String(row.bot_username) },
        mode: adapters.get(channel).mode,
      },
    ];
  }

  const read = async (tail: string, args: readonly InValue[]) => (await database.read(`${SELECT} ${tail}`, args)).rows;

  /** Few bots fail at a time, and their states are in memory only. */
  async function pageOfTracked({ state, channel, query, after = LAST_PLACE, limit }: FleetFilter) {
    const places = connectionStates
      .all()
      .filter(
        ({ status, connection }) => status.state === state && (channel ?? connection.channel) === connection.channel,
      )
      .map(({ connection }) => `${connection.agentId} ${connection.channel}`)
      .filter((place) => place < after)
      .sort()
      .reverse();
    const size = query === undefined ? limit : MAX_SCANNED;
    const shown = places.slice(0, size);
    const rows = await read(
      "WHERE c.agent_id || ' ' || c.channel IN (SELECT value FROM json_each(?1)) AND c.agent_id IN (SELECT value FROM json_each(?2))",
      [JSON.stringify(shown), JSON.stringify(shown.map((place) => place.split(" ")[0] ?? ""))],
    );
    const found = rows
      .flatMap(toConnection)
      .filter(containing(query))
      .sort((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1));
    const connections = found.slice(0, limit);
    const last = connections.at(-1);
    if (found.length > limit && last) return { connections, next: placeOf(last) };
    return { connections, next: places.length > size ? shown.at(-1) : undefined };
  }

  async function pageOfRows({ state, channel, query, after = LAST_PLACE, limit }: FleetFilter) {
    const [agentId = "", channelId = ""] = after.split(" ");
    const size = state === undefined && channel === undefined && query === undefined ? limit : MAX_SCANNED;
    const rows = await read("WHERE (c.agent_id, c.channel) < (?, ?) ORDER BY c.agent_id DESC, c.channel DESC LIMIT ?", [
      agentId,
      channelId,
      size + 1,
    ]);
    const scanned = rows.slice(0, size).flatMap(toConnection);
    const matches = scanned
      .filter((one) => (state ?? one.state) === one.state && (channel ?? one.channel) === one.channel)
      .filter(containing(query));
    const connections = matches.slice(0, limit);
    const last = matches.length > limit ? connections.at(-1) : rows.length > size ? scanned.at(-1) : undefined;
    return { connections, next: last && placeOf(last) };
  }

  return {
    async counts() {
      const now = Date.now();
      if (now - countedAt > COUNTS_FRESH_MS) {
        countedAt = now;
        counted = database.readLong(COUNTS);
        counted.catch(() => {
          countedAt = 0;
        });
      }
      const { rows } = await counted;
      const [total, stopped, registered] = [rows[0]?.total, rows[0]?.stopped, rows[0]?.registered].map(Number);
      const { connected, backing_off, failed } = supervisor.countByState();
      const known = (stopped ?? 0) + (registered ?? 0) + connected + backing_off + failed;
      return {
        connecting: Math.max(0, (total ?? 0) - known),
        connected: connected + (registered ?? 0),
        backing_off,
        failed,
        stopped: stopped ?? 0,
      };
    },

    page: (filter) =>
      filter.state === "failed" || filter.state === "backing_off" ? pageOfTracked(filter) : pageOfRows(filter),

    async ofAgents(agentIds) {
      const rows = await read("WHERE c.agent_id IN (SELECT value FROM json_each(?))", [JSON.stringify(agentIds)]);
      return Map.groupBy(rows.flatMap(toConnection), ({ agent }) => agent.id);
    },
  };
}
