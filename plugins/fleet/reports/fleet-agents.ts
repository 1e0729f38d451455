// Lists the agents of all accounts: filtered, sorted, and page by page through any number of them.
import type { InValue, Row } from "@libsql/client";
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { DAY, firstIdAt, MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import type { channels as channelsPlugin, FleetState } from "../../channels/index.ts";
import type { AGENT_SORTS, AGENT_STATES } from "../model.ts";
import { dayOf } from "./days.ts";
import { createStaleCache } from "./stale-cache.ts";

type Sort = (typeof AGENT_SORTS)[number];

export interface AgentFilter {
  /** A part of the name or of the owner's address, or a whole id or subdomain. */
  query?: string | undefined;
  status?: (typeof AGENT_STATES)[number] | undefined;
  /** The owner's user id. */
  owner?: string | undefined;
  sort: Sort;
  limit: number;
  cursor?: string | undefined;
}

/** An agent as admins see it. Times are epoch ms. */
export interface FleetAgent {
  id: string;
  name: string;
  subdomain: string;
  status: string;
  reason: string | null;
  frozen: "agent" | "account" | null;
  /** The agent's own choice; for `custom` the model that its configuration names. */
  model: string;
  runtimeVersion: string;
  owner: { id: string; email: string; name: string; disabled: boolean };
  channels: { channel: string; state: FleetState }[];
  costTodayUsd: number;
  errorsToday: number;
  lastActivityAt: number | null;
  createdAt: number;
}

/** Agents in the order of today's cost or errors, or of their last activity: the first of them. */
const MAX_RANKED = 2_000;
const STATE_SQL = {
  up: "a.status NOT IN ('stopped', 'error')",
  stopped: "a.status = 'stopped'",
  error: "a.status = 'error'",
} as const;

const RANKINGS: Record<Exclude<Sort, "created" | "name">, string> = {
  cost: `SELECT agent_id FROM usage_days WHERE day = ?1 AND agent_id <> '' GROUP BY agent_id
    ORDER BY sum(cost_micro_usd) DESC, sum(calls) DESC, agent_id DESC LIMIT ${MAX_RANKED}`,
  errors: `SELECT agent_id FROM agent_logs INDEXED BY agent_logs_errors WHERE level = 'error' AND id >= ?2
    GROUP BY agent_id ORDER BY count(*) DESC, agent_id DESC LIMIT ${MAX_RANKED}`,
  activity: `SELECT agent_id FROM sessions WHERE platform NOT IN ('', 'public') GROUP BY agent_id
    ORDER BY max(last_activity_at) DESC, agent_id DESC LIMIT ${MAX_RANKED}`,
};

const DETAILS = `SELECT a.id, a.name, a.subdomain, a.status, a.status_reason, a.frozen_at, a.owner_frozen, a.runtime_version, a.created_at, a.user_id,
    u.email, u.name AS owner_name, u.disabled_at,
    CASE a.model WHEN 'custom' THEN coalesce((SELECT json_extract(body, '$.model') FROM agent_configs
      WHERE agent_id = a.id ORDER BY version DESC LIMIT 1), a.model) ELSE a.model END AS model,
    (SELECT sum(cost_micro_usd) FROM usage_days WHERE agent_id = a.id AND agent_id <> '' AND day = ?2) AS cost,
    (SELECT count(*) FROM agent_logs INDEXED BY agent_logs_errors
      WHERE agent_id = a.id AND level = 'error' AND id >= ?3) AS errors,
    (SELECT max(last_activity_at) FROM sessions WHERE agent_id = a.id AND platform NOT IN ('', 'public')) AS activity
  FROM agents AS a JOIN users AS u ON u.id = a.user_id WHERE a.id IN (SELECT value FROM json_each(?1))`;

interface Deps extends Pick<Kernel, "database"> {
  channels: Pick<ServiceOf<typeof channelsPlugin>, "fleet">;
  now?: () => number;
}

export function createFleetAgents({ database, channels, now = Date.now }: Deps) {
  const cachedRanking = createStaleCache<string[]>({ freshMs: 10 * SECOND, staleMs: MINUTE, now });

  const ranking = (sort: keyof typeof RANKINGS, day: number) =>
    cachedRanking(`${sort} ${day}`, async () => {
      // Both parameters are always given; a query uses one of them or none.
      const sql = `SELECT * FROM (${RANKINGS[sort]}) WHERE ?1 IS NOT NULL AND ?2 IS NOT NULL`;
      return (await database.readLong(sql, [day, firstIdAt(day * DAY)])).rows.map((row) => String(row.agent_id));
    });

  function conditionsOf({ query, status, owner }: AgentFilter): { sql: string[]; args: InValue[] } {
    const sql: string[] = [];
    const args: InValue[] = [];
    if (status !== undefined) sql.push(STATE_SQL[status]);
    if (owner !== undefined) {
      sql.push("a.user_id = ?");
      args.push(owner);
    }
    const text = query?.trim() ?? "";
    if (text !== "") {
      const part = `%${text.replace(/[\\%_]/g, "\\$&")}%`;
      sql.push("(a.name LIKE ? ESCAPE '\\' OR a.id = ? OR a.subdomain = ? OR u.email LIKE ? ESCAPE '\\')");
      args.push(part, text.toLowerCase(), text.toLowerCase(), part);
    }
    return { sql, args };
  }

  /** The ids of one page and the cursor of the next; `sql` ends with the order. */
  async function idsWhere(filter: AgentFilter, extra: string[], extraArgs: InValue[], order: string, limit: number) {
    const { sql, args } = conditionsOf(filter);
    const where = [...sql, ...extra].join(" AND ");
    const isSearch = (filter.query?.trim() ?? "") !== "";
    const from = isSearch ? "agents AS a JOIN users AS u ON u.id = a.user_id" : "agents AS a";
    const text = `SELECT a.id, a.name FROM ${from}${where && ` WHERE ${where}`} ${order} LIMIT ${limit}`;
    const read = isSearch ? database.readLong : database.read;
    return (await read(text, [...args, ...extraArgs])).rows;
  }

  async function page(filter: AgentFilter): Promise<{ ids: string[]; next: string | null }> {
    const { sort, limit, cursor } = filter;
    const idOf = (row: Row | undefined) => String(row?.id);
    if (sort === "created" || sort === "name") {
      const [id, name] = cursor === undefined ? [] : parseCursor(cursor, sort === "name" ? 2 : 1);
      const [after, order] =
        sort === "name"
          ? [["(a.name COLLATE NOCASE, a.id) > (?, ?)"], "ORDER BY a.name COLLATE NOCASE, a.id"]
          : [["a.id < ?"], "ORDER BY a.id DESC"];
      const given = id === undefined ? [] : sort === "name" ? [name ?? "", id] : [id];
      const rows = await idsWhere(filter, id === undefined ? [] : after, given, order, limit + 1);
      const last = rows[limit - 1];
      const position = sort === "name" ? [idOf(last), String(last?.name)] : [idOf(last)];
      return { ids: rows.slice(0, limit).map(idOf), next: rows.length > limit ? toCursor(position) : null };
    }
    const ranked = await ranking(sort, dayOf(now()));
    const start = cursor === undefined ? 0 : Number(parseCursor(cursor, 1)[0]);
    if (!Number.isSafeInteger(start) || start < 0) throw badCursor();
    const rows = await idsWhere(
      filter,
      ["a.id IN (SELECT value FROM json_each(?))"],
      [JSON.stringify(ranked)],
      "",
      MAX_RANKED,
    );
    const found = new Set(rows.map(idOf));
    const ids = ranked.filter((id) => found.has(id));
    const end = start + limit;
    return { ids: ids.slice(start, end), next: end < ids.length ? toCursor([String(end)]) : null };
  }

  return {
    async list(filter: AgentFilter): Promise<{ agents: FleetAgent[]; next: string | null }> {
      const { ids, next } = await page(filter);
      const day = dayOf(now());
      const [{ rows }, connections] = await Promise.all([
        database.read(DETAILS, [JSON.stringify(ids), day, firstIdAt(day * DAY)]),
        channels.fleet.ofAgents(ids),
      ]);
      const byId = new Map(rows.map((row) => [String(row.id), row]));
      const agents = ids.flatMap((id) => {
        const row = byId.get(id);
        const states = (connections.get(id) ?? []).map(({ channel, state }) => ({ channel, state }));
        return row ? [{ ...toAgent(row), channels: states }] : [];
      });
      return { agents, next };
    },
  };
}

const toAgent = (row: Row): Omit<FleetAgent, "channels"> => ({
  id: String(row.id),
  name: String(row.name),
  subdomain: String(row.subdomain),
  status: String(row.status),
  reason: row.status_reason === null ? null : String(row.status_reason),
  frozen: row.frozen_at !== null ? "agent" : row.owner_frozen === 1 ? "account" : null,
  model: String(row.model),
  runtimeVersion: String(row.runtime_version),
  owner: {
    id: String(row.user_id),
    email: String(row.email),
    name: String(row.owner_name),
    disabled: row.disabled_at !== null,
  },
  costTodayUsd: Number(row.cost ?? 0) / 1e6,
  errorsToday: Number(row.errors),
  lastActivityAt: row.activity === null ? null : Number(row.activity),
  createdAt: Number(row.created_at),
});

const badCursor = () => invalidInput({ path: "cursor", message: "Give the `next` of the page before, unchanged." });

const toCursor = (parts: readonly string[]) => Buffer.from(JSON.stringify(parts)).toString("base64url");

function parseCursor(cursor: string, length: number): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(parts) && parts.length === length && parts.every((part) => typeof part === "string"))
      return parts;
  } catch {
    // Refused below, like one of another form.
  }
  throw badCursor();
}

export type FleetAgents = ReturnType<typeof createFleetAgents>;
