// Packs an account: writes all rows of its closure, its jobs and its files into one file, of one moment of the database.
import { createHash } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { isRemains, remainsTables } from "../cell-remains.ts";
import { closureOf, NUMBERED, type OwnedTable, SCHEMA_SQL, toSchema } from "./closure.ts";
import { FILE_FOLDERS, type JobRow, type Packed, type ParcelHeader, type ParcelLine, toText } from "./parcel.ts";

interface Source {
  /** The database of the cell. It may be written meanwhile. */
  file: string;
  dataDir: string;
  account: string;
}

const WRITE_BYTES = 1024 * 1024;
const FILE_PIECE_BYTES = 192 * 1024;
/** Tables whose ids jobs name. */
const NAMED_BY_JOBS = new Set([
  "users",
  "agents",
  "sessions",
  "schedules",
  "reminders",
  "knowledge_files",
  "webhook_endpoints",
  "wallets",
  "wallet_spends",
]);
const NAMES =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44}/g;

/** Takes the whole time of its thread or process. Two parcels of the same contents have the same digest. */
export function writeParcel({ file, dataDir, account }: Source, out: string): Packed {
  const database = new Libsql(`file:${file.replace(/[%?#]/g, encodeURIComponent)}?mode=ro`);
  const target = openSync(out, "w", 0o600);
  const digest = createHash("sha256");
  let size = 0;
  let waiting: string[] = [];
  let waitingBytes = 0;
  function flush(): void {
    const bytes = Buffer.from(waiting.join(""));
    waiting = [];
    waitingBytes = 0;
    digest.update(bytes);
    size += bytes.length;
    for (let at = 0; at < bytes.length; ) at += writeSync(target, bytes, at);
  }
  function put(line: ParcelLine | ParcelHeader): void {
    const text = toText(line);
    waiting.push(text);
    waitingBytes += text.length;
    if (waitingBytes >= WRITE_BYTES) flush();
  }
  const rows = (sql: string, ...args: unknown[]) =>
    database.prepare(sql).all(...args) as readonly Readonly<Record<string, unknown>>[];

  try {
    database.exec("BEGIN");
    const schema = toSchema({
      tables: rows(SCHEMA_SQL.tables),
      columns: rows(SCHEMA_SQL.columns),
      references: rows(SCHEMA_SQL.references),
    });
    const tables = isRemains(account) ? remainsTables(schema) : closureOf(schema);
    const agents = rows("SELECT id FROM agents WHERE user_id = ? ORDER BY id", account).map(({ id }) => String(id));
    put({
      account,
      migration: String(rows("SELECT max(name) AS name FROM migrations")[0]?.name),
      tables: tables.map(({ name, columns }) => ({ name, columns: columnsOf(name, columns) })),
      numbers: Object.fromEntries(
        tables.flatMap((table) => (NUMBERED[table.name] ? [[table.name, rangeOf(table)]] : [])),
      ),
      agents,
    });
    const named = new Set<string>();
    tables.forEach((table, at) => {
      for (const row of each(table)) {
        if (NAMED_BY_JOBS.has(table.name)) for (const value of row) if (typeof value === "string") named.add(value);
        put({ table: at, row });
      }
    });
    const { jobs, running } = jobsNaming(named);
    for (const job of jobs) put({ job });
    for (const agent of agents) for (const folder of FILE_FOLDERS) putFolder(join(folder, agent));
    flush();
    fsyncSync(target);
    return { size, digest: digest.digest("hex"), jobs: jobs.map(({ id }) => id), running };
  } finally {
    closeSync(target);
    database.close();
  }

  function rangeOf({ name, where }: OwnedTable): [number, number] | null {
    const column = NUMBERED[name]?.column;
    const [row] = rows(`SELECT min(${column}) AS least, max(${column}) AS most FROM ${name} WHERE ${where}`, account);
    return row === undefined || row.least === null ? null : [Number(row.least), Number(row.most)];
  }

  /** What a cell numbers comes with the highest number first, so that none is given to another row while they are inserted. */
  function each({ name, columns, where, orderBy }: OwnedTable): Iterable<unknown[]> {
    const order = NUMBERED[name] ? `${orderBy} DESC` : orderBy;
    const sql = `SELECT ${columnsOf(name, columns).join(", ")} FROM ${name} WHERE ${where} ORDER BY ${order}`;
    return database.prepare(sql).raw(true).iterate(account) as Iterable<unknown[]>;
  }

  /** Jobs name what they are for in their payloads. One that runs is packed as if it had not begun. */
  function jobsNaming(named: ReadonlySet<string>): { jobs: JobRow[]; running: number } {
    const found = rows(
      "SELECT id, kind, unique_key, payload, state, run_at, attempt, max_attempts, last_error, created_at, lease FROM jobs ORDER BY id",
    ).filter(
      ({ payload, unique_key: key }) =>
        isRemains(account) || `${payload} ${key ?? ""}`.match(NAMES)?.some((name) => named.has(name)),
    );
    const jobs = found.map(({ state, lease: _, ...job }) => ({
      ...job,
      id: String(job.id),
      state: state === "running" ? "queued" : state,
    }));
    return {
      jobs,
      running: found.filter(({ state, lease }) => state === "running" && lease !== `moving ${account}`).length,
    };
  }

  function putFolder(folder: string): void {
    const path = join(dataDir, folder);
    if (!existsSync(path)) return;
    for (const entry of readdirSync(path, { recursive: true, withFileTypes: true }).toSorted(byPath)) {
      if (!entry.isFile() || entry.name.endsWith(".unfinished")) continue;
      putFile(join(entry.parentPath, entry.name).slice(dataDir.length + 1));
    }
  }

  function putFile(path: string): void {
    const source = openSync(join(dataDir, path), "r");
    try {
      const piece = Buffer.alloc(FILE_PIECE_BYTES);
      for (let at = 0; ; ) {
        const length = readSync(source, piece, 0, piece.length, at);
        if (length > 0 || at === 0) put({ file: path, at, bytes: piece.toString("base64", 0, length) });
        at += length;
        if (length < piece.length) return;
      }
    } finally {
      closeSync(source);
    }
  }
}

const columnsOf = (name: string, columns: readonly string[]) =>
  NUMBERED[name]?.column === "rowid" ? ["rowid", ...columns] : [...columns];

const byPath = (one: { parentPath: string; name: string }, other: { parentPath: string; name: string }) =>
  join(one.parentPath, one.name) < join(other.parentPath, other.name) ? -1 : 1;
