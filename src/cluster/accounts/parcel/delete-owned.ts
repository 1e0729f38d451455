// Deletes rows that have moved to another cell, table by table, so that no write takes long. Numbers that the cell gives to rows have
// readers that go on from the highest one, so none is given a second time.
import type { Database, Statement } from "../../../kernel/database/database.ts";
import type { OwnedTable } from "./closure.ts";

/** That of a row which is there for its number alone: readers of events pass it over. As in `kernel/events`, which a start loads whole. */
const KEPT_NUMBER = "number.kept";

/** @param tables parents come first */
export async function deleteOwned(database: Database, tables: readonly OwnedTable[], account: string): Promise<void> {
  for (const table of tables.toReversed()) {
    const { name, where } = table;
    const { rows } = await database.readLong(`SELECT 1 FROM ${name} WHERE ${where} LIMIT 1`, [account]);
    if (rows.length > 0) await database.writeLong(statementsFor(table, account));
  }
}

function statementsFor({ name, where }: OwnedTable, account: string): Statement[] {
  const remove: Statement = { sql: `DELETE FROM ${name} WHERE ${where}`, args: [account] };
  if (name === "events") {
    // The next number follows the newest row, so that row stays, without its account and data.
    const keep = `UPDATE events SET id = ?2, type = '${KEPT_NUMBER}', user_id = NULL, agent_id = NULL, data = '{}'
      WHERE (${where}) AND seq = (SELECT max(seq) FROM events)`;
    const others = `DELETE FROM events WHERE (${where}) AND seq < (SELECT max(seq) FROM events)`;
    return [
      { sql: keep, args: [account, Bun.randomUUIDv7()] },
      { sql: others, args: [account] },
    ];
  }
  return name === "usage" ? [remove, { sql: SUMMED_AT_MOST, args: [] }] : [remove];
}

/** Row ids of the ledger follow the highest one, so those above it are given again, and have to be added up then. */
const SUMMED_AT_MOST = "UPDATE usage_summed SET upto = min(upto, coalesce((SELECT max(rowid) FROM usage), 0))";

/** Makes the numbers of an empty cell begin at 1 although events arrive whose numbers are below. */
export const beginNumbersStatement = (now: number): Statement => ({
  sql: `INSERT INTO events (seq, id, type, data, created_at)
    SELECT 0, ?, '${KEPT_NUMBER}', '{}', ? WHERE NOT EXISTS (SELECT 1 FROM events WHERE seq >= 0)`,
  args: [Bun.randomUUIDv7(), now],
});
