// Single calls are kept for a good year; what they add up to stays for good.
import type { Database } from "../../../src/kernel/database/database.ts";

const RETENTION_MS = 400 * 86_400_000;
const BATCH_ROWS = 2_000;

/** Removes the rows of calls that are too old, the oldest first and few at once; returns how many. */
export async function pruneLedger({ write }: Pick<Database, "write">, now = Date.now()): Promise<number> {
  // Rows come in the order of time, but for some that waited; one that is passed over today goes another day.
  const sql = `DELETE FROM usage WHERE at < ? AND rowid IN (SELECT rowid FROM usage ORDER BY rowid LIMIT ${BATCH_ROWS})`;
  for (let total = 0; ; ) {
    const [result] = await write([{ sql, args: [now - RETENTION_MS] }]);
    const removed = result?.rowsAffected ?? 0;
    total += removed;
    if (removed < BATCH_ROWS) return total;
  }
}
