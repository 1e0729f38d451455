// What a check of the ledger compares, and how it reports differences.

/** Reads the database as it is at one moment. */
export type Read = (sql: string, args?: (string | number)[]) => Record<string, unknown>[];

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

interface Sides {
  /** Queries with a column `key`, of any number of rows for one, and the compared columns. */
  expected: string;
  found: string;
  args?: (string | number)[];
}

/** Compares several sums of two tables by their keys, all of them in one pass, since a table may have millions of rows. */
export function compareColumns(
  read: Read,
  columns: readonly ComparedColumn[],
  { expected, found, args = [] }: Sides,
): Comparison[] {
  const each = (of: (column: string, index: number) => string) =>
    columns.map(({ column }, index) => of(column, index)).join(", ");
  // Both sides as one table, since SQL has no outer join that is fast without an index.
  const both = `SELECT key, ${each((_, i) => `sum(e${i}) AS e${i}, sum(f${i}) AS f${i}`)} FROM (
    SELECT key, ${each((column, i) => `${column} AS e${i}, 0 AS f${i}`)} FROM (${expected})
    UNION ALL SELECT key, ${each((column) => `0, ${column}`)} FROM (${found})) GROUP BY key`;
  const [counts = {}] = read(
    `SELECT count(*) AS compared, ${each((_, i) => `sum(e${i} <> f${i}) AS d${i}`)} FROM (${both})`,
    args,
  );
  return columns.map(({ name, what, unit }, index) => {
    const rows =
      Number(counts[`d${index}`] ?? 0) === 0
        ? []
        : read(
            `SELECT key, e${index} AS expected, f${index} AS found FROM (${both}) WHERE e${index} <> f${index} ORDER BY key`,
            args,
          );
    const differences = rows.map((row) => ({
      where: String(row.key),
      expected: Number(row.expected),
      found: Number(row.found),
      unit,
    }));
    return comparison(name, what, Number(counts.compared ?? 0), differences);
  });
}

/** Compares one sum of two tables by their keys, in the column `value`. */
export function compareSums(
  read: Read,
  { name, what, unit }: { name: string; what: string; unit: string },
  sides: Sides,
): Comparison {
  const [one] = compareColumns(read, [{ column: "value", name, what, unit }], sides);
  return one ?? comparison(name, what, 0, []);
}
