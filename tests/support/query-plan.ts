// Says what a statement reads without an index. Nothing runs ANALYZE, so SQLite plans for an empty database as it does for a large one.
import type { Database } from "bun:sqlite";

/** A table that is read from end to end, or rows that are sorted. A part with a name in brackets is not a table, nor are the rows of an INSERT. */
const COSTS_MORE = /^SCAN (?!json_each|\(|CONSTANT|\d+-ROW VALUES|.* VIRTUAL)|TEMP B-TREE|AUTOMATIC/;

/** The steps of its plan. */
export const planOf = (database: Database, sql: string): string[] =>
  database
    .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => detail);

export const isCostly = (step: string): boolean => COSTS_MORE.test(step);
