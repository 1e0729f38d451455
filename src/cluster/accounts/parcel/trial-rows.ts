// Joins the rows of a trial into few statements. A long write hands over each argument on the main thread, so thousands of rows would hold
// the event loop for seconds, and the other writes of the cell with it.
import type { InValue } from "@libsql/client";
import type { Statement } from "../../../kernel/database/database.ts";
import { createPacer } from "../../../kernel/util/pacing.ts";

const MOST_ROWS = 1_000;
const MOST_CHARACTERS = 512 * 1024;
const INSERT = /^(INSERT INTO \S+ \(([^)]*)\)) VALUES \([?, ]+\)$/;

/**
 * The same inserts in the same order. What they insert is for a trial alone: it obeys the same constraints, but JSON does not have every text
 * that a database has.
 */
export async function joinRows(statements: readonly Statement[]): Promise<Statement[]> {
  const joined: Statement[] = [];
  let rows: string[] = [];
  let characters = 0;
  let sql = "";
  const flush = () => {
    const [, head = "", columns = ""] = INSERT.exec(sql) ?? [];
    const values = columns.split(", ").map((_, n) => `value ->> ${n}`);
    if (rows.length > 0)
      joined.push({ sql: `${head} SELECT ${values.join(", ")} FROM json_each(?)`, args: [`[${rows.join(",")}]`] });
    rows = [];
    characters = 0;
  };
  const pace = createPacer();
  for (const statement of statements) {
    await pace();
    if (statement.sql !== sql || rows.length >= MOST_ROWS || characters >= MOST_CHARACTERS) flush();
    sql = statement.sql;
    if (INSERT.test(sql) && statement.args.every(isInJson)) {
      const row = JSON.stringify(statement.args);
      rows.push(row);
      characters += row.length;
    } else {
      flush();
      joined.push(statement);
    }
  }
  flush();
  return joined;
}

const isInJson = (value: InValue) =>
  value === null || typeof value === "number" || (typeof value === "string" && !value.includes("\0"));
