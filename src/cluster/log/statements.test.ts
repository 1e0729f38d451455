// Each statement is executed again on every copy of a cluster's database: none may depend on time, chance or the machine.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { migrations } from "../../../migrations/index.ts";

const root = join(import.meta.dir, "../../..");
const LITERAL = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g;
const IS_SQL = /\b(?:SELECT|INSERT|UPDATE|DELETE|REPLACE|CREATE|WITH)\b/;
const FORBIDDEN = [
  /\bCURRENT_(?:TIMESTAMP|DATE|TIME)\b/,
  // Without an argument they mean now; strftime's first one is its format.
  /\b(?:unixepoch|date|time|datetime|julianday)\(\s*\)/i,
  /\bstrftime\(\s*(?:'[^']*'|[^,()]*)\s*\)/i,
  /\b(?:date|time|datetime|julianday|strftime|timediff)\([^)]*'now'/i,
  /\b(?:random|randomblob)\(/i,
  /\b(?:sqlite_version|sqlite_source_id|total_changes)\(/i,
];
/** Migrations that a cluster never applies to rows: `berth cluster join` brings a database to this version first. */
const BEFORE_CLUSTERS = new Set(["0011_admin", "0044_agent_hours"]);

const offence = (text: string) => FORBIDDEN.map((pattern) => pattern.exec(text)?.[0]).find(Boolean);

test("no statement asks the time, or anything else that differs between copies: bind the value", async () => {
  const found: string[] = [];
  for await (const path of new Glob("{src,plugins,channels}/**/*.ts").scan(root)) {
    if (path.includes(".test.")) continue;
    const source = readFileSync(join(root, path), "utf8");
    for (const { 0: literal, index } of source.matchAll(LITERAL)) {
      const what = IS_SQL.test(literal) ? offence(literal) : undefined;
      if (what) found.push(`${path}:${source.slice(0, index).split("\n").length}: ${what}`);
    }
  }
  expect(found).toEqual([]);
});

test("no migration does", () => {
  const withoutComments = (sql: string) => sql.replace(/--.*$/gm, "");
  const found = migrations
    .filter(({ name }) => !BEFORE_CLUSTERS.has(name))
    .flatMap(({ name, sql }) => {
      const what = offence(withoutComments(sql));
      return what ? [`${name}: ${what}`] : [];
    });
  expect(found).toEqual([]);
});

test.each([
  "SELECT unixepoch()",
  "INSERT INTO t VALUES (CURRENT_TIMESTAMP)",
  "SELECT datetime( 'now' )",
  "SELECT Random()",
  "UPDATE t SET at = datetime()",
  "SELECT date( )",
  "SELECT strftime('%s')",
  "SELECT strftime('%Y-%m-%d %H:%M', 'now')",
  "SELECT strftime(?)",
])("finds %s", (sql) => expect(offence(sql)).toBeDefined());

test.each(["SELECT date(at / 1000, 'unixepoch')", "SELECT strftime('%s', at)", "SELECT unixepoch(at)"])(
  "lets %s pass",
  (sql) => expect(offence(sql)).toBeUndefined(),
);
