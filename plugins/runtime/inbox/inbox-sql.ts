// Defines the SQL that changes entries of the inbox.
import type { Statement } from "../../../src/kernel/database/database.ts";

/**
 * The table for statements about the pending entries of one agent: without the name of the index, SQLite would read all entries
 * that the agent ever had. Each needs the condition `status = 'pending'` as it stands here.
 */
export const PENDING_INBOX = "inbox INDEXED BY inbox_pending";

/** How an entry ends. */
export type FinalStatus = "done" | "failed" | "cancelled" | "parked";

/** Ends an entry that is still pending. `done` must come right after the statement that inserts its reply. */
export function endStatement(
  { agentId, id }: { agentId: string; id: string },
  status: FinalStatus,
  error: string | undefined,
  at: number,
): Statement {
  const reply = status === "done" ? "last_insert_rowid()" : "NULL";
  const sql = `UPDATE inbox SET status = ?, error = ?, settled_at = ?, reply = ${reply} WHERE agent_id = ? AND id = ? AND status = 'pending'`;
  return { sql, args: [status, error ?? null, at, agentId, id] };
}

/**
 * Counts a try for the entries that may have been running. ?1: agents as JSON, ?2: entries of each. The oldest pending entry
 * of a session runs first, and of these the oldest. Returns these entries.
 */
export const COUNT_INTERRUPTED = `
  UPDATE inbox SET attempts = attempts + 1
  WHERE status = 'pending' AND suspended IS NOT 1 AND (agent_id, id) IN (
    SELECT agent_id, id FROM (
      SELECT agent_id, id, row_number() OVER (PARTITION BY agent_id ORDER BY id) AS position FROM (
        SELECT agent_id, min(id) AS id FROM ${PENDING_INBOX}
        WHERE status = 'pending' AND suspended IS NOT 1 AND agent_id IN (SELECT value FROM json_each(?)) GROUP BY agent_id, session_id
      )
    ) WHERE position <= ?
  ) RETURNING agent_id, id`;

/** ?1 agent, ?2 ids as JSON. */
export const PENDING_OF =
  "SELECT id FROM inbox WHERE agent_id = ?1 AND status = 'pending' AND id IN (SELECT value FROM json_each(?2))";

/** ?1 agent. Reminders and schedules have no one who waits. */
export const WAITING_CONVERSATIONS = `SELECT platform, peer, max(language) AS language FROM ${PENDING_INBOX}
  WHERE agent_id = ?1 AND status = 'pending' AND peer IS NOT NULL AND kind <> 'reminder' GROUP BY platform, peer`;

export const SAVE_WORDS = `UPDATE inbox SET content = ?, attachments = ?, transcribed_by = ?
  WHERE agent_id = ? AND id = ? AND status = 'pending'`;
