// Reads an agent's past turns: how many from the sums of hours, those of the last hour by minute, and how the last ones ended.
import type { Row } from "@libsql/client";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY, firstIdAt, HOUR, MINUTE } from "../../../src/kernel/util/time.ts";
import { type LoadTurnHistory, RECENT_TURNS, TURNS_OF_AGENT } from "../../agent-stats/index.ts";
import { PENDING_INBOX } from "./inbox-sql.ts";

/** Commands, cancelled messages, and messages that a stopped agent rejected are not turns. The sums of hours count the same. */
const IS_TURN = "kind <> 'command' AND status IN ('done', 'failed', 'parked') AND error IS NOT 'AGENT_STOPPED'";
/** A message that waits for longer before its turn ends is left out of the last hour. */
const LONGEST_WAIT = DAY;

/** In one statement: an entry that comes meanwhile is newer, or pending, or neither, but never both. */
const BOUNDS = `SELECT max(id) AS newest, (SELECT json_group_array(id) FROM ${PENDING_INBOX}
  WHERE agent_id = ?1 AND status = 'pending') AS pending FROM inbox WHERE agent_id = ?1`;
/** ?2: the beginning of the hour. Turns by the minute in which they ended. */
const minutesSql = (condition: string) => `SELECT settled_at / ${MINUTE} AS minute, count(*) AS turns
  FROM inbox WHERE agent_id = ?1 AND settled_at >= ?2 AND ${IS_TURN} AND ${condition} GROUP BY 1`;
/** ?3: the newest entry, ?4: the entries that were pending, ?5: the first entry that may have ended in the hour. */
const MINUTES_OVER = minutesSql("id BETWEEN ?5 AND ?3 AND id NOT IN (SELECT value FROM json_each(?4))");
const MINUTES_NEWER = minutesSql("id > ?3");
const MINUTES_PENDING = minutesSql("id IN (SELECT value FROM json_each(?3))");
const LAST = `SELECT json_group_array(json_array(ok, ms)) AS turns FROM (
  SELECT status = 'done' AS ok, settled_at - received_at - waited_ms AS ms FROM inbox
  WHERE agent_id = ?1 AND ${IS_TURN} ORDER BY id DESC LIMIT ${RECENT_TURNS.outcomes})`;

/**
 * Reads an agent's past turns. How many, and what was pending before the read began or is newer, is counted inside the write
 * queue: a turn is recorded right after its own write, so every turn is either in the count or recorded after it, never both.
 */
export function createTurnCounter({ database }: Pick<Kernel, "database">): LoadTurnHistory {
  return async (agentId, onCounted) => {
    const since = Date.now() - HOUR;
    const minutes = new Map<number, number>();
    let total = 0;
    const add = (rows: readonly Row[]) => {
      for (const { minute, turns } of rows)
        minutes.set(Number(minute), (minutes.get(Number(minute)) ?? 0) + Number(turns));
    };
    const [bounds] = (await database.read(BOUNDS, [agentId])).rows;
    const newest = String(bounds?.newest ?? "");
    const pending = String(bounds?.pending ?? "[]");
    const first = firstIdAt(since - LONGEST_WAIT);
    // A busy agent may have had many; without any, the thread is not needed.
    if (newest >= first) add((await database.readLong(MINUTES_OVER, [agentId, since, newest, pending, first])).rows);
    await database.write([
      { sql: MINUTES_NEWER, args: [agentId, since, newest], after: ({ rows }) => add(rows) },
      { sql: MINUTES_PENDING, args: [agentId, since, pending], after: ({ rows }) => add(rows) },
      {
        sql: TURNS_OF_AGENT,
        args: [agentId],
        after({ rows }) {
          total = Number(rows[0]?.turns);
        },
      },
      {
        sql: LAST,
        args: [agentId],
        after({ rows }) {
          const last = JSON.parse(String(rows[0]?.turns)) as [ok: number, ms: number][];
          const recent = last.map(([ok, ms]) => ({ ok: ok === 1, ms })).reverse();
          onCounted({ total, minutes: [...minutes], recent });
        },
      },
    ]);
  };
}
