// Searches the texts, senders and topics of conversations on the background connection, within a bound of messages.
import type { Row } from "@libsql/client";
import type { Database } from "../../../src/kernel/database/database.ts";

/** The newest message that matches. */
export interface Match {
  seq: number;
  /** The words around the place; empty where only the sender or the topic matches. */
  text: string;
}

interface Found {
  matches: Map<string, Match>;
  /** How many conversations were searched, from the first one on. */
  searched: Row[];
  /** Whether all messages of these were searched. */
  isWhole: boolean;
}

/** Characters shown before and after the place. */
const AROUND = 60;

/**
 * ?1 ids of conversations, ?2 agent, ?3 messages of each, ?4 and on: patterns. A query of the bare column with `max` takes
 * it from the same row (sqlite.org/lang_select.html#bareagg).
 */
export const searchSql = (patterns: number) => {
  const like = (column: string) =>
    Array.from({ length: patterns }, (_, n) => `${column} LIKE ?${n + 4} ESCAPE '\\'`).join(" OR ");
  return `SELECT w.value AS id, max(m.seq) AS seq, m.content AS content FROM json_each(?1) AS w
    CROSS JOIN messages AS m ON m.session_id = w.value AND m.seq > coalesce(
      (SELECT seq FROM messages WHERE session_id = w.value ORDER BY seq DESC LIMIT 1 OFFSET ?3), 0)
    LEFT JOIN inbox AS i ON i.agent_id = ?2 AND i.id = m.inbox_id
    WHERE ${like("m.content")} OR ${like("i.sender_name")} OR ${like("i.topic")} GROUP BY w.value`;
};

/** Searches the first of these conversations, as many as have `maxMessages` together. */
export async function findMatches(
  database: Pick<Database, "readLong">,
  agentId: string,
  conversations: readonly Row[],
  query: string,
  maxMessages: number,
): Promise<Found> {
  const searched: Row[] = [];
  let total = 0;
  for (const row of conversations) {
    const count = Number(row.message_count);
    if (searched.length > 0 && total + count > maxMessages) break;
    total += count;
    searched.push(row);
  }
  const ids = JSON.stringify(searched.map(({ id }) => id));
  const patterns = [...new Set(spellings(query))].map((text) => `%${text.replace(/[\\%_]/g, "\\$&")}%`);
  const { rows } = await database.readLong(searchSql(patterns.length), [ids, agentId, maxMessages, ...patterns]);
  const matches = new Map(
    rows.map((row): [string, Match] => [
      String(row.id),
      { seq: Number(row.seq), text: around(String(row.content), query) },
    ]),
  );
  return { matches, searched, isWhole: total <= maxMessages };
}

/** `LIKE` ignores the case of ASCII letters alone, so other letters are looked for in several spellings. */
function spellings(query: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (/^[\x00-\x7f]*$/.test(query)) return [query];
  const lower = query.toLowerCase();
  return [query, lower, query.toUpperCase(), lower.charAt(0).toUpperCase() + lower.slice(1)];
}

function around(content: string, query: string): string {
  const at = content.toLowerCase().indexOf(query.toLowerCase());
  if (at < 0) return "";
  const [from, to] = [Math.max(0, at - AROUND), at + query.length + AROUND];
  const text = content.slice(from, to).replace(/\s+/g, " ").toWellFormed();
  return `${from > 0 ? "…" : ""}${text}${to < content.length ? "…" : ""}`;
}
