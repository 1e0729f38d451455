// Lists an account's agents page by page: searched, filtered and sorted in an index, so that thousands are cheap.
import type { InValue, Row } from "@libsql/client";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { AgentStatus, ModelChoice } from "./agent-store.ts";

/** Agents with larger values come first; those without one come last. */
export type AgentListOrder = "newest" | "name" | ReadonlyMap<string, number>;

export interface AgentListRequest {
  userId: string;
  /** A part of the name, in any case, or a whole id. */
  query?: string | undefined;
  /** `attention`: in an error, or one of `needing`. */
  state?: "up" | "stopped" | "error" | "attention" | undefined;
  /** Ids of agents that need their owner for a reason that is not in their row. */
  needing: readonly string[];
  order: AgentListOrder;
  limit: number;
  offset: number;
}

/** Times are epoch ms. */
export interface ListedAgent {
  id: string;
  name: string;
  model: ModelChoice;
  status: AgentStatus;
  statusReason: string | null;
  subdomain: string;
  verified: boolean;
  startedAt: number | null;
  createdAt: number;
  updatedAt: number;
}

export interface AgentCounts {
  total: number;
  up: number;
  stopped: number;
  error: number;
  /** In an error, or one of `needing`. */
  attention: number;
  /** How many of `among` are the user's. */
  owned: number;
}

/** What each state means, in columns of the index. ?4: ids as a JSON array. */
const STATE_SQL = {
  up: "AND status IN ('running', 'active')",
  stopped: "AND status = 'stopped'",
  error: "AND status = 'error'",
  attention: "AND (status = 'error' OR id IN (SELECT value FROM json_each(?4)))",
};

/** ?1 user, ?2 pattern of the name or null, ?3 id or null, ?4 ids that need their owner. */
const matching = (state: AgentListRequest["state"]) =>
  `user_id = ?1 AND (?2 IS NULL OR name GLOB ?2 OR id = ?3) AND ?4 IS NOT NULL ${state ? STATE_SQL[state] : ""}`;

/** Ids are looked up by themselves: comparing each of thousands of agents with them takes longer than counting. */
const COUNT = `SELECT count(*) AS total, count(*) FILTER (WHERE status IN ('running', 'active')) AS up,
    count(*) FILTER (WHERE status = 'stopped') AS stopped, count(*) FILTER (WHERE status = 'error') AS error,
    (SELECT count(*) FROM agents WHERE user_id = ?1 AND id IN (SELECT value FROM json_each(?2)) AND status <> 'error') AS needing,
    (SELECT count(*) FROM agents WHERE user_id = ?1 AND id IN (SELECT value FROM json_each(?3))) AS owned
  FROM agents WHERE user_id = ?1`;

const NAMES = "SELECT id, name FROM agents WHERE user_id = ?1 AND id IN (SELECT value FROM json_each(?2))";

const COLUMNS = `a.id, a.name, a.model, a.status, a.status_reason AS "statusReason", a.subdomain, a.verified,
  a.started_at AS "startedAt", a.created_at AS "createdAt", a.updated_at AS "updatedAt"`;

/** ?5 limit, ?6 offset; `rank` is the position in the page. The rows themselves are read for the page alone. */
const pageSql = (from: string, where: string, order: string) => `SELECT ${COLUMNS} FROM
    (SELECT id, row_number() OVER () AS rank FROM (SELECT id FROM ${from} WHERE ${where} ORDER BY ${order} LIMIT ?5 OFFSET ?6)) AS page
  CROSS JOIN agents AS a ON a.id = page.id ORDER BY page.rank`;

export const agentPageSql = (order: "newest" | "name" | "value", state: AgentListRequest["state"]) => {
  const where = matching(state);
  if (order === "newest") return pageSql("agents", where, "id DESC");
  if (order === "name") return pageSql("agents", where, "name COLLATE NOCASE, id");
  const from = "agents LEFT JOIN (SELECT key AS ranked, value AS worth FROM json_each(?7)) ON ranked = id";
  return pageSql(from, where, "worth DESC NULLS LAST, id DESC");
};

function filterOf({ userId, query, needing }: Pick<AgentListRequest, "userId" | "query" | "needing">): InValue[] {
  const text = query === undefined || query === "" ? undefined : query;
  const pattern = text === undefined ? null : containsPattern(text);
  return [userId, pattern, text?.toLowerCase() ?? null, JSON.stringify(needing)];
}

export function createAgentList({ database }: Pick<Kernel, "database">) {
  async function pageOf(request: AgentListRequest): Promise<ListedAgent[]> {
    const { state, order, limit, offset } = request;
    const isByValue = typeof order !== "string";
    const ranks = isByValue ? [JSON.stringify(Object.fromEntries(order))] : [];
    // Sorting by other tables' values reads the values of all agents.
    const read = isByValue ? database.readLong : database.read;
    const sql = agentPageSql(isByValue ? "value" : order, state);
    return (await read(sql, [...filterOf(request), limit, offset, ...ranks])).rows.map(toListedAgent);
  }

  async function countMatching(request: Omit<AgentListRequest, "order" | "limit" | "offset">): Promise<number> {
    const sql = `SELECT count(*) AS total FROM agents WHERE ${matching(request.state)}`;
    return Number((await database.read(sql, filterOf(request))).rows[0]?.total ?? 0);
  }

  return {
    pageOf,
    countMatching,

    /** A page, and the number of agents that match; one query each. */
    async listPage(request: AgentListRequest): Promise<{ agents: ListedAgent[]; total: number }> {
      const [agents, total] = await Promise.all([pageOf(request), countMatching(request)]);
      return { agents, total };
    },

    /** The names of those of these agents that the user has. */
    async namesOf(userId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const { rows } = await database.read(NAMES, [userId, JSON.stringify(ids)]);
      return new Map(rows.map(({ id, name }) => [String(id), String(name)]));
    },

    /** Counts a user's agents; the ids may be of any agents. */
    async countAgents(
      userId: string,
      { needing, among }: { needing: readonly string[]; among: readonly string[] },
    ): Promise<AgentCounts> {
      const { rows } = await database.read(COUNT, [userId, JSON.stringify(needing), JSON.stringify(among)]);
      const count = (name: string) => Number(rows[0]?.[name] ?? 0);
      return {
        total: count("total"),
        up: count("up"),
        stopped: count("stopped"),
        error: count("error"),
        attention: count("error") + count("needing"),
        owned: count("owned"),
      };
    },
  };
}

const toListedAgent = (row: Row): ListedAgent => ({
  id: String(row.id),
  name: String(row.name),
  model: String(row.model) as ModelChoice,
  status: String(row.status) as AgentStatus,
  statusReason: row.statusReason === null ? null : String(row.statusReason),
  subdomain: String(row.subdomain),
  verified: row.verified === 1,
  startedAt: row.startedAt === null ? null : Number(row.startedAt),
  createdAt: Number(row.createdAt),
  updatedAt: Number(row.updatedAt),
});

/**
 * A GLOB pattern for texts that contain this one in any case: `*[aA][öÖ]*`. LIKE ignores the case of ASCII letters alone.
 */
export function containsPattern(text: string): string {
  const characters = [...text].map((character) => {
    const cases = [...new Set([character, character.toLowerCase(), character.toUpperCase()])].filter(
      (one) => [...one].length === 1,
    );
    // In brackets, `*`, `?` and `[` are themselves; `]` and `^` only outside.
    return character === "]" || character === "^" ? character : `[${cases.join("")}]`;
  });
  return `*${characters.join("")}*`;
}
