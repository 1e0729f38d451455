// Defines the SQL that restores and erases sessions. `?1` is the agent throughout. In a join with a JSON array or with the messages of
// some sessions, SQLite must not find the agent's rows first, since it would read the array again for each of them, and all rows of an
// agent with a long past: `+agent_id = ?1` can use no index, and `backup.agent_id` is known only when an element of the array was read.
import type { Statement } from "../../../src/kernel/database/database.ts";
import { PENDING_INBOX } from "../inbox/inbox-sql.ts";
import { deleteSessionsSql, HIDDEN_PLATFORM, MESSAGE_BYTES, WIPE_TEXT } from "../sessions/session-sql.ts";

/** Sessions without a peer that have pending messages. */
const SESSIONS_WITH_PENDING = `SELECT session_id FROM ${PENDING_INBOX} WHERE agent_id = ?1 AND status = 'pending' AND peer IS NULL`;
/** ?2: sessions as rows. */
const GIVEN = "SELECT value ->> 'id' FROM json_each(?2)";
const HIDDEN = `SELECT id FROM sessions WHERE agent_id = ?1 AND platform = '${HIDDEN_PLATFORM}'`;

/** ?2: rows of the sessions to keep, ?3: epoch ms; an empty session created after it may get its first message soon. */
const HIDE = `UPDATE sessions SET platform = '${HIDDEN_PLATFORM}', peer = NULL, status = 'completed', summary = NULL, summary_upto = 0
  WHERE agent_id = ?1 AND platform <> '${HIDDEN_PLATFORM}' AND id NOT IN (${GIVEN}) AND id NOT IN (${SESSIONS_WITH_PENDING})
    AND NOT (message_count = 0 AND peer IS NULL AND created_at > ?3)`;

const EMPTIED = `SELECT id FROM sessions WHERE agent_id = ?1 AND id IN (${SESSIONS_WITH_PENDING}) AND id NOT IN (${GIVEN})`;

// A backup of an earlier version has no taints.
const UPSERT = `INSERT INTO sessions
    (id, agent_id, platform, peer, status, summary, summary_taint, created_at, last_activity_at)
  SELECT value ->> 'id', ?1, value ->> 'platform', value ->> 'peer', value ->> 'status', value ->> 'summary',
    coalesce(value ->> 'summaryTaint', 0), value ->> 'at', value ->> 'active' FROM json_each(?2) WHERE true
  ON CONFLICT (id) DO UPDATE SET platform = excluded.platform, peer = excluded.peer, status = excluded.status,
    summary = excluded.summary, summary_taint = excluded.summary_taint, last_activity_at = excluded.last_activity_at WHERE agent_id = excluded.agent_id`;

/** Restored messages get new numbers, so a backup stores how many messages a summary stands for instead of the last number. */
const RECALCULATE = `UPDATE sessions SET
    message_count = (SELECT count(*) FROM messages WHERE session_id = sessions.id),
    summary_upto = iif(backup.summarized = 0, 0, coalesce((SELECT seq FROM (
      SELECT seq, row_number() OVER (ORDER BY seq) AS position FROM messages WHERE session_id = sessions.id
    ) WHERE position = backup.summarized), 0))
  FROM (SELECT value ->> 'id' AS id, value ->> 'summarized' AS summarized FROM json_each(?2)) AS backup
  WHERE sessions.id = backup.id AND +agent_id = ?1`;

const INSERT = `INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, taint, steps, created_at)
  SELECT value ->> 'id', value ->> 'session', ?1, value ->> 'inbox', value ->> 'platform', value ->> 'role',
    value ->> 'content', coalesce(value ->> 'taint', 0), value ->> 'steps', value ->> 'at' FROM json_each(?2) ORDER BY key`;

/** Inserts the messages of a page, a JSON array, in its order. */
export const insertPageStatement = (agentId: string, page: string): Statement => ({
  sql: INSERT,
  args: [agentId, page],
});

/** Entries of imported messages, which are no turns of this agent: `cancelled` keeps them out of its figures. */
const INSERT_ENTRIES = `INSERT INTO inbox (id, agent_id, session_id, platform, sender_id, sender_name, by_owner, kind, content,
    status, error, received_at, settled_at)
  SELECT value ->> 'id', ?1, value ->> 'session', value ->> 'platform', '', '', 0, value ->> 'kind', value ->> 'content',
    'cancelled', 'IMPORTED', value ->> 'at', value ->> 'at' FROM json_each(?2)`;

/** Inserts a page of entries, a JSON array. */
export const insertEntriesStatement = (agentId: string, page: string): Statement => ({
  sql: INSERT_ENTRIES,
  args: [agentId, page],
});

/** ?2: rows of `{ id, content, topic }`. */
const RESTORE_TEXT = `UPDATE inbox SET content = backup.content, topic = backup.topic
  FROM (SELECT value ->> 'id' AS id, iif(value IS NULL, '', ?1) AS agent_id, value ->> 'content' AS content,
    value ->> 'topic' AS topic FROM json_each(?2)) AS backup
  WHERE inbox.agent_id = backup.agent_id AND inbox.id = backup.id AND inbox.content = '' AND status <> 'pending'`;

/** Restores the wiped texts of inbox entries. */
export const restoreTextStatements = (
  agentId: string,
  rows: readonly { id: string; content: string; topic: string | null }[],
) => (rows.length === 0 ? [] : [{ sql: RESTORE_TEXT, args: [agentId, JSON.stringify(rows)] }]);

/** Restores sessions, with messages that are written in the same batch, and recalculates the counters of the sessions. */
export const restoreSessionsStatements = (
  agentId: string,
  sessions: string,
  messages: readonly Statement[] = [],
): Statement[] => [
  { sql: UPSERT, args: [agentId, sessions] },
  ...messages,
  { sql: RECALCULATE, args: [agentId, sessions] },
];

/** Hides all sessions but the given ones, and empties those that pending messages belong to. */
export const hideSessionsStatements = (agentId: string, keptSessions: string, createdAfter: number): Statement[] => [
  { sql: HIDE, args: [agentId, keptSessions, createdAfter] },
  { sql: `DELETE FROM messages WHERE session_id IN (${EMPTIED})`, args: [agentId, keptSessions] },
  {
    sql: `UPDATE inbox SET ${WIPE_TEXT} WHERE agent_id = ?1 AND status <> 'pending' AND session_id IN (${EMPTIED})`,
    args: [agentId, keptSessions],
  },
  {
    sql: `UPDATE sessions SET message_count = 0, summary = NULL, summary_upto = 0, summary_taint = 0 WHERE id IN (${EMPTIED})`,
    args: [agentId, keptSessions],
  },
];

/** Deletes the messages that were added since the backup. ?2: rows of `{ id, last }`. */
export const DELETE_TAILS = `DELETE FROM messages WHERE seq IN (SELECT m.seq FROM json_each(?2) AS backup
  CROSS JOIN messages AS m ON m.session_id = backup.value ->> 'id' AND m.seq > backup.value ->> 'last' WHERE m.agent_id = ?1)`;
export const DELETE_MESSAGES_OF =
  "DELETE FROM messages WHERE agent_id = ?1 AND session_id IN (SELECT value FROM json_each(?2))";

/** SQLite may reuse the number of a deleted reply. */
export const CLEAR_MISSING_REPLIES = `UPDATE inbox SET reply = NULL WHERE agent_id = ?1 AND reply IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM messages WHERE seq = inbox.reply AND inbox_id = inbox.id)`;
const linkReplies = (sessionIds: string) => `UPDATE inbox SET reply = latest.seq FROM (
    SELECT agent_id, inbox_id, max(seq) AS seq FROM messages
    WHERE session_id IN (${sessionIds}) AND +agent_id = ?1 AND role = 'assistant' GROUP BY inbox_id
  ) AS latest WHERE inbox.agent_id = latest.agent_id AND inbox.id = latest.inbox_id
    AND (inbox.status = 'done' OR inbox.error = 'IMPORTED')`;
/** ?2: ids of sessions whose messages were inserted again. */
export const RELINK_REPLIES = linkReplies("SELECT value FROM json_each(?2)");
/** ?2: rows of sessions that were imported. */
export const LINK_IMPORTED_REPLIES = linkReplies("SELECT value ->> 'id' FROM json_each(?2)");

/** Inserts missing sessions as hidden ones. ?2: rows of sessions, ?3: ids of those to insert. */
export const INSERT_HIDDEN = `INSERT INTO sessions (id, agent_id, platform, status, created_at, last_activity_at)
  SELECT value ->> 'id', ?1, '${HIDDEN_PLATFORM}', 'completed', value ->> 'at', value ->> 'active'
  FROM json_each(?2) WHERE value ->> 'id' IN (SELECT value FROM json_each(?3))`;

/**
 * One row for each state, with the ids of its sessions as a JSON array. ?2: rows of `{ id, count, last, lastId }`. Messages are
 * only ever appended, so equal counts and last ids mean equal messages.
 */
export const COMPARE = `SELECT json_group_array(backup.id) AS ids, CASE
    WHEN s.id IS NULL THEN 'missing'
    WHEN (SELECT count(*) FROM messages WHERE session_id = backup.id AND seq <= backup.last) = backup.count AND (backup.count = 0
      OR EXISTS (SELECT 1 FROM messages WHERE seq = backup.last AND id = backup.last_id AND session_id = backup.id)) THEN 'same'
    ELSE 'changed' END AS state
  FROM (SELECT value ->> 'id' AS id, value ->> 'count' AS count, value ->> 'last' AS last, value ->> 'lastId' AS last_id
    FROM json_each(?2)) AS backup LEFT JOIN sessions AS s ON s.id = backup.id AND s.agent_id = ?1 GROUP BY state`;

const ROW = `json_object('seq', seq, 'id', id, 'session', session_id, 'inbox', inbox_id, 'platform', platform,
  'role', role, 'content', content, 'taint', taint, 'steps', steps, 'at', created_at)`;
/** ?1: numbers of messages. */
export const SELECT_PAGE = `SELECT json_group_array(${ROW}) FROM
  (SELECT * FROM messages WHERE seq IN (SELECT value FROM json_each(?1)) ORDER BY seq)`;
const SIZE = `${MESSAGE_BYTES} AS size`;
/** ?1: numbers of messages. */
export const SELECT_SIZES = `SELECT seq, ${SIZE} FROM messages WHERE seq IN (SELECT value FROM json_each(?1)) ORDER BY seq`;
/** ?1: session, ?2: the number before the page, ?3: the last number to read, ?4: rows of the page. */
export const SELECT_SIZES_UP_TO = `SELECT seq, ${SIZE} FROM messages
  WHERE session_id = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4`;

/** Wipes the entries of hidden sessions. ?2 to ?3: ids. */
export const CLEAR_INBOX = `UPDATE inbox SET ${WIPE_TEXT} WHERE agent_id = ?1 AND id BETWEEN ?2 AND ?3
  AND status <> 'pending' AND content <> '' AND session_id IN (${HIDDEN})`;
export const CLEAR_SESSIONS = deleteSessionsSql(`${HIDDEN} ORDER BY rowid LIMIT 100`, 500);
/** Wipes delivered replies. ?2 to ?3: ids. */
export const CLEAR_OUTBOX = `UPDATE outbox SET body = '' WHERE id BETWEEN ?2 AND ?3 AND agent_id = ?1
  AND status <> 'pending' AND body <> ''`;
