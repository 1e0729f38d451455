// Defines the SQL about sessions that both their expiry and the backup use.
import { firstKeysSql } from "../id-pages.ts";

/** The platform of sessions that are being restored or deleted. They are not shown. */
export const HIDDEN_PLATFORM = "";

/** Assignments that wipe an inbox entry together with its conversation. */
export const WIPE_TEXT = `content = '', attachments = NULL, sender_name = '', topic = NULL, reply = NULL, status = iif(status = 'parked', 'failed', status)`;

/** Bytes of a message's text and steps, which SQLite knows without reading them. */
export const MESSAGE_BYTES = "octet_length(content) + coalesce(octet_length(steps), 0)";

/**
 * One step of deleting sessions: so many messages (a number or a parameter), or fewer large ones, of the sessions that a query selects, and those of these sessions that are
 * empty by then, so that the next step does not select them again.
 */
export const deleteSessionsSql = (sessionIdsSql: string, messages: number | string): [string, string] => [
  `DELETE FROM messages WHERE seq IN (${firstKeysSql(
    `SELECT seq AS key, ${MESSAGE_BYTES} AS bytes FROM messages WHERE session_id IN (${sessionIdsSql}) LIMIT ${messages}`,
    "",
  )})`,
  `DELETE FROM sessions WHERE id IN (${sessionIdsSql}) AND NOT EXISTS (SELECT 1 FROM messages WHERE session_id = sessions.id)`,
];
