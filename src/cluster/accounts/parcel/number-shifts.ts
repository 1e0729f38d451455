// Says where the rows that a cell numbers go among those of the cell in which an account arrives.
import type { Database } from "../../../kernel/database/database.ts";
import { NUMBERED } from "./closure.ts";
import type { ParcelHeader } from "./parcel.ts";
import { linesOf } from "./parcel-lines.ts";

/** What is added to each number, by the table that is numbered. */
export type Shifts = Readonly<Record<string, number>>;

/** Between the numbers of a cell and those of rows that arrive above them: so many rows may be added meanwhile. */
const GAP = 1_000_000;
/** How much further down is looked for room at first, and how much more each time. */
const FIRST_STEP = 256;
const GROWTH = 4;
/** So many numbers are looked up in one query. */
const LOOKED_UP = 5_000;

type Reading = Pick<Database, "read">;

/**
 * Chosen once for each move, before the first row is inserted.
 * @param latestEvent the number of the old cell's newest event, of any account. A reader's last id is not above it, so the account's
 *   next event has to come after it.
 */
export async function chooseShifts(path: string, database: Reading, latestEvent = 0): Promise<Shifts> {
  const shifts: Record<string, number> = {};
  const { header, numbers } = await readNumbers(path);
  for (const [table, { column, place }] of Object.entries(NUMBERED)) {
    const range = header.numbers[table] ?? (table === "events" ? [0, 0] : undefined);
    if (!range) continue;
    if (place === "above") {
      const [row] = (await database.read(`SELECT max(${column}) AS most FROM ${table}`)).rows;
      shifts[table] = Number(row?.most ?? 0) + GAP - range[0];
    } else {
      // The number 0 of events is that of a cell's beginning.
      const highest = table === "events" ? -1 - Math.max(range[1], latestEvent) : -range[1];
      shifts[table] = await findRoom(database, { table, column, numbers: numbers.get(table) ?? [], highest });
    }
  }
  return shifts;
}

/**
 * The highest shift, or nearly, with which no number is taken. Rows could always go below all others; but then each move of an account
 * would spread the numbers of the cell as far as the account's own are spread, which doubles them again and again.
 */
async function findRoom(
  database: Reading,
  { table, column, numbers, highest }: { table: string; column: string; numbers: readonly number[]; highest: number },
): Promise<number> {
  const sql = `SELECT 1 FROM ${table} WHERE ${column} IN (SELECT value + ?2 FROM json_each(?1)) LIMIT 1`;
  const isFree = async (shift: number) => {
    for (let at = 0; at < numbers.length; at += LOOKED_UP) {
      const part = JSON.stringify(numbers.slice(at, at + LOOKED_UP));
      if ((await database.read(sql, [part, shift])).rows.length > 0) return false;
    }
    return true;
  };
  for (let down = 0; ; down = Math.max(FIRST_STEP, down * GROWTH))
    if (await isFree(highest - down)) return highest - down;
}

/** The account's numbers of tables whose rows go below. */
async function readNumbers(path: string): Promise<{ header: ParcelHeader; numbers: Map<string, number[]> }> {
  const numbers = new Map<string, number[]>();
  let header: ParcelHeader | undefined;
  let columns = new Map<number, { table: string; at: number }>();
  for await (const { line } of linesOf(path)) {
    if (!header) {
      header = line as ParcelHeader;
      columns = columnsBelow(header);
      continue;
    }
    const { table, row } = line as { table?: number; row?: readonly unknown[] };
    // Tables come in order.
    if (table === undefined || table > Math.max(...columns.keys())) break;
    const found = columns.get(table);
    if (!found) continue;
    const known = numbers.get(found.table) ?? [];
    known.push(Number(row?.[found.at]));
    numbers.set(found.table, known);
  }
  if (!header) throw new Error("The parcel is empty.");
  return { header, numbers };
}

function columnsBelow({ tables }: ParcelHeader): Map<number, { table: string; at: number }> {
  return new Map(
    tables.flatMap(({ name, columns }, n) => {
      const numbered = NUMBERED[name];
      return numbered?.place === "below" ? [[n, { table: name, at: columns.indexOf(numbered.column) }] as const] : [];
    }),
  );
}
