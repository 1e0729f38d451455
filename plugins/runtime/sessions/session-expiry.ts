// Deletes expired sessions in steps: a visitor's with its messages a month after the last one, an empty web session after a day.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { PENDING_INBOX } from "../inbox/inbox-sql.ts";
import { deleteSessionsSql, WIPE_TEXT } from "./session-sql.ts";
import type { Sessions } from "./sessions.ts";

const EMPTY_SESSION_TTL = DAY;
/** As long as the cookie of a visitor is valid. */
const VISITOR_TTL = 30 * DAY;
const SESSION_BATCH = 100;
const MESSAGE_BATCH = 500;

interface Deps extends Pick<Kernel, "database"> {
  sessions: Pick<Sessions, "invalidate">;
}

/**
 * Returns the function that does one pass. A visitor's open session is completed by one pass and deleted by a later one, so
 * that a message which is being stored for it meanwhile still finds it. A session with pending messages is kept.
 */
export function createSessionExpiry({ database, sessions }: Deps): (signal?: AbortSignal) => Promise<void> {
  /** Repeats the statements until they change nothing. ?1: epoch ms before which a session expires. */
  async function repeatUntilDone(before: number, steps: readonly string[], signal?: AbortSignal): Promise<void> {
    for (let changed = 1; changed > 0 && !signal?.aborted; await yieldToEventLoop()) {
      const done = await database.write(
        steps.map((sql) => ({ sql, args: [before], after: ({ rows }) => rows.forEach(invalidateRow) })),
      );
      changed = done.reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
    }
  }

  const invalidateRow = ({ id, agent_id, platform, peer }: Readonly<Record<string, unknown>>) =>
    sessions.invalidate({
      id: String(id),
      agentId: String(agent_id),
      platform: String(platform),
      peer: peer === null ? null : String(peer),
    });

  return async (signal) => {
    const idle = Date.now() - VISITOR_TTL;
    await repeatUntilDone(idle, DELETE_VISITORS, signal);
    await repeatUntilDone(idle, [CLOSE_VISITORS], signal);
    await repeatUntilDone(idle, [WIPE_VISITOR_MESSAGES], signal);
    await repeatUntilDone(Date.now() - EMPTY_SESSION_TTL, [DELETE_EMPTY], signal);
  };
}

const HAS_PENDING = `EXISTS (SELECT 1 FROM ${PENDING_INBOX}
  WHERE inbox.agent_id = sessions.agent_id AND session_id = sessions.id AND inbox.status = 'pending')`;
const RETURNING = "RETURNING id, agent_id, platform, peer";

/** The first visitors' sessions with this status whose last message came before ?1. */
const idleVisitorSessions = (status: "open" | "completed") => `SELECT id FROM sessions
  WHERE platform = 'public' AND last_activity_at < ?1 AND status = '${status}' AND NOT ${HAS_PENDING}
  ORDER BY last_activity_at LIMIT ${SESSION_BATCH}`;

export const DELETE_VISITORS = deleteSessionsSql(idleVisitorSessions("completed"), MESSAGE_BATCH);
export const CLOSE_VISITORS = `UPDATE sessions SET status = 'completed' WHERE id IN (${idleVisitorSessions("open")}) ${RETURNING}`;
/** The inbox holds the texts too, and those of unanswered messages only the inbox holds. */
export const WIPE_VISITOR_MESSAGES = `UPDATE inbox SET ${WIPE_TEXT} WHERE (agent_id, id) IN (SELECT agent_id, id FROM inbox AS expired
  WHERE platform = 'public' AND content <> '' AND received_at < ?1 AND status <> 'pending'
    AND NOT EXISTS (SELECT 1 FROM sessions WHERE id = expired.session_id) ORDER BY received_at LIMIT ${MESSAGE_BATCH})`;
export const DELETE_EMPTY = `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions
  WHERE message_count = 0 AND platform = 'web' AND created_at < ?1 AND NOT ${HAS_PENDING}
  LIMIT ${SESSION_BATCH}) ${RETURNING}`;
