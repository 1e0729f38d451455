// Rows of the ledger as SQL takes them. A call has one row, which is written once, however often that is tried.
import type { Statement } from "../../../src/kernel/database/database.ts";
import { AGENT_OWNER_SQL } from "../../agents/index.ts";

/** In the order of `COLUMNS`. */
export type LedgerRow = readonly [
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
const COLUMN_COUNT = 15;
/** Where the user is among them. */
const USER_INDEX = 3;
/** What a turn used is its agent's owner's: also where the agent went to another account before the turn was over. */
const ROW_PLACEHOLDERS = `(${Array(COLUMN_COUNT).fill("?").with(USER_INDEX, `coalesce(${AGENT_OWNER_SQL}, ?)`).join(", ")})`;
/** Rows of one statement: few different ones, so that they stay prepared. */
const BATCH_SIZES = [200, 50, 10, 1];

const insertSql = (rows: number) =>
  `INSERT INTO usage (${COLUMNS}) VALUES ${Array(rows).fill(ROW_PLACEHOLDERS).join(", ")} ON CONFLICT (id) DO NOTHING`;
const INSERT_SQL_BY_SIZE = new Map(BATCH_SIZES.map((size) => [size, insertSql(size)]));
const INSERT_ONE_SQL = insertSql(1);

const argsOf = (row: LedgerRow) => row.toSpliced(USER_INDEX, 0, row[2] === "turn" ? row[4] : null);

export const insertStatement = (row: LedgerRow): Statement => ({ sql: INSERT_ONE_SQL, args: argsOf(row) });

/** Many rows in one statement are twice as fast as one in each. */
export function insertStatements(rows: readonly LedgerRow[]): Statement[] {
  const statements: Statement[] = [];
  for (let at = 0; at < rows.length; ) {
    const size = BATCH_SIZES.find((count) => count <= rows.length - at) ?? 1;
    statements.push({
      sql: INSERT_SQL_BY_SIZE.get(size) ?? INSERT_ONE_SQL,
      args: rows.slice(at, at + size).flatMap(argsOf),
    });
    at += size;
  }
  return statements;
}

/** Whether a line of the journal is one; what an older version wrote may not be. */
export const isLedgerRow = (value: unknown): value is LedgerRow =>
  Array.isArray(value) &&
  value.length === COLUMN_COUNT &&
  value.every((part, n) =>
    TEXT_COLUMNS.has(n) ? typeof part === "string" : NULLABLE_TEXT_COLUMNS.has(n) ? isTextOrNull(part) : isWhole(part),
  );

const TEXT_COLUMNS = new Set([0, 2, 5, 6]);
const NULLABLE_TEXT_COLUMNS = new Set([3, 4]);
const isTextOrNull = (part: unknown) => part === null || typeof part === "string";
const isWhole = (part: unknown) => Number.isSafeInteger(part);
