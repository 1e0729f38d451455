// Pages through the rows of an agent by their ids, yielding to the event loop between pages.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Database } from "../../src/kernel/database/database.ts";

type Table = "inbox" | "outbox";

/** ?1: agent, ?2: the id before the page, ?3: rows of the page. */
export const idPageSql = (table: Table) => `SELECT min(id) AS first, max(id) AS last FROM
  (SELECT id FROM ${table} WHERE agent_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3)`;

/** The first and the last id of each page, oldest first. Ids grow with time. */
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
