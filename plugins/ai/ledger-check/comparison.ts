// What a check of the ledger compares, and how it reports differences.
import type { InValue } from "@libsql/client";

/** Reads the database as it is at one moment. */
export type Read = (sql: string, args?: InValue[]) => Record<string, unknown>[];

export interface Difference {
  /** Where: an account, a day, a payment. */
  where: string;
  expected: number;
  found: number;
  /** `micro-USD`, `credits`, `calls`. */
  unit: string;
}

export interface Comparison {
  name: string;
  /** What it says when nothing differs, for people. */
  what: string;
  compared: number;
  /** At most `MAX_DIFFERENCES`. */
  differences: Difference[];
  /** All of them. */
  differing: number;
}

export const MAX_DIFFERENCES = 20;

export function comparison(name: string, what: string, compared: number, all: readonly Difference[]): Comparison {
  return { name, what, compared, differences: all.slice(0, MAX_DIFFERENCES), differing: all.length };
}

/** A column of sums that is compared, with the words for it. */
export interface ComparedColumn {
  column: string;
  name: string;
  what: string;
  unit: string;
}

/** A part of two tables that are compared: queries with the columns of the key, of any number of rows for one, and the compared columns. */
export interface Part {
  expected: string;
  found: string;
  args?: InValue[];
}

/** The columns of a key, and the SQL of its name for people. */
export interface ComparedKey {
  columns: readonly string[];
  name: string;
}

/**
 * Compares several sums of two tables by their keys, all of them in one pass for each part, since a table may have millions of
 * rows. SQLite sorts in memory, so a part is small enough for that.
 */
export function compareColumns(
  read: Read,
  columns: readonly ComparedColumn[],
  key: ComparedKey,
  parts: Iterable<Part>,
): Comparison[] {
  const results = columns.map(({ name, what }) => comparison(name, what, 0, []));
  for (const part of parts) {
    const counts = countDifferences(read, columns, key, part);
    for (const [index, result] of results.entries()) {
      const differing = counts.differing[index] ?? 0;
      const room = MAX_DIFFERENCES - result.differences.length;
      result.compared += counts.compared;
      result.differing += differing;
      const column = columns[index];
      if (column && differing > 0 && room > 0)
        result.differences.push(...findDifferences(read, column, key, part, room));
    }
  }
  return results;
}

function countDifferences(
  read: Read,
  columns: readonly ComparedColumn[],
  key: ComparedKey,
  { expected, found, args = [] }: Part,
): { compared: number; differing: number[] } {
  const each = (of: (column: string, index: number) => string) =>
    columns.map(({ column }, index) => of(column, index)).join(", ");
  const by = key.columns.join(", ");
  // Both sides as one table, since SQL has no outer join that is fast without an index. What is found counts negatively.
  const [counts = {}] = read(
    `SELECT count(*) AS compared, ${each((_, i) => `sum(d${i} <> 0) AS d${i}`)} FROM (
      SELECT ${each((_, i) => `sum(v${i}) AS d${i}`)} FROM (
        SELECT ${by}, ${each((column, i) => `${column} AS v${i}`)} FROM (${expected})
        UNION ALL SELECT ${by}, ${each((column) => `-${column}`)} FROM (${found})) GROUP BY ${by})`,
    args,
  );
  return { compared: Number(counts.compared ?? 0), differing: columns.map((_, i) => Number(counts[`d${i}`] ?? 0)) };
}

function findDifferences(
  read: Read,
  { column, unit }: ComparedColumn,
  key: ComparedKey,
  { expected, found, args = [] }: Part,
  atMost: number,
): Difference[] {
  const by = key.columns.join(", ");
  const rows = read(
    `SELECT ${key.name} AS name, sum(e) AS expected, sum(f) AS found FROM (
      SELECT ${by}, ${column} AS e, 0 AS f FROM (${expected})
      UNION ALL SELECT ${by}, 0, ${column} FROM (${found}))
    GROUP BY ${by} HAVING sum(e) <> sum(f) ORDER BY ${by} LIMIT ${atMost}`,
    args,
  );
  return rows.map((row) => ({
    where: String(row.name),
    expected: Number(row.expected),
    found: Number(row.found),
    unit,
  }));
}

/** Compares one sum of two tables by their columns `key`, in the column `value`. */
export function compareSums(
  read: Read,
  { name, what, unit }: { name: string; what: string; unit: string },
  sides: Part,
): Comparison {
  const key = { columns: ["key"], name: "key" };
  const [one] = compareColumns(read, [{ column: "value", name, what, unit }], key, [sides]);
  return one ?? comparison(name, what, 0, []);
}
