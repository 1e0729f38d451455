// What is left in a cell that all accounts have left, and goes to cell 0 when the cell is closed: it travels in a parcel, as an account
// does, under a name of its own in place of the account's id.
import type { Database, Statement } from "../../kernel/database/database.ts";
import { AppError } from "../../kernel/errors.ts";
import { closureOf, type OwnedTable, type TableSchema } from "./parcel/closure.ts";
import { deleteOwned } from "./parcel/delete-owned.ts";

const PREFIX = "cell:";
export const remainsOf = (cell: number) => `${PREFIX}${cell}`;
export const isRemains = (account: string) => account.startsWith(PREFIX);

/** ?1 is bound to the name of the remains, as it is to an account's id elsewhere. */
const ALL = "?1 <> ''";
const LEFT = `state = 'left' AND account_id NOT LIKE '${PREFIX}%'`;

/** Tables of which cell 0 takes the rows over, beside those that belong to accounts; parents come first. */
const TAKEN: Readonly<Record<string, string>> = {
  audit_log: ALL,
  auth_used_once: ALL,
  erasures: ALL,
  moving_accounts: `${LEFT} AND ${ALL}`,
  moved_keys: `account_id IN (SELECT account_id FROM moving_accounts WHERE ${LEFT}) AND ${ALL}`,
  oauth_clients: ALL,
  stripe_events: ALL,
  usage_of_all: ALL,
};
/** A cell that is opened again goes on to know what has left it. */
const KEPT = new Set(["moving_accounts", "moved_keys"]);
/** Added to what cell 0 has; of other tables, what cell 0 has already stays as it is there. */
const SUMMED: Readonly<Record<string, readonly [key: string, sums: readonly string[]]>> = {
  usage_of_all: [
    "day, provider, model, own_key",
    ["calls", "cached", "estimated", "input_tokens", "output_tokens", "cost_micro_usd", "credit_micro_usd"],
  ],
};

/** The tables of the parcel. */
export function remainsTables(schema: readonly TableSchema[]): OwnedTable[] {
  const owned = closureOf(schema).map((table) => ({ ...table, where: ALL }));
  const taken = Object.entries(TAKEN).flatMap(([name, where]) => {
    const found = schema.find((table) => table.name === name);
    if (!found) return [];
    const columns = found.columns.map((column) => column.name);
    const keys = found.columns.filter(({ key }) => key > 0).toSorted((one, other) => one.key - other.key);
    return [{ name, columns, where, orderBy: keys.map((key) => key.name).join(", ") }];
  });
  return [...owned, ...taken];
}

/** The end of the statement that inserts a row of the table in cell 0. */
export function conflictClause(table: string): string {
  const [key, sums = []] = SUMMED[table] ?? [];
  if (key === undefined) return " ON CONFLICT DO NOTHING";
  return ` ON CONFLICT (${key}) DO UPDATE SET ${sums.map((sum) => `${sum} = ${sum} + excluded.${sum}`).join(", ")}`;
}

/** Throws 409 `CELL_NOT_EMPTY`. */
export async function requireNoAccounts({ read }: Pick<Database, "read">): Promise<void> {
  const { rows } = await read("SELECT 1 FROM users LIMIT 1");
  if (rows.length > 0) throw new AppError(409, "CELL_NOT_EMPTY", "There are accounts in this cell. Move them first.");
}

/** Deletes what cell 0 has taken over: the cell is empty if it is opened again. */
export async function deleteRemains(
  database: Database,
  schema: readonly TableSchema[],
  account: string,
): Promise<void> {
  await requireNoAccounts(database);
  const tables = remainsTables(schema).filter((one) => !KEPT.has(one.name) && one.name !== "audit_log");
  await deleteOwned(database, tables, account);
  await database.writeLong(await endChainStatements(database));
}

/** The audit log goes on in the chain of cell 0. The trigger that keeps entries for two years is there. */
async function endChainStatements({ read }: Pick<Database, "read">): Promise<Statement[]> {
  const [trigger] = (await read("SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = 'audit_log_kept'"))
    .rows;
  return [
    "DROP TRIGGER audit_log_kept",
    "DELETE FROM audit_log",
    "DELETE FROM audit_seals",
    "DELETE FROM audit_chain",
    "DELETE FROM audit_exports",
    "DELETE FROM sqlite_sequence WHERE name = 'audit_seals'",
    String(trigger?.sql),
  ].map((sql) => ({ sql, args: [] }));
}
