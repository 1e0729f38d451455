// Goes through the rows of an agent in steps that are bounded by their number and by the bytes of their texts.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Database } from "../../src/kernel/database/database.ts";

type Table = "inbox" | "outbox";
/** Each table's text, which may be long. */
const TEXT: Readonly<Record<Table, string>> = { inbox: "content", outbox: "body" };

/** Bytes of text that are deleted in one write: deleted bytes are overwritten, and so many take some 10 ms. */
export const MAX_STEP_BYTES = 4 * 1024 * 1024;

/**
 * The keys of the first rows that a query gives as `key` and `bytes`, until their bytes reach the most of one step. Ordered by `key`, or
 * as they come, which needs no sorting.
 */
export const firstKeysSql = (rowsSql: string, order: "" | "ORDER BY key" = "ORDER BY key"): string =>
  `SELECT key FROM (SELECT key, sum(bytes) OVER (${order} ROWS UNBOUNDED PRECEDING) - bytes AS before FROM (${rowsSql}))
    WHERE before < ${MAX_STEP_BYTES}`;

/** ?1: agent, ?2: the id before the page, ?3: the most rows of the page. */
export const idPageSql = (table: Table) =>
  `SELECT min(key) AS first, max(key) AS last FROM (${firstKeysSql(
    `SELECT id AS key, octet_length(${TEXT[table]}) AS bytes FROM ${table} WHERE agent_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3`,
  )})`;

/** The first and the last id of each page, oldest first. Ids grow with time. Yields to the event loop between pages. */
export async function* idPages(
  database: Pick<Database, "read">,
  table: Table,
  agentId: string,
  { size, after = "" }: { size: number; after?: string },
): AsyncGenerator<[first: string, last: string], void> {
  const sql = idPageSql(table);
  for (let from = after; ; await yieldToEventLoop()) {
    const { rows } = await database.read(sql, [agentId, from, size]);
    const [first, last] = [rows[0]?.first, rows[0]?.last];
    if (typeof first !== "string" || typeof last !== "string") return;
    yield [first, last];
    from = last;
  }
}
