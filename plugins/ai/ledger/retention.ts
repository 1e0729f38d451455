// Deletes the rows of single calls after 400 days; the daily totals are kept.

import type { Database } from "../../../src/kernel/database/database.ts";
import { DAY } from "../../../src/kernel/util/time.ts";

export const RETENTION_MS = 400 * DAY;
const BATCH_ROWS = 2_000;
/** In an empty table the numbers of rows begin anew. */
const UNMARK = "UPDATE usage_summed SET upto = 0 WHERE NOT EXISTS (SELECT 1 FROM usage)";

/** Deletes rows past their retention in small batches, the oldest first; returns their number. */
export async function pruneLedger({ write }: Pick<Database, "write">, now = Date.now()): Promise<number> {
  // Row ids follow time, except for rows that waited; one that is missed today is deleted on a later day.
  const sql = `DELETE FROM usage WHERE at < ? AND rowid <= (SELECT upto FROM usage_summed WHERE id = 1)
    AND rowid IN (SELECT rowid FROM usage ORDER BY rowid LIMIT ${BATCH_ROWS})`;
  for (let total = 0; ; ) {
    const [result] = await write([
      { sql, args: [now - RETENTION_MS] },
      { sql: UNMARK, args: [] },
    ]);
    const removed = result?.rowsAffected ?? 0;
    total += removed;
    if (removed < BATCH_ROWS) return total;
  }
}
