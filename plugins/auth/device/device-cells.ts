// Lets an account decide about a program that asked in cell 0, where programs ask because they have no account: the row moves to
// the cell of the account, and the program's polls follow it.
import type { Row } from "@libsql/client";
import type { Cells } from "../../../src/kernel/cells/cells.ts";
import { type Database, GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";

/** `?1` the hash of the person's code, `?2` the time. */
export const OPEN = "user_hash = ?1 AND state = 'open' AND expires_at > ?2 AND cell IS NULL";
const COLUMNS = [
  ...["device_hash", "user_hash", "client", "device", "address", "direct", "scopes", "created_at", "expires_at"],
  ...["interval_seconds", "polled_at"],
] as const;

type Deps = { database: Pick<Database, "read" | "write">; cells: Cells | undefined };

export async function findOpenHere(database: Pick<Database, "read">, userHash: string): Promise<Row | undefined> {
  return (await database.read(`SELECT * FROM device_sign_ins WHERE ${OPEN}`, [userHash, Date.now()])).rows[0];
}

/** Answers `device.look` of another cell: the open row with this hash of a code, as JSON; empty without one. */
export const look = async (database: Pick<Database, "read">, userHash: string) =>
  rowText(await findOpenHere(database, userHash));

/** Answers `device.take` of another cell, whose number comes first: the row, which is that cell's from now on. */
export async function take(database: Deps["database"], text: string): Promise<string> {
  const [cell, userHash = ""] = text.split(" ");
  const row = await findOpenHere(database, userHash);
  const move: Statement = {
    sql: `UPDATE device_sign_ins SET cell = ?3 WHERE ${OPEN}`,
    args: [userHash, Date.now(), Number(cell)],
  };
  try {
    await database.write([move, guard("open-code")]);
    return rowText(row);
  } catch (error) {
    // Another account has decided meanwhile.
    if (error instanceof GuardFailed) return "";
    throw error;
  }
}

/** The open row with this code, wherever it is. */
export async function findOpen({ database, cells }: Deps, userHash: string): Promise<Row | undefined> {
  const row = await findOpenHere(database, userHash);
  if (row || !cells || cells.here === 0) return row;
  return readRow(await cells.ask(0, "device.look", userHash));
}

/** Brings the row here, if it is in cell 0. */
export async function takeRow({ database, cells }: Deps, userHash: string): Promise<void> {
  if (!cells || cells.here === 0 || (await findOpenHere(database, userHash))) return;
  const row = readRow(await cells.ask(0, "device.take", `${cells.here} ${userHash}`));
  if (!row) return;
  const places = COLUMNS.map((_, at) => `?${at + 1}`).join(", ");
  const args = COLUMNS.map((name) => row[name] ?? null);
  await database.write([{ sql: `INSERT INTO device_sign_ins (${COLUMNS.join(", ")}) VALUES (${places})`, args }]);
}

const rowText = (row: Row | undefined) =>
  row ? JSON.stringify(Object.fromEntries(COLUMNS.map((name) => [name, row[name] ?? null]))) : "";
const readRow = (text: string): Row | undefined => (text === "" ? undefined : (JSON.parse(text) as Row));
