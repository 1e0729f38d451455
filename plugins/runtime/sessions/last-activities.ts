// Finds when each of many agents was last talked to, by one look into an index for each.
import type { Database } from "../../../src/kernel/database/database.ts";

export interface LastActivities {
  /** Epoch ms by agent; agents that nobody has talked to are left out. */
  ofAgents(agentIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The same for all agents of a user. */
  ofUser(userId: string): Promise<ReadonlyMap<string, number>>;
}

/** The newest session of agent `a`: people's and visitors' are in one index each. */
const NEWEST = `max(
    coalesce((SELECT last_activity_at FROM sessions WHERE agent_id = a.id AND platform NOT IN ('', 'public') AND message_count > 0
      ORDER BY last_activity_at DESC LIMIT 1), 0),
    coalesce((SELECT last_activity_at FROM sessions WHERE agent_id = a.id AND platform = 'public'
      ORDER BY last_activity_at DESC LIMIT 1), 0))`;
export const LAST_OF_AGENTS = `SELECT id, ${NEWEST} AS at FROM (SELECT value AS id FROM json_each(?)) AS a`;
export const LAST_OF_USER = `WITH last AS MATERIALIZED (SELECT id, ${NEWEST} AS at FROM agents AS a WHERE user_id = ?)
  SELECT id, at FROM last WHERE at > 0`;

type Reads = Pick<Database, "read" | "readLong">;

export function createLastActivities({ database }: { database: Reads }): LastActivities {
  async function load(read: Reads["read"], sql: string, of: string) {
    const { rows } = await read(sql, [of]);
    return new Map(rows.flatMap(({ id, at }) => (Number(at) > 0 ? [[String(id), Number(at)] as const] : [])));
  }
  return {
    ofAgents: (agentIds) => load(database.read, LAST_OF_AGENTS, JSON.stringify(agentIds)),
    ofUser: (userId) => load(database.readLong, LAST_OF_USER, userId),
  };
}
