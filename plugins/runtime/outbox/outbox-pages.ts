// Pages through all outbox rows of an agent, yielding to the event loop between pages.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Database } from "../../../src/kernel/database/database.ts";

const PAGE = 2_000;
/** ?2: the id before the page, ?3: rows of the page. */
export const OUTBOX_PAGE = `SELECT min(id) AS first, max(id) AS last FROM
  (SELECT id FROM outbox WHERE agent_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3)`;

/** The first and the last id of each page, oldest first; ids grow with time. */
export async function* outboxPages(
  database: Pick<Database, "read">,
  agentId: string,
  after = "",
): AsyncGenerator<[first: string, last: string], void> {
  for (let from = after; ; await yieldToEventLoop()) {
    const { rows } = await database.read(OUTBOX_PAGE, [agentId, from, PAGE]);
    const [first, last] = [rows[0]?.first, rows[0]?.last];
    if (typeof first !== "string" || typeof last !== "string") return;
    yield [first, last];
    from = last;
  }
}
