// The statements over sessions that are brought back or forgotten. `?1` is the agent throughout.
import type { Statement } from "../../../src/kernel/database/database.ts";
import { HIDDEN_PLATFORM } from "../sessions/sessions.ts";

/** Messages that wait to be answered name these sessions by their id alone. */
const SESSIONS_WITH_PENDING =
  "SELECT session_id FROM inbox WHERE agent_id = ?1 AND status = 'pending' AND peer IS NULL";
/** ?2: sessions as rows. */
const GIVEN = "SELECT value ->> 'id' FROM json_each(?2)";
/** What an entry of the inbox loses with the conversation it belongs to. */
export const WIPE_TEXT = `content = '', attachments = NULL, sender_name = '', topic = NULL, reply = NULL, status = iif(status = 'parked', 'failed', status)`;
const HIDDEN = `SELECT id FROM sessions WHERE agent_id = ?1 AND platform = '${HIDDEN_PLATFORM}'`;

/** ?2: rows of sessions that stay, ?3: one made since then may be about to get its first message. */
const HIDE = `UPDATE sessions SET platform = '${HIDDEN_PLATFORM}', peer = NULL, status = 'completed', summary = NULL, summary_upto = 0
  WHERE agent_id = ?1 AND platform <> '${HIDDEN_PLATFORM}' AND id NOT IN (${GIVEN}) AND id NOT IN (${SESSIONS_WITH_PENDING})
    AND NOT (message_count = 0 AND peer IS NULL AND created_at > ?3) RETURNING id`;

const EMPTIED = `SELECT id FROM sessions WHERE agent_id = ?1 AND id IN (${SESSIONS_WITH_PENDING}) AND id NOT IN (${GIVEN})`;

const UPSERT = `INSERT INTO sessions (id, agent_id, platform, peer, status, summary, created_at, last_activity_at)
  SELECT value ->> 'id', ?1, value ->> 'platform', value ->> 'peer', value ->> 'status', value ->> 'summary',
    value ->> 'at', value ->> 'active' FROM json_each(?2) WHERE true
  ON CONFLICT (id) DO UPDATE SET platform = excluded.platform, peer = excluded.peer, status = excluded.status,
    summary = excluded.summary, last_activity_at = excluded.last_activity_at WHERE agent_id = excluded.agent_id`;

/** Numbers of messages are given anew when they are written again: a summary is kept as how many it stands for. */
const RECALCULATE = `UPDATE sessions SET
    message_count = (SELECT count(*) FROM messages WHERE session_id = sessions.id),
    summary_upto = iif(was.summarized = 0, 0, coalesce((SELECT seq FROM (
      SELECT seq, row_number() OVER (ORDER BY seq) AS place FROM messages WHERE session_id = sessions.id
    ) WHERE place = was.summarized), 0))
  FROM (SELECT value ->> 'id' AS id, value ->> 'summarized' AS summarized FROM json_each(?2)) AS was
  WHERE sessions.id = was.id AND agent_id = ?1`;

const INSERT = `INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, steps, created_at)
  SELECT value ->> 'id', value ->> 'session', ?1, value ->> 'inbox', value ->> 'platform', value ->> 'role',
    value ->> 'content', value ->> 'steps', value ->> 'at' FROM json_each(?2) ORDER BY key`;

/** Messages of a page, in the order in which they are given. */
export const insertMessagesStatement = (agentId: string, messages: readonly unknown[]): Statement => ({
  sql: INSERT,
  args: [agentId, JSON.stringify(messages)],
});

/** Questions that were asked of the API, by the words that were wiped from their entries. ?2: rows. */
const RESTORE_TEXT = `UPDATE inbox SET content = said.content, topic = said.topic
  FROM (SELECT value ->> 'id' AS id, value ->> 'content' AS content, value ->> 'topic' AS topic FROM json_each(?2)) AS said
  WHERE inbox.agent_id = ?1 AND inbox.id = said.id AND inbox.content = '' AND status <> 'pending'`;

/** Gives entries of the inbox back what they said. */
export const restoreTextStatements = (
  agentId: string,
  rows: readonly { id: string; content: string; topic: string | null }[],
) => (rows.length === 0 ? [] : [{ sql: RESTORE_TEXT, args: [agentId, JSON.stringify(rows)] }]);

/** Sessions as they were, with messages that are written in the same batch, and what follows from both. */
export const restoreSessionsStatements = (
  agentId: string,
  sessions: string,
  messages: readonly Statement[] = [],
): Statement[] => [
  { sql: UPSERT, args: [agentId, sessions] },
  ...messages,
  { sql: RECALCULATE, args: [agentId, sessions] },
];

/** Lets go of all sessions but these; what waits to be answered keeps an empty one. The first says which they were. */
export const hideSessionsStatements = (agentId: string, keptSessions: string, createdAfter: number): Statement[] => [
  { sql: HIDE, args: [agentId, keptSessions, createdAfter] },
  { sql: `DELETE FROM messages WHERE session_id IN (${EMPTIED})`, args: [agentId, keptSessions] },
  {
    sql: `UPDATE inbox SET ${WIPE_TEXT} WHERE agent_id = ?1 AND status <> 'pending' AND session_id IN (${EMPTIED})`,
    args: [agentId, keptSessions],
  },
  {
    sql: `UPDATE sessions SET message_count = 0, summary = NULL, summary_upto = 0 WHERE id IN (${EMPTIED}) RETURNING id`,
    args: [agentId, keptSessions],
  },
];

/** ?2: rows of `{ id, last }`. */
export const DELETE_TAILS = `DELETE FROM messages WHERE seq IN (SELECT m.seq FROM json_each(?2) AS was
  JOIN messages AS m ON m.session_id = was.value ->> 'id' AND m.seq > was.value ->> 'last' WHERE m.agent_id = ?1)`;
export const DELETE_MESSAGES_OF =
  "DELETE FROM messages WHERE agent_id = ?1 AND session_id IN (SELECT value FROM json_each(?2))";

/** Numbers of replies that are gone may be given to others. */
export const CLEAR_MISSING_REPLIES = `UPDATE inbox SET reply = NULL WHERE agent_id = ?1 AND reply IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM messages WHERE seq = inbox.reply AND inbox_id = inbox.id)`;
/** ?2: sessions whose messages were written again. */
export const RELINK_REPLIES = `UPDATE inbox SET reply = said.seq FROM (
    SELECT inbox_id, max(seq) AS seq FROM messages
    WHERE session_id IN (SELECT value FROM json_each(?2)) AND role = 'assistant' GROUP BY inbox_id
  ) AS said WHERE inbox.agent_id = ?1 AND inbox.id = said.inbox_id AND inbox.status = 'done'`;

/** Sessions that are not there come in as nobody's. ?2: rows, ?3: which of them. */
export const INSERT_HIDDEN = `INSERT INTO sessions (id, agent_id, platform, status, created_at, last_activity_at)
  SELECT value ->> 'id', ?1, '${HIDDEN_PLATFORM}', 'completed', value ->> 'at', value ->> 'active'
  FROM json_each(?2) WHERE value ->> 'id' IN (SELECT value FROM json_each(?3))`;

/** ?2: rows of `{ id, count, last, lastId }`. Messages are only ever added, so count and last one say that all are there. */
export const COMPARE = `SELECT was.id AS id, CASE
    WHEN s.id IS NULL THEN 'missing'
    WHEN (SELECT count(*) FROM messages WHERE session_id = was.id AND seq <= was.last) = was.count AND (was.count = 0
      OR EXISTS (SELECT 1 FROM messages WHERE seq = was.last AND id = was.last_id AND session_id = was.id)) THEN 'same'
    ELSE 'changed' END AS state
  FROM (SELECT value ->> 'id' AS id, value ->> 'count' AS count, value ->> 'last' AS last, value ->> 'lastId' AS last_id
    FROM json_each(?2)) AS was LEFT JOIN sessions AS s ON s.id = was.id AND s.agent_id = ?1`;

const ROW = `json_object('seq', seq, 'id', id, 'session', session_id, 'inbox', inbox_id, 'platform', platform,
  'role', role, 'content', content, 'steps', steps, 'at', created_at)`;
/** ?1: numbers. */
export const SELECT_PAGE = `SELECT json_group_array(${ROW}) FROM
  (SELECT * FROM messages WHERE seq IN (SELECT value FROM json_each(?1)) ORDER BY seq)`;
/** ?1: session, ?2 to ?3: after and up to which number, ?4: how many. */
export const SELECT_MESSAGES_UP_TO = `SELECT json_group_array(${ROW}) FROM
  (SELECT * FROM messages WHERE session_id = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4)`;

/** ?2 to ?3: ids. */
export const CLEAR_INBOX = `UPDATE inbox SET ${WIPE_TEXT} WHERE agent_id = ?1 AND id BETWEEN ?2 AND ?3
  AND status <> 'pending' AND content <> '' AND session_id IN (${HIDDEN})`;
export const INBOX_PAGE = `SELECT min(id) AS first, max(id) AS last FROM
  (SELECT id FROM inbox WHERE agent_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3)`;

/**
 * One step of deleting sessions: so many messages of those that a query picks, and of these sessions the ones that are
 * empty by then, or every step would go through them again.
 */
export const deleteSessionsSql = (sessionIdsSql: string, messages: number): [string, string] => [
  `DELETE FROM messages WHERE seq IN (SELECT seq FROM messages WHERE session_id IN (${sessionIdsSql}) LIMIT ${messages})`,
  `DELETE FROM sessions WHERE id IN (${sessionIdsSql}) AND NOT EXISTS (SELECT 1 FROM messages WHERE session_id = sessions.id)`,
];
export const CLEAR_SESSIONS = deleteSessionsSql(`${HIDDEN} ORDER BY rowid LIMIT 100`, 500);
/** ?2 to ?3: ids. */
export const CLEAR_OUTBOX = `UPDATE outbox SET body = '' WHERE id BETWEEN ?2 AND ?3 AND agent_id = ?1
  AND status <> 'pending' AND body <> ''`;
