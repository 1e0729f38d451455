// Counts an agent's past turns from the inbox: those that are over on another thread, the few others in a write.
import type { Row } from "@libsql/client";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { HOUR, MINUTE } from "../../../src/kernel/util/time.ts";
import { type LoadTurnHistory, RECENT_TURNS } from "../../agent-stats/index.ts";
import { PENDING_INBOX } from "./inbox-sql.ts";

/** Commands, cancelled messages, and messages that a stopped agent rejected are not turns. */
const IS_TURN = "kind <> 'command' AND status IN ('done', 'failed', 'parked') AND error IS NOT 'AGENT_STOPPED'";

/** In one statement: an entry that comes meanwhile is newer, or pending, or neither, but never both. */
const BOUNDS = `SELECT max(id) AS newest, (SELECT json_group_array(id) FROM ${PENDING_INBOX}
  WHERE agent_id = ?1 AND status = 'pending') AS pending FROM inbox WHERE agent_id = ?1`;
/** Turns by the minute in which they ended; those that ended before ?2 are in minute 0. */
const countSql = (
  condition: string,
) => `SELECT iif(settled_at >= ?2, settled_at / ${MINUTE}, 0) AS minute, count(*) AS turns
  FROM inbox WHERE agent_id = ?1 AND ${IS_TURN} AND ${condition} GROUP BY 1`;
/** ?3: the newest entry, ?4: the entries that were pending. */
const COUNT_OVER = countSql("id <= ?3 AND id NOT IN (SELECT value FROM json_each(?4))");
const COUNT_NEWER = countSql("id > ?3");
const COUNT_PENDING = countSql("id IN (SELECT value FROM json_each(?3))");
const LAST = `SELECT status = 'done' AS ok, settled_at - received_at - waited_ms AS ms FROM inbox
  WHERE agent_id = ?1 AND ${IS_TURN} ORDER BY id DESC LIMIT ${RECENT_TURNS.outcomes}`;

/**
 * Counts an agent's past turns. What was pending before the count began, and what is newer, is counted inside the write queue: a
 * turn is recorded right after its own write, so every turn is either in the count or recorded after it, never both.
 */
export function createTurnCounter({ database }: Pick<Kernel, "database">): LoadTurnHistory {
  return async (agentId, onCounted) => {
    const since = Date.now() - HOUR;
    const minutes = new Map<number, number>();
    let total = 0;
    const add = (rows: readonly Row[]) => {
      for (const { minute, turns } of rows) {
        total += Number(turns);
        if (Number(minute) > 0) minutes.set(Number(minute), (minutes.get(Number(minute)) ?? 0) + Number(turns));
      }
    };
    const [bounds] = (await database.read(BOUNDS, [agentId])).rows;
    const newest = String(bounds?.newest ?? "");
    const pending = String(bounds?.pending ?? "[]");
    add((await database.readLong(COUNT_OVER, [agentId, since, newest, pending])).rows);
    await database.write([
      { sql: COUNT_NEWER, args: [agentId, since, newest], after: ({ rows }) => add(rows) },
      { sql: COUNT_PENDING, args: [agentId, since, pending], after: ({ rows }) => add(rows) },
      {
        sql: LAST,
        args: [agentId],
        after({ rows }) {
          const recent = rows.map(({ ok, ms }) => ({ ok: Number(ok) === 1, ms: Number(ms) })).reverse();
          onCounted({ total, minutes: [...minutes], recent });
        },
      },
    ]);
  };
}
