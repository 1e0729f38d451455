// Reads the copies of a cell's database, brings them to the end of its log, and compares them.
import { Database } from "bun:sqlite";
import { SLOW_REPLY } from "../../plugins/runtime/outbox/slow-replies.ts";
import type { LogEngine } from "../../src/cluster/engine.ts";
import { catchUp, SnapshotNeeded } from "../../src/cluster/log/catch-up.ts";
import { openCopy } from "../../src/cluster/log/copy.ts";
import { openFile } from "../../src/kernel/database/local-engine.ts";
import { silent } from "../support/database.ts";
import { SPENDER } from "./spending.ts";

export interface Contents {
  file: string;
  /** The last entry of the log that it has applied. */
  number: number;
  counts: { inbox: number; done: number; answers: number; distinctAnswers: number; sent: number; calls: number };
  /** A hash of the rows of each table. */
  tables: Record<string, string>;
}

const OF_MESSAGES = `agent_id NOT IN (SELECT id FROM agents WHERE name = '${SPENDER}')`;

/** FTS5 groups its own data by transactions; a checkpoint notes its time; each copy notes its place. */
const isOfOneCopy = (name: string) => /_(?:data|idx)$|^sqlite_|^log_progress$/.test(name);

export function contentsOf(file: string): Contents {
  const database = new Database(file, { readonly: true });
  try {
    const count = (sql: string) => Number(Object.values(database.query(sql).get() as object)[0]);
    const names = database
      .query("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name")
      .all() as { name: string }[];
    const tables = names
      .filter(({ name }) => !isOfOneCopy(name))
      .map(({ name }) => {
        const rows = database
          .query(`SELECT * FROM "${name}"`)
          .all()
          .map((row) => JSON.stringify(row));
        const lasting = name === "meta" ? rows.filter((row) => !/"(?:log_started|ready)"/.test(row)) : rows;
        return [name, Bun.hash(lasting.sort().join("\n")).toString(16)];
      });
    return {
      file,
      number: count("SELECT number FROM log_progress"),
      counts: {
        inbox: count(`SELECT count(*) FROM inbox WHERE ${OF_MESSAGES}`),
        done: count(`SELECT count(*) FROM inbox WHERE status = 'done' AND ${OF_MESSAGES}`),
        answers: count(`SELECT count(*) FROM messages WHERE role = 'assistant' AND ${OF_MESSAGES}`),
        distinctAnswers: count(
          `SELECT count(DISTINCT content) FROM messages WHERE role = 'assistant' AND ${OF_MESSAGES}`,
        ),
        sent: count(`SELECT count(*) FROM outbox WHERE status = 'sent' AND body <> '${SLOW_REPLY}'`),
        calls: count("SELECT count(*) FROM usage"),
      },
      tables: Object.fromEntries(tables),
    };
  } finally {
    database.close();
  }
}

/** Those of the version that has written it, which may be a later one than this. */
function migrationsOf(file: string): ReadonlySet<string> {
  using database = new Database(file, { readonly: true });
  const rows = database.query<{ name: string }, []>("SELECT name FROM migrations").all();
  return new Set(rows.map(({ name }) => name));
}

/**
 * Applies the rest of a cell's log to each file, and reads them. One that is older than the log would begin with a snapshot and is
 * left out. The nodes must have ended.
 */
export async function copiesAtEnd(files: readonly string[], log: LogEngine): Promise<Contents[]> {
  const copies: Contents[] = [];
  for (const file of files) {
    const { cluster } = progressOf(file);
    const storage = openFile(file, migrationsOf(file), silent);
    try {
      await catchUp(log, await openCopy(storage, cluster), new AbortController().signal);
    } catch (error) {
      if (error instanceof SnapshotNeeded) continue;
      throw error;
    } finally {
      await storage.close();
    }
    copies.push(contentsOf(file));
  }
  return copies;
}

function progressOf(file: string): { cluster: string } {
  const database = new Database(file, { readonly: true });
  try {
    const found = database.query<{ cluster: string }, []>("SELECT cluster FROM log_progress").get();
    if (!found) throw new Error(`${file} is no copy.`);
    return found;
  } finally {
    database.close();
  }
}

/** Throws if copies differ, or are at different places of the log. */
export function compareCopies(copies: readonly Contents[]): void {
  const [first, ...others] = copies;
  if (!first || others.length === 0)
    throw new Error(`There are no two copies to compare: ${copies.map(({ file }) => file).join(", ")}.`);
  for (const other of others) {
    if (other.number !== first.number)
      throw new Error(`${first.file} is at entry ${first.number}, and ${other.file} at ${other.number}.`);
    const differing = Object.keys(first.tables).filter((name) => first.tables[name] !== other.tables[name]);
    if (differing.length > 0) throw new Error(`${first.file} and ${other.file} differ in ${differing.join(", ")}.`);
  }
}
