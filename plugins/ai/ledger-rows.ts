// Rows of the ledger as SQL takes them. A call has one row, which is written once, however often that is tried.
import type { Statement } from "../../src/database.ts";
import { OWNER_OF } from "../agents/index.ts";

/** In the order of `COLUMNS`. */
export type Row = readonly [
  id: string,
  at: number,
  kind: string,
  userId: string | null,
  agentId: string | null,
  provider: string,
  model: string,
  inputTokens: number,
  outputTokens: number,
  costMicroUsd: number,
  latencyMs: number,
  estimated: 0 | 1,
  ownKey: 0 | 1,
  creditMicroUsd: number,
  cached: 0 | 1,
];

const COLUMNS =
  "id, at, kind, user_id, agent_id, provider, model, input_tokens, output_tokens, cost_micro_usd, latency_ms, estimated, own_key, credit_micro_usd, cached";
const WIDTH = 15;
/** Where the user is among them. */
const USER = 3;
/** What a turn used is its agent's owner's: also where the agent went to another account before the turn was over. */
const VALUES = `(${Array(WIDTH).fill("?").with(USER, `coalesce(${OWNER_OF}, ?)`).join(", ")})`;
/** Rows of one statement: few different ones, so that they stay prepared. */
const SIZES = [200, 50, 10, 1];

const insertOf = (rows: number) =>
  `INSERT INTO usage (${COLUMNS}) VALUES ${Array(rows).fill(VALUES).join(", ")} ON CONFLICT (id) DO NOTHING`;
const INSERTS = new Map(SIZES.map((size) => [size, insertOf(size)]));
const INSERT_ONE = insertOf(1);

const argsOf = (row: Row) => row.toSpliced(USER, 0, row[2] === "turn" ? row[4] : null);

export const insertRow = (row: Row): Statement => ({ sql: INSERT_ONE, args: argsOf(row) });

/** Many rows in one statement are twice as fast as one in each. */
export function insertRows(rows: readonly Row[]): Statement[] {
  const statements: Statement[] = [];
  for (let at = 0; at < rows.length; ) {
    const size = SIZES.find((count) => count <= rows.length - at) ?? 1;
    statements.push({ sql: INSERTS.get(size) ?? INSERT_ONE, args: rows.slice(at, at + size).flatMap(argsOf) });
    at += size;
  }
  return statements;
}

/** Whether a line of the journal is one; what an older version wrote may not be. */
export const isRow = (value: unknown): value is Row =>
  Array.isArray(value) &&
  value.length === WIDTH &&
  value.every((part, n) =>
    TEXTS.has(n) ? typeof part === "string" : NULLABLE.has(n) ? isTextOrNull(part) : isWhole(part),
  );

const TEXTS = new Set([0, 2, 5, 6]);
const NULLABLE = new Set([3, 4]);
const isTextOrNull = (part: unknown) => part === null || typeof part === "string";
const isWhole = (part: unknown) => Number.isSafeInteger(part);
