// Unpacks an account: inserts the rows of its parcel in bounded pieces, and goes on where it was when it was killed.

import { mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join, normalize, sep } from "node:path";
import type { InValue } from "@libsql/client";
import type { Database, Statement } from "../../../kernel/database/database.ts";
import { sqliteCode } from "../../../kernel/database/errors.ts";
import { conflictClause, isRemains } from "../cell-remains.ts";
import { NUMBERED } from "./closure.ts";
import { chooseShifts, type Shifts } from "./number-shifts.ts";
import { FILE_FOLDERS, type JobRow, type ParcelHeader, type ParcelLine } from "./parcel.ts";
import { linesOf, readHeader } from "./parcel-lines.ts";
import { joinRows } from "./trial-rows.ts";

const PIECE_BYTES = 128 * 1024;
const TRIED_BYTES = 16 * 1024 * 1024;

export interface UnpackDeps {
  database: Pick<Database, "read" | "write">;
  dataDir: string;
  /** The path of the parcel. */
  path: string;
  /** Bytes of the parcel whose rows are inserted already. */
  done: number;
  shifts: Shifts;
  /** Noted in the same batch as the rows before it. */
  progress(done: number): Statement;
}

/** Resolves with the jobs, which are not inserted, and the paths of the files. */
export async function unpack({ database, dataDir, path, done, shifts, progress }: UnpackDeps) {
  const jobs: JobRow[] = [];
  const files = new Set<string>();
  let header: ParcelHeader | undefined;
  let statements: Statement[] = [];
  let bytes = 0;
  for await (const { line, end } of linesOf(path)) {
    if (!header) {
      header = line as ParcelHeader;
      continue;
    }
    const content = line as ParcelLine;
    if ("job" in content) jobs.push(content.job);
    else if ("file" in content) {
      files.add(content.file);
      await writePiece(dataDir, content);
    } else if (end > done) {
      statements.push(...rowStatements(header, content, shifts));
      bytes += end - done;
      done = end;
      if (bytes >= PIECE_BYTES) await insert(end);
    }
  }
  await insert(done);
  return { jobs, files: [...files] };

  async function insert(end: number): Promise<void> {
    if (statements.length > 0) await database.write([...statements, progress(end)]);
    statements = [];
    bytes = 0;
  }
}

/**
 * Inserts all rows in a write that is undone: what can't be inserted shows before the old cell has given anything up. Not done for a large
 * parcel, since other writes wait meanwhile.
 */
export async function tryOut(
  path: string,
  size: number,
  database: Pick<Database, "read" | "writeLong">,
): Promise<void> {
  if (size > TRIED_BYTES) return;
  const header = await readHeader(path);
  const shifts = await chooseShifts(path, database);
  const statements: Statement[] = [];
  for await (const { line } of linesOf(path)) {
    if (typeof line === "object" && line !== null && "table" in line)
      statements.push(...rowStatements(header, line as Extract<ParcelLine, { table: number }>, shifts));
  }
  // Not a guard: those depend on the statement before, and this one fails on every copy of the cell.
  const undo: Statement = { sql: "INSERT INTO guard (ok) VALUES (0)", args: [] };
  try {
    await database.writeLong([...(await joinRows(statements)), undo]);
  } catch (error) {
    if (sqliteCode(error) === "SQLITE_CONSTRAINT_TRIGGER") return;
    throw error;
  }
  throw new Error("A trial of the account's rows was not undone.");
}

export function rowStatements(
  header: ParcelHeader,
  { table: at, row }: Extract<ParcelLine, { table: number }>,
  shifts: Shifts,
): Statement[] {
  const table = header.tables[at];
  if (!table) throw new Error("The parcel names a table that is not in its head.");
  const { name, columns } = table;
  const args = row.map((value, n) => toValue(shifted(name, columns[n] ?? "", value, shifts)));
  const sql = `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
  if (isRemains(header.account)) return [{ sql: sql + conflictClause(name), args }];
  // Made by a trigger; the account brings its own.
  if (name === "users")
    return [
      { sql, args },
      { sql: "DELETE FROM credit_entries WHERE user_id = ?", args: [header.account] },
    ];
  return [{ sql, args }];
}

function shifted(table: string, column: string, value: unknown, shifts: Shifts): unknown {
  if (typeof value !== "number") return value;
  if (NUMBERED[table]?.column === column) return value + (shifts[table] ?? 0);
  for (const [numbered, { references }] of Object.entries(NUMBERED)) {
    // What refers to 0 refers to none.
    if (value !== 0 && references.some(([from, by]) => from === table && by === column))
      return value + (shifts[numbered] ?? 0);
  }
  return value;
}

function toValue(value: unknown): InValue {
  if (value === null || typeof value === "string" || typeof value === "number" || value instanceof Uint8Array)
    return value;
  throw new Error("The parcel has a value that no database has.");
}

async function writePiece(dataDir: string, { file, at, bytes }: Extract<ParcelLine, { file: string }>): Promise<void> {
  const isOurs = FILE_FOLDERS.some((folder) => file.startsWith(`${folder}${sep}`)) && normalize(file) === file;
  if (!isOurs) throw new Error("The parcel has a file that is none of an agent.");
  const path = join(dataDir, file);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const target = await open(path, at === 0 ? "w" : "r+", 0o600);
  try {
    const piece = Buffer.from(bytes, "base64");
    await target.write(piece, 0, piece.length, at);
    await target.sync();
  } finally {
    await target.close();
  }
}
