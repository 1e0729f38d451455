// Lists what is deleted of a person in each table, and what a copy of it is made of. Each row says in which table a person can be.
import type { InValue } from "@libsql/client";
import { PAIRED_AT, type Traces } from "./find-traces.ts";
import { endOf, type Subject } from "./subject.ts";

export interface Deletion {
  /** The name in the receipt. */
  kind: string;
  table: string;
  /** Rows of the person. */
  where: string;
  /** Columns of the copy that the person gets; left out: none, since nothing of it is the person's words. */
  copied?: string;
  /** The columns of the key of a row. */
  key: string;
}

/**
 * ?1 agent, ?2 entries, ?3 conversations, ?4 addresses, ?5 channel, ?6 sender, ?7 circles of memory, ?8 names and id to look for,
 * ?9 until when.
 */
export const parametersOf = (traces: Traces, subject: Subject): InValue[] => [
  traces.agentId,
  JSON.stringify(traces.entries),
  JSON.stringify(traces.sessions),
  JSON.stringify(traces.peers),
  subject.channel,
  subject.id,
  JSON.stringify(traces.peers.map((peer) => `${subject.channel}:${peer}`)),
  // Short ones occur in every other text.
  JSON.stringify([subject.id, ...traces.names].filter((text) => text.length >= 4)),
  endOf(subject),
];

const list = (parameter: string) => `(SELECT value FROM json_each(${parameter}))`;
const occursIn = (column: string) => `EXISTS (SELECT 1 FROM json_each(?8) WHERE instr(${column}, value) > 0)`;
const OF_EVENT = `agent_id = ?1 AND created_at < ?9 AND (data ->> '$.inboxId' IN ${list("?2")} OR data ->> '$.turn' IN ${list("?2")}
  OR data ->> '$.turnId' IN ${list("?2")} OR data ->> '$.sessionId' IN ${list("?3")} OR ${occursIn("data")})`;

/** In this order: the entries of the inbox are last, since the others are found by them. */
export const DELETIONS: readonly Deletion[] = [
  {
    kind: "webhookDeliveries",
    table: "webhook_deliveries",
    where: `event_seq IN (SELECT seq FROM events WHERE ${OF_EVENT})`,
    key: "id",
  },
  // The newest event stays, since the next number is derived from it; its data is emptied.
  { kind: "events", table: "events", where: `${OF_EVENT} AND seq < (SELECT max(seq) FROM events)`, key: "seq" },
  {
    kind: "logLines",
    table: "agent_logs",
    where: `agent_id = ?1 AND at < ?9 AND (links ->> '$.turn' IN ${list("?2")} OR ${occursIn("message")})`,
    key: "id",
  },
  {
    kind: "turnSteps",
    table: "turn_steps",
    where: `agent_id = ?1 AND turn_id IN ${list("?2")}`,
    key: "agent_id, turn_id, seq",
    copied: "kind, name, input, output, started_at",
  },
  {
    kind: "approvals",
    table: "approvals",
    where: `agent_id = ?1 AND requested_at < ?9 AND (turn_id IN ${list("?2")} OR session_id IN ${list("?3")})`,
    key: "id",
  },
  {
    kind: "memories",
    table: "memories",
    where: `agent_id = ?1 AND created_at < ?9 AND (circle IN ${list("?7")} OR turn_id IN ${list("?2")})`,
    key: "seq",
    copied: "content, created_at",
  },
  {
    kind: "reminders",
    table: "reminders",
    where: `agent_id = ?1 AND created_at < ?9 AND (session_id IN ${list("?3")} OR platform = ?5 AND peer IN ${list("?4")})`,
    key: "id",
    copied: "text, due_at, created_at",
  },
  {
    kind: "pairings",
    table: "pairings",
    where: `agent_id = ?1 AND channel = ?5 AND sender_id = ?6 AND ${PAIRED_AT} < ?9`,
    key: "agent_id, channel, sender_id",
    copied: "sender_name, peer, approved_at, created_at",
  },
  {
    kind: "deliveries",
    table: "outbox",
    where: `agent_id = ?1 AND created_at < ?9 AND (inbox_id IN ${list("?2")} OR platform = ?5 AND peer IN ${list("?4")})`,
    key: "id",
  },
  {
    kind: "jobs",
    table: "jobs",
    where: `payload ->> '$.agentId' = ?1 AND created_at < ?9 AND (payload ->> '$.sessionId' IN ${list("?3")} OR payload ->> '$.peer' IN ${list("?4")})`,
    key: "id",
  },
  {
    kind: "messages",
    table: "messages",
    where: `created_at < ?9 AND (session_id IN ${list("?3")} OR agent_id = ?1 AND inbox_id IN ${list("?2")})`,
    key: "seq",
    copied: "role, content, created_at",
  },
  {
    kind: "conversations",
    table: "sessions",
    // One that went on after the end has only lost what is older.
    where: `agent_id = ?1 AND id IN ${list("?3")} AND last_activity_at < ?9`,
    key: "id",
    copied: "platform, peer, summary, created_at",
  },
  {
    kind: "received",
    table: "inbox",
    where: `agent_id = ?1 AND received_at < ?9 AND (platform = ?5 AND sender_id = ?6 OR session_id IN ${list("?3")})`,
    key: "agent_id, id",
    copied: "sender_id, sender_name, content, attachments, received_at",
  },
];

const columnsOf = ({ key }: Deletion) => key.split(", ");
/** One row: a JSON array of the keys of the person's rows. It may look through many rows, so it runs off the event loop. */
export const findSql = (deletion: Deletion) =>
  `SELECT json_group_array(json_array(${deletion.key})) AS keys FROM ${deletion.table} WHERE ${deletion.where}`;
/** ?1: a JSON array of keys. */
export const deleteSql = (deletion: Deletion) =>
  `DELETE FROM ${deletion.table} WHERE (${deletion.key}) IN
    (SELECT ${columnsOf(deletion)
      .map((_, at) => `value ->> ${at}`)
      .join(", ")} FROM json_each(?1))`;
/** As many arguments as the statement has numbers of. */
export const argumentsFor = (sql: string, all: readonly InValue[]): InValue[] =>
  all.slice(0, Math.max(0, ...[...sql.matchAll(/\?(\d+)/g)].map(([, number]) => Number(number))));

/** One row: a JSON array of the copied columns. */
export const copySql = ({ table, where, copied = "" }: Deletion) =>
  `SELECT json_group_array(json_object(${copied
    .split(", ")
    .map((column) => `'${column}', ${column}`)
    .join(", ")})) AS rows FROM ${table} WHERE ${where}`;

export const EMPTY_NEWEST_EVENT = `UPDATE events SET data = '{}' WHERE seq = (SELECT max(seq) FROM events) AND ${OF_EVENT}`;
/** Conversations that go on: what is left is counted, and the summary, which may quote the person, is made anew. ?1: ids. */
export const REPAIR_CONVERSATIONS = `UPDATE sessions SET summary = NULL, summary_upto = 0, summary_taint = 0,
  message_count = (SELECT count(*) FROM messages WHERE session_id = sessions.id) WHERE id IN (SELECT value FROM json_each(?1))`;
/** Files that came with the person's messages, or with replies to them, and with no other. */
export const FILES = `SELECT DISTINCT u.id, u.name, u.type, u.size FROM upload_uses x
  JOIN uploads u ON u.agent_id = x.agent_id AND u.id = x.upload_id
  WHERE x.agent_id = ?1 AND x.message_id IN (SELECT value FROM json_each(?2)) AND NOT EXISTS (SELECT 1 FROM upload_uses other
    WHERE other.agent_id = ?1 AND other.upload_id = x.upload_id AND other.message_id NOT IN (SELECT value FROM json_each(?2)))`;
