// What belongs to an account, computed from the schema: the rows to which foreign keys lead from `users`, and those of the tables below.

/** A table of the closure. In SQL, `?1` is the id of the account. */
export interface OwnedTable {
  name: string;
  columns: readonly string[];
  /** The condition that its rows are the account's. */
  where: string;
  /** Of the primary key, or the rowid. */
  orderBy: string;
}

export interface TableSchema {
  name: string;
  sql: string;
  columns: readonly { name: string; key: number }[];
  references: readonly Reference[];
}
interface Reference {
  table: string;
  from: readonly string[];
  to: readonly string[];
}

const AGENTS = "SELECT id FROM agents WHERE user_id = ?1";

/** Tables that name an account or an agent without a foreign key, or that hold what is theirs in another way. */
const OWNED_BY: Readonly<Record<string, string>> = {
  users: "id = ?1",
  credentials: `(owner_kind = 'user' AND owner_id = ?1) OR (owner_kind = 'agent' AND owner_id IN (${AGENTS}))`,
  usage: "user_id = ?1",
  usage_days: "user_id = ?1",
  usage_account_days: "user_id = ?1",
  usage_agent_months: "user_id = ?1",
  payments: "user_id = ?1",
  stablecoin_transfers: "user_id = ?1",
  wallets: "user_id = ?1",
  webhook_endpoints: "user_id = ?1",
  events: "user_id = ?1",
  idempotency_keys: "scope > 'user:' || ?1 || ' ' AND scope < 'user:' || ?1 || '!'",
  social_sessions: "fid IN (SELECT fid FROM social_accounts WHERE user_id = ?1)",
  budget_notices: `whose = ?1 OR whose IN (${AGENTS})`,
};

/** Tables that stay in their cell, with the reason. Of some, cell 0 takes the rows over when the cell is closed: cell-remains.ts. */
export const STAYING: Readonly<Record<string, string>> = {
  account_moves: "of moves themselves",
  moving_accounts: "of moves themselves",
  moved_keys: "of moves themselves",
  audit_chain: "the chain of a cell",
  audit_exports: "how far the cell's audit log was sent on",
  audit_log: "says what happened in the cell",
  audit_seals: "the chain of a cell",
  auth_used_once: "proofs against repetition; they end within minutes",
  backup_runs: "of the service",
  budget_shares: "of the service",
  credit_cause: "empty between writes",
  default_models: "of the service",
  device_sign_ins: "sign-ins under way; they end within minutes, and are in cell 0 whatever the account's is",
  erasures: "receipts of what the cell has deleted",
  guard: "always empty",
  instance_figures: "of the service",
  instance_runs: "of the service",
  jobs: "packed by what their payloads name, not by a column",
  ledger_journal: "calls under way in the cell",
  log_progress: "of a copy",
  meta: "of the cell",
  migrations: "of the cell",
  model_lists: "of the service",
  model_providers: "of the service",
  oauth_clients: "apps, whoever uses them; asked for in other cells",
  places: "the directory itself",
  plugin_migrations: "of the cell",
  rate_limits: "windows of minutes",
  stablecoin_progress: "how far the cell has read the chain",
  stripe_events: "what the cell has handled",
  stripe_progress: "how far the cell has read",
  summed_days: "how far the cell has added up",
  usage_of_all: "sums of the cell; those of the service are of all cells",
  usage_step: "always empty",
  usage_summed: "how far the cell has added up",
  webhook_cursor: "how far the cell has dispatched",
};

/** How the schema is read, by whatever has a connection. */
export const SCHEMA_SQL = {
  tables:
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
  columns:
    "SELECT m.name AS tbl, c.name, c.pk FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid",
  references:
    'SELECT m.name AS tbl, f.id, f."table" AS target, f."from" AS source, f."to" AS column FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = \'table\' ORDER BY m.name, f.id, f.seq',
};
type Rows = readonly Readonly<Record<string, unknown>>[];

export function toSchema(rows: Record<keyof typeof SCHEMA_SQL, Rows>): TableSchema[] {
  const columns = Map.groupBy(rows.columns, ({ tbl }) => String(tbl));
  const references = Map.groupBy(rows.references, ({ tbl }) => String(tbl));
  const searched = rows.tables.flatMap(({ name, sql }) => (/^CREATE VIRTUAL/i.test(String(sql)) ? [String(name)] : []));
  const isOfSearch = (name: string) => searched.some((one) => name === one || name.startsWith(`${one}_`));
  return rows.tables
    .filter(({ name }) => !isOfSearch(String(name)))
    .map(({ name, sql }) => ({
      name: String(name),
      sql: String(sql),
      columns: (columns.get(String(name)) ?? []).map((one) => ({ name: String(one.name), key: Number(one.pk) })),
      references: [...Map.groupBy(references.get(String(name)) ?? [], ({ id }) => Number(id)).values()].map(
        (parts) => ({
          table: String(parts[0]?.target),
          from: parts.map(({ source }) => String(source)),
          to: parts.map(({ column }) => String(column)),
        }),
      ),
    }));
}

/** Throws for a table of which it is not known whether it belongs to accounts. Parents come before what refers to them. */
export function closureOf(schema: readonly TableSchema[]): OwnedTable[] {
  const owned = new Map<string, OwnedTable>();
  const ruled = schema.filter(({ name }) => STAYING[name] === undefined);
  const names = new Set(ruled.map(({ name }) => name));
  let left = ruled;
  while (left.length > 0) {
    const ready = left.filter(({ references }) =>
      references.every(({ table }) => owned.has(table) || !names.has(table)),
    );
    for (const table of ready) owned.set(table.name, toOwned(table, owned));
    left = left.filter(({ name }) => !owned.has(name));
    if (ready.length === 0) throw new Error(`Tables refer to each other: ${left.map(({ name }) => name).join(", ")}.`);
  }
  return [...owned.values()];
}

function toOwned({ name, columns, references, sql }: TableSchema, owned: ReadonlyMap<string, OwnedTable>): OwnedTable {
  const keys = columns.filter(({ key }) => key > 0).toSorted((one, other) => one.key - other.key);
  const table = {
    name,
    columns: columns.map((column) => column.name),
    orderBy: keys.length > 0 || /WITHOUT ROWID/i.test(sql) ? keys.map((key) => key.name).join(", ") : "rowid",
  };
  const ruled = OWNED_BY[name];
  if (ruled !== undefined) return { ...table, where: ruled };
  const nearest = ["users", "agents"].flatMap((near) => references.filter((one) => one.table === near))[0];
  const reference = nearest ?? references.find((one) => owned.has(one.table));
  const parent = reference && owned.get(reference.table);
  if (!reference || !parent) throw new Error(`It is not known whether rows of ${name} belong to accounts.`);
  const from = reference.from.length === 1 ? reference.from[0] : `(${reference.from.join(", ")})`;
  return {
    ...table,
    where: `${from} IN (SELECT ${reference.to.join(", ")} FROM ${parent.name} WHERE ${parent.where})`,
  };
}

/** Of cell-numbered rows: the column with the number, and what refers to it. */
export interface Numbered {
  column: string;
  /** Where the rows go among those of the new cell. What has a reader that goes on from the highest number goes below it. */
  place: "above" | "below";
  references: readonly (readonly [table: string, column: string])[];
}
export const NUMBERED: Readonly<Record<string, Numbered>> = {
  messages: { column: "seq", place: "above", references: [["sessions", "summary_upto"]] },
  memories: { column: "seq", place: "above", references: [["memory_vectors", "seq"]] },
  knowledge_chunks: { column: "seq", place: "above", references: [["knowledge_vectors", "seq"]] },
  credit_entries: { column: "id", place: "above", references: [] },
  events: {
    column: "seq",
    place: "below",
    references: [
      ["webhook_deliveries", "event_seq"],
      ["webhook_endpoints", "from_seq"],
      ["event_shifts", "shift"],
    ],
  },
  usage: { column: "rowid", place: "below", references: [] },
};
