// Lists the messages that were sent to an agent with `POST /api/chat`: of one topic by its index, of all in steps that yield.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Database } from "../../../src/kernel/database/database.ts";

/** A message sent through the API, with its outcome. */
export interface SentMessage {
  id: string;
  message: string;
  topic: string | null;
  status: "pending" | "done" | "failed" | "cancelled" | "parked";
  reply: string | null;
  /** Epoch ms. */
  timestamp: number;
}

export interface SentPage {
  limit: number;
  offset: number;
  /** Only messages with ids before this one. */
  cursor?: string | undefined;
  topic?: string | undefined;
}

/** Entries read in one step, which takes a few milliseconds. */
const STEP = 1_000;
/** Sorts after every id. */
const NEWEST = "~";
/** The texts of others were wiped with their session. */
const IS_SENT = "platform = 'api' AND content <> ''";

const STEP_START = `SELECT id FROM inbox WHERE agent_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT 1 OFFSET ${STEP - 1}`;
/** From id ?3 to before ?2. */
const IN_STEP = `SELECT id FROM inbox WHERE agent_id = ?1 AND id < ?2 AND id >= ?3 AND ${IS_SENT} ORDER BY id DESC`;
const OF_TOPIC = `SELECT id FROM inbox INDEXED BY inbox_topics WHERE agent_id = ?1 AND topic = ?2 AND id < ?5
    AND ${IS_SENT} ORDER BY id DESC LIMIT ?3 OFFSET ?4`;
/** SQLite may reuse the number of a deleted message. */
const MESSAGES = `SELECT i.id, i.content AS message, i.topic, i.status, m.content AS reply, i.received_at AS timestamp
  FROM json_each(?2) AS wanted CROSS JOIN inbox AS i ON i.agent_id = ?1 AND i.id = wanted.value
  LEFT JOIN messages AS m ON m.seq = i.reply AND m.inbox_id = i.id ORDER BY wanted.key`;

/** Newest first. */
export async function listSentMessages(
  { read }: Pick<Database, "read">,
  agentId: string,
  { limit, offset, cursor = NEWEST, topic }: SentPage,
): Promise<SentMessage[]> {
  const readIds = async (sql: string, args: (string | number)[]) => (await read(sql, args)).rows.map(({ id }) => id);

  async function idsOfAll(): Promise<unknown[]> {
    const found: unknown[] = [];
    for (let before = cursor; ; await yieldToEventLoop()) {
      const [start] = await readIds(STEP_START, [agentId, before]);
      found.push(...(await readIds(IN_STEP, [agentId, before, String(start ?? "")])));
      if (found.length >= offset + limit || start === undefined) return found.slice(offset, offset + limit);
      before = String(start);
    }
  }

  const ids = topic === undefined ? await idsOfAll() : await readIds(OF_TOPIC, [agentId, topic, limit, offset, cursor]);
  if (ids.length === 0) return [];
  const { rows } = await read(MESSAGES, [agentId, JSON.stringify(ids)]);
  return rows.map(({ id, message, topic: of, status, reply, timestamp }) => ({
    id: String(id),
    message: String(message),
    topic: of === null ? null : String(of),
    status: status as SentMessage["status"],
    reply: reply === null ? null : String(reply),
    timestamp: Number(timestamp),
  }));
}
