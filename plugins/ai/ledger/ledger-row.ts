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
/** The index of `user_id` in `COLUMNS`. */
const USER_INDEX = 3;
const PLACEHOLDERS: readonly string[] = Array(COLUMN_COUNT).fill("?");
/** The usage of a turn belongs to the agent's present owner, even if the agent was transferred during the turn. */
const OWNED_PLACEHOLDERS = PLACEHOLDERS.with(USER_INDEX, `coalesce(${AGENT_OWNER_SQL}, ?)`);
/** Rows per statement: a statement costs as much as two rows, so the last ones of a batch take few, and all stay prepared. */
const BATCH_SIZES = [128, 64, 32, 16, 8, 4, 2, 1];

/** Rows of one kind, with their values. */
interface RowKind {
  sqlOf(rows: number): string;
  argsOf(row: LedgerRow): (string | number | null)[];
}

const kindOf = (placeholders: readonly string[], argsOf: RowKind["argsOf"]): RowKind => {
  const known = new Map<number, string>();
  return {
    argsOf,
    sqlOf(rows) {
      let sql = known.get(rows);
      if (sql === undefined) {
        const values = Array(rows)
          .fill(`(${placeholders.join(", ")})`)
          .join(", ");
        sql = `INSERT INTO usage (${COLUMNS}) VALUES ${values} ON CONFLICT (id) DO NOTHING`;
        known.set(rows, sql);
      }
      return sql;
    },
  };
};
const OF_AGENTS = kindOf(OWNED_PLACEHOLDERS, (row) => row.toSpliced(USER_INDEX, 0, row[4]));
const OF_OTHERS = kindOf(PLACEHOLDERS, (row) => [...row]);

const isOfAgent = (row: LedgerRow) => row[2] === "turn" && row[4] !== null;

export const insertStatement = (row: LedgerRow): Statement => {
  const { sqlOf, argsOf } = isOfAgent(row) ? OF_AGENTS : OF_OTHERS;
  return { sql: sqlOf(1), args: argsOf(row) };
};

/** Inserts many rows per statement, which is twice as fast as one each. */
export function insertStatements(rows: readonly LedgerRow[]): Statement[] {
  const ofAgents = rows.filter(isOfAgent);
  if (ofAgents.length === 0) return statementsOf(OF_OTHERS, rows);
  const ofOthers = rows.filter((row) => !isOfAgent(row));
  return [...statementsOf(OF_AGENTS, ofAgents), ...statementsOf(OF_OTHERS, ofOthers)];
}

function statementsOf({ sqlOf, argsOf }: RowKind, rows: readonly LedgerRow[]): Statement[] {
  const statements: Statement[] = [];
  for (let at = 0; at < rows.length; ) {
    const size = BATCH_SIZES.find((count) => count <= rows.length - at) ?? 1;
    statements.push({ sql: sqlOf(size), args: rows.slice(at, at + size).flatMap(argsOf) });
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
