// Reads the copies of a cell's database, and compares those that are at the same place of the log.
import { Database } from "bun:sqlite";

export interface Contents {
  file: string;
  /** The last entry of the log that it has applied. */
  number: number;
  counts: { inbox: number; done: number; answers: number; distinctAnswers: number; sent: number; calls: number };
  /** A hash of the rows of each table. */
  tables: Record<string, string>;
}

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
        inbox: count("SELECT count(*) FROM inbox"),
        done: count("SELECT count(*) FROM inbox WHERE status = 'done'"),
        answers: count("SELECT count(*) FROM messages WHERE role = 'assistant'"),
        distinctAnswers: count("SELECT count(DISTINCT content) FROM messages WHERE role = 'assistant'"),
        sent: count("SELECT count(*) FROM outbox WHERE status = 'sent'"),
        calls: count("SELECT count(*) FROM usage"),
      },
      tables: Object.fromEntries(tables),
    };
  } finally {
    database.close();
  }
}

/** Throws if two copies at the same place of the log differ, or if no two of them are. */
export function compareCopies(copies: readonly Contents[]): void {
  const groups = [...Map.groupBy(copies, ({ number }) => number).values()].filter(({ length }) => length > 1);
  if (groups.length === 0)
    throw new Error(`No two copies are at the same place: ${copies.map(({ number }) => number).join(", ")}.`);
  for (const [first, ...others] of groups) {
    for (const other of others) {
      const differing = Object.keys(first?.tables ?? {}).filter((name) => first?.tables[name] !== other.tables[name]);
      if (differing.length > 0) throw new Error(`${first?.file} and ${other.file} differ in ${differing.join(", ")}.`);
    }
  }
}
