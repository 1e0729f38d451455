// Maps ledger rows to SQL. The row of a call is inserted once: a second insert with the same id does nothing.
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

/**
 * The id of a new row. That of a call of a turn begins with the turn's id, so that the unique index of the ids finds the
 * calls of a turn, and no further index has to be written with each call.
 */
export const newRowId = (turnId: string | undefined) =>
  turnId === undefined ? Bun.randomUUIDv7() : `${turnId}.${Bun.randomUUIDv7().slice(-12)}`;

const COLUMNS =
  "id, at, kind, user_id, agent_id, provider, model, input_tokens, output_tokens, cost_micro_usd, latency_ms, estimated, own_key, credit_micro_usd, cached";
const COLUMN_COUNT = 15;
/** The indexes of `user_id` and `agent_id` in `COLUMNS`. */
const USER_INDEX = 3;
const AGENT_INDEX = 4;
/** Of `estimated` and those behind it, which are 0 in most rows. */
const FLAGS_INDEX = 11;
const PLACEHOLDERS: readonly string[] = Array(COLUMN_COUNT).fill("?");
/** The usage of a turn belongs to the agent's present owner, even if the agent was transferred during the turn. */
const OWNED_PLACEHOLDERS = PLACEHOLDERS.with(USER_INDEX, `coalesce(${AGENT_OWNER_SQL}, ?)`);
/** Rows per statement: a statement costs as much as two rows, so the last ones of a batch take few, and all stay prepared. */
const BATCH_SIZES = [128, 64, 32, 16, 8, 4, 2, 1];

/** Rows of one kind, with their values. */
interface RowKind {
  placeholders: readonly string[];
  /** The statements by their number of rows, made at the first use. */
  sql: Map<number, string>;
  argsOf(row: LedgerRow): (string | number | null)[];
}

const kindOf = (placeholders: readonly string[], argsOf: RowKind["argsOf"]): RowKind => ({
  placeholders,
  sql: new Map(),
  argsOf,
});

function insertSql({ placeholders, sql }: RowKind, rows: number): string {
  const known = sql.get(rows);
  if (known !== undefined) return known;
  const values = Array(rows)
    .fill(`(${placeholders.join(", ")})`)
    .join(", ");
  const made = `INSERT INTO usage (${COLUMNS}) VALUES ${values} ON CONFLICT (id) DO NOTHING`;
  sql.set(rows, made);
  return made;
}

const OF_AGENTS = kindOf(OWNED_PLACEHOLDERS, (row) => row.toSpliced(USER_INDEX, 0, row[AGENT_INDEX]));
const OF_OTHERS = kindOf(PLACEHOLDERS, (row) => [...row]);
/** What most calls of API clients have in common is written in the statement: to bind a value costs half of what SQLite does with it. */
const OF_CLIENTS = kindOf(
  PLACEHOLDERS.map((place, index) => (index === AGENT_INDEX ? "NULL" : index >= FLAGS_INDEX ? "0" : place)),
  (row) => [...row.slice(0, AGENT_INDEX), ...row.slice(AGENT_INDEX + 1, FLAGS_INDEX)],
);

function kindOfRow(row: LedgerRow): RowKind {
  if (row[AGENT_INDEX] !== null) return row[2] === "turn" ? OF_AGENTS : OF_OTHERS;
  return row.slice(FLAGS_INDEX).every((value) => value === 0) ? OF_CLIENTS : OF_OTHERS;
}

export const insertStatement = (row: LedgerRow): Statement => {
  const kind = kindOfRow(row);
  return { sql: insertSql(kind, 1), args: kind.argsOf(row) };
};

/** Inserts many rows per statement, which is twice as fast as one each. */
export function insertStatements(rows: readonly LedgerRow[]): Statement[] {
  return [...Map.groupBy(rows, kindOfRow)].flatMap(([kind, some]) => statementsOf(kind, some));
}

function statementsOf(kind: RowKind, rows: readonly LedgerRow[]): Statement[] {
  const statements: Statement[] = [];
  for (let at = 0; at < rows.length; ) {
    const size = BATCH_SIZES.find((count) => count <= rows.length - at) ?? 1;
    statements.push({ sql: insertSql(kind, size), args: rows.slice(at, at + size).flatMap(kind.argsOf) });
    at += size;
  }
  return statements;
}

/** Whether a line of the journal is a row of this version. */
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
