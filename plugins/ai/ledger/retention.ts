// Says how the rows of single calls are deleted; their sums by day and month are kept.

import type { Database } from "../../../src/kernel/database/database.ts";
import { measureBy } from "../../../src/kernel/retention/deletion.ts";
import type { KeptKind } from "../../../src/kernel/retention/kept-kind.ts";

/** In an empty table the numbers of rows begin anew. */
const UNMARK = "UPDATE usage_summed SET upto = 0 WHERE NOT EXISTS (SELECT 1 FROM usage)";
// Row ids follow time, except for rows that waited; one that is missed today is deleted on a later day.
const DELETE = `DELETE FROM usage WHERE at < ?1 AND rowid <= (SELECT upto FROM usage_summed WHERE id = 1)
  AND rowid IN (SELECT rowid FROM usage ORDER BY rowid LIMIT ?2)`;
const MEASURE = `SELECT count(*) AS rows, count(*) * 200 AS bytes, min(at) AS oldest FROM usage WHERE at < ?1`;

/** The entry of `meta` that says since when (epoch ms) all rows are there. The check of the ledger compares those days. */
export const COMPLETE_SINCE = "usage_complete_since";
const NOTE = `INSERT INTO meta (key, value) VALUES ('${COMPLETE_SINCE}', ?1)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE CAST(value AS INTEGER) < CAST(excluded.value AS INTEGER)`;

export const usageKind = (database: Database, keepMs: number): KeptKind => ({
  name: "usage",
  what: "rows of model calls; their sums stay",
  setting: "KEEP_USAGE",
  keepMs,
  steps: [
    async (before, limit) => {
      const [, result] = await database.write([
        { sql: NOTE, args: [String(Math.floor(before))] },
        { sql: DELETE, args: [before, limit] },
        { sql: UNMARK, args: [] },
      ]);
      return result?.rowsAffected ?? 0;
    },
  ],
  measure: measureBy(database, MEASURE),
});
