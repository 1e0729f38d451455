// Counts an agent's past turns from the inbox: settled entries in steps that yield to others, the rest in one write.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Row } from "@libsql/client";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { HOUR, MINUTE } from "../../../src/kernel/util/time.ts";
import { type LoadTurnHistory, RECENT_TURNS } from "../../agent-stats/index.ts";

/** Entries counted in one step, which takes about a millisecond. */
const STEP = 2_000;

/** Commands, cancelled messages, and messages that a stopped agent rejected are not turns. */
const IS_TURN = "kind <> 'command' AND status IN ('done', 'failed', 'parked') AND error IS NOT 'AGENT_STOPPED'";

/** Every entry before the first pending one is settled, and stays so. */
const FIRST_PENDING = "SELECT min(id) AS id FROM inbox WHERE agent_id = ?1 AND status = 'pending'";
const NEWEST = "SELECT max(id) AS id FROM inbox WHERE agent_id = ?1";
const END_OF_STEP = `SELECT max(id) AS id FROM (SELECT id FROM inbox WHERE agent_id = ?1 AND id > ?2 AND id < ?3 ORDER BY id LIMIT ${STEP})`;
/** Turns with ids after ?2 up to ?3, by the minute in which they ended; those that ended before ?4 are in minute 0. */
const COUNT = `SELECT iif(settled_at >= ?4, settled_at / ${MINUTE}, 0) AS minute, count(*) AS turns FROM inbox
  WHERE agent_id = ?1 AND id > ?2 AND id <= ?3 AND ${IS_TURN} GROUP BY 1`;
const LAST = `SELECT status = 'done' AS ok, settled_at - received_at - waited_ms AS ms FROM inbox
  WHERE agent_id = ?1 AND ${IS_TURN} ORDER BY id DESC LIMIT ${RECENT_TURNS.outcomes}`;
/** Sorts after every id. */
const MAX_ID = "~";

/**
 * Counts an agent's past turns. The last page is counted inside the write queue: a turn is recorded right after its own
 * write, so every turn is either in the count or recorded after it, never both.
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
    const firstPending = (await database.read(FIRST_PENDING, [agentId])).rows[0]?.id;
    const until = String(firstPending ?? (await database.read(NEWEST, [agentId])).rows[0]?.id ?? "");
    let after = "";
    for (;;) {
      const last = (await database.read(END_OF_STEP, [agentId, after, until])).rows[0]?.id;
      if (typeof last !== "string") break;
      add((await database.read(COUNT, [agentId, after, last, since])).rows);
      after = last;
      await yieldToEventLoop();
    }
    await database.write([
      { sql: COUNT, args: [agentId, after, MAX_ID, since], after: ({ rows }) => add(rows) },
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
