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

/** Compares two tables of sums by their keys; each row is a sum in micro-USD and the other counts as one text. */
export function compareSums(
  read: Read,
  { name, what, unit }: { name: string; what: string; unit: string },
  { expected, found, args = [] }: { expected: string; found: string; args?: (string | number)[] },
): Comparison {
  // Both sides as one table, since SQL has no outer join that is fast without an index.
  const sql = `SELECT key, sum(expected) AS expected, sum(found) AS found FROM (
    SELECT key, value AS expected, 0 AS found FROM (${expected})
    UNION ALL SELECT key, 0, value FROM (${found})) GROUP BY key`;
  const rows = read(`SELECT count(*) AS compared FROM (${sql})`, args);
  const differing = read(`SELECT * FROM (${sql}) WHERE expected <> found ORDER BY key`, args);
  const differences = differing.map((row) => ({
    where: String(row.key),
    expected: Number(row.expected),
    found: Number(row.found),
    unit,
  }));
  return comparison(name, what, Number(rows[0]?.compared ?? 0), differences);
}
