// Says how expired sessions are deleted: a visitor's with its messages a month after the last one, an empty web session after a day.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { measureBy, statementsStep } from "../../../src/kernel/retention/deletion.ts";
import type { KeptKind } from "../../../src/kernel/retention/kept-kind.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { PENDING_INBOX } from "../inbox/inbox-sql.ts";
import { deleteSessionsSql, WIPE_TEXT } from "./session-sql.ts";
import type { Sessions } from "./sessions.ts";

const EMPTY_SESSION_TTL = DAY;
/** As long as the cookie of a visitor is valid. */
const VISITOR_TTL = 30 * DAY;

interface Deps extends Pick<Kernel, "database"> {
  sessions: Pick<Sessions, "invalidate">;
}

/**
 * A visitor's open session is completed by one run and deleted by a later one, so that a message which is being stored for it
 * meanwhile still finds it. A session with pending messages is kept.
 */
export function visitorsKind({ database, sessions }: Deps): KeptKind {
  const invalidateRow = ({ id, agent_id, platform, peer }: Readonly<Record<string, unknown>>) =>
    sessions.invalidate({
      id: String(id),
      agentId: String(agent_id),
      platform: String(platform),
      peer: peer === null ? null : String(peer),
    });
  const step = (...steps: string[]) =>
    statementsStep(database, (before, limit) =>
      steps.map((sql) => ({ sql, args: [before, limit], after: ({ rows }) => rows.forEach(invalidateRow) })),
    );
  const deleteEmpty = step(DELETE_EMPTY);
  return {
    name: "visitors",
    what: "conversations of visitors, and empty ones of the console after a day",
    keepMs: VISITOR_TTL,
    steps: [
      step(...DELETE_VISITORS),
      step(CLOSE_VISITORS),
      step(WIPE_VISITOR_MESSAGES),
      (before, limit) => deleteEmpty(before + VISITOR_TTL - EMPTY_SESSION_TTL, limit),
    ],
    measure: measureBy(database, MEASURE),
  };
}

const HAS_PENDING = `EXISTS (SELECT 1 FROM ${PENDING_INBOX}
  WHERE inbox.agent_id = sessions.agent_id AND session_id = sessions.id AND inbox.status = 'pending')`;
const RETURNING = "RETURNING id, agent_id, platform, peer";

/** The first visitors' sessions with this status whose last message came before ?1. */
const idleVisitorSessions = (status: "open" | "completed") => `SELECT id FROM sessions
  WHERE platform = 'public' AND last_activity_at < ?1 AND status = '${status}' AND NOT ${HAS_PENDING}
  ORDER BY last_activity_at LIMIT ?2`;

export const DELETE_VISITORS = deleteSessionsSql(idleVisitorSessions("completed"), "?2");
export const CLOSE_VISITORS = `UPDATE sessions SET status = 'completed' WHERE id IN (${idleVisitorSessions("open")}) ${RETURNING}`;
/** The inbox holds the texts too, and those of unanswered messages only the inbox holds. */
export const WIPE_VISITOR_MESSAGES = `UPDATE inbox SET ${WIPE_TEXT} WHERE (agent_id, id) IN (SELECT agent_id, id FROM inbox AS expired
  WHERE platform = 'public' AND content <> '' AND received_at < ?1 AND status <> 'pending'
    AND NOT EXISTS (SELECT 1 FROM sessions WHERE id = expired.session_id) ORDER BY received_at LIMIT ?2)`;
export const DELETE_EMPTY = `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions
  WHERE message_count = 0 AND platform = 'web' AND created_at < ?1 AND NOT ${HAS_PENDING}
  LIMIT ?2) ${RETURNING}`;
const MEASURE = `SELECT count(*) AS rows, count(*) * 200 AS bytes, min(last_activity_at) AS oldest FROM sessions
  WHERE platform = 'public' AND last_activity_at < ?1`;
