// The contents of a copy, table by table, so that two copies at the same place of the log can be compared.
import { createHash } from "node:crypto";
import Libsql from "libsql";
import { count } from "../../kernel/util/text/count.ts";

export interface Fingerprint {
  /** The last entry of the log that the copy has applied. */
  number: number;
  tables: Record<string, TableFingerprint>;
}

export interface TableFingerprint {
  rows: number;
  hash: string;
}

/** What one copy alone notes: its place in the log, and when a checkpoint or a check of the disk was. */
const OF_ONE_COPY = "log_progress";
const ROWS_OF_ONE_COPY: Readonly<Record<string, string>> = { meta: "key NOT IN ('log_started', 'ready')" };

/**
 * Reads all rows of a file that may be written meanwhile, as they are when `onPinned` is called. It takes the whole time of its
 * thread or process.
 */
export function fingerprint(file: string, onPinned: () => void): Fingerprint {
  const database = new Libsql(`file:${file.replace(/[%?#]/g, encodeURIComponent)}?mode=ro`);
  try {
    database.exec("BEGIN");
    const [[number] = []] = database.prepare("SELECT number FROM log_progress").raw(true).all() as number[][];
    onPinned();
    const schema = database
      .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL ORDER BY name")
      .raw(true)
      .all() as [string, string][];
    const searched = schema.flatMap(([name, sql]) =>
      /^CREATE VIRTUAL TABLE\b[\s\S]*\bfts5\b/i.test(sql) ? [name] : [],
    );
    const tables: Fingerprint["tables"] = {};
    for (const [name, sql] of schema) {
      if (name === OF_ONE_COPY || sql.startsWith("CREATE VIRTUAL") || isShadow(name, searched)) continue;
      const where = ROWS_OF_ONE_COPY[name];
      // Without an index, rows come in the order of their rowid or primary key.
      tables[name] = hashRows(database, `SELECT * FROM "${name}" NOT INDEXED${where ? ` WHERE ${where}` : ""}`, sql);
    }
    for (const name of searched) {
      // How FTS5 stores its words depends on how writes were grouped, what it finds does not.
      database.exec(`CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, "${name}", 'row')`);
      tables[`${name} (words)`] = hashRows(database, "SELECT term, doc, cnt FROM temp.words", name);
      database.exec("DROP TABLE temp.words");
    }
    return { number: number ?? 0, tables };
  } finally {
    database.close();
  }
}

/** The difference of two copies in words; empty if they are equal. Throws if they are at different places of the log. */
export function compareFingerprints(a: Fingerprint, b: Fingerprint): string[] {
  if (a.number !== b.number) throw new Error(`The copies are at different places: ${a.number} and ${b.number}.`);
  const names = [...new Set([...Object.keys(a.tables), ...Object.keys(b.tables)])].sort();
  return names.flatMap((name) => {
    const [one, other] = [a.tables[name], b.tables[name]];
    if (!one || !other) return [`${name} is in one copy only`];
    if (one.rows !== other.rows) return [`${name} has ${count(one.rows, "row")} and ${other.rows}`];
    return one.hash === other.hash ? [] : [`${name} has other contents in ${count(one.rows, "row")}`];
  });
}

const isShadow = (name: string, searched: readonly string[]) =>
  name.startsWith("sqlite_stat") ||
  searched.some((table) => /^_(?:data|idx)$/.test(name.slice(table.length)) && name.startsWith(table));

function hashRows(database: Libsql.Database, sql: string, head: string): TableFingerprint {
  const hash = createHash("sha1").update(head);
  // One call for each value would take most of the time.
  let pending = "";
  let rows = 0;
  for (const row of database.prepare(sql).raw(true).safeIntegers(true).iterate() as Iterable<unknown[]>) {
    rows++;
    for (const value of row) {
      pending += textOf(value);
      if (!(value instanceof Uint8Array) && pending.length < PENDING_CHARS) continue;
      hash.update(pending);
      pending = "";
      if (value instanceof Uint8Array) hash.update(value);
    }
  }
  return { rows, hash: hash.update(pending).digest("hex") };
}

const PENDING_CHARS = 64 * 1024;

/** A value with its type and length, so that values can't run into each other; of bytes, what comes before them. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return "n;";
  if (typeof value === "bigint") return `i${value};`;
  if (typeof value === "number") return `r${Object.is(value, -0) ? "-0" : value};`;
  if (typeof value === "string") return `t${value.length}:${value};`;
  return `b${(value as Uint8Array).byteLength}:`;
}
