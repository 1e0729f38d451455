// Deletes the journal of turns after 30 days, in small pieces. Turns that may still go on keep it.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Database } from "../../../src/kernel/database/database.ts";
import { DAY } from "../../../src/kernel/util/time.ts";

const RETENTION_MS = 30 * DAY;
const BATCH_ROWS = 500;

/** ?1: the first id of a turn that is kept. Ids begin with their time, so the index has the oldest turns first. */
export const PRUNE_STEPS = `DELETE FROM turn_steps WHERE (agent_id, turn_id, seq) IN (
  SELECT agent_id, turn_id, seq FROM turn_steps AS old WHERE turn_id < ?1 AND NOT EXISTS (
    SELECT 1 FROM inbox WHERE agent_id = old.agent_id AND id = old.turn_id AND status IN ('pending', 'parked'))
  ORDER BY turn_id LIMIT ${BATCH_ROWS})`;

/** Returns the number of deleted rows. */
export async function pruneJournal({ write }: Pick<Database, "write">, now = Date.now()): Promise<number> {
  const hex = (now - RETENTION_MS).toString(16).padStart(12, "0");
  const firstKept = `${hex.slice(0, 8)}-${hex.slice(8)}`;
  for (let total = 0; ; await yieldToEventLoop()) {
    const [result] = await write([{ sql: PRUNE_STEPS, args: [firstKept] }]);
    const removed = result?.rowsAffected ?? 0;
    total += removed;
    if (removed < BATCH_ROWS) return total;
  }
}
