// A later version of Berth, whose migration changes tables that the load writes.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { copySource } from "../support/source-copy.ts";

const root = resolve(import.meta.dir, "../..");
export const NEXT_VERSION = "99.0.0";
export const NEXT_MIGRATION = "9000_next";
/** Each kind of change: a column with a value for old rows, a table that is filled from another one, an index and a trigger. */
const SQL = `
ALTER TABLE inbox ADD COLUMN next_note TEXT NOT NULL DEFAULT 'none';
CREATE TABLE next_agents (agent_id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO next_agents (agent_id, name) SELECT id, name FROM agents;
CREATE INDEX next_agents_by_name ON next_agents (name);
CREATE TRIGGER next_agents_renamed AFTER UPDATE OF name ON agents BEGIN
  UPDATE next_agents SET name = NEW.name WHERE agent_id = NEW.id;
END;
`;

/** Makes it in `folder`; returns the path of its program. */
export function makeNextVersion(folder: string): string {
  const program = copySource(folder);
  cpSync(join(root, "dist/web"), join(folder, "dist/web"), { recursive: true });
  change(join(folder, "package.json"), /"version": "[^"]+"/, `"version": "${NEXT_VERSION}"`);
  writeFileSync(join(folder, `migrations/${NEXT_MIGRATION}.sql`), SQL);
  const list = join(folder, "migrations/index.ts");
  change(list, /\n\nimport /, `\n\nimport next from "./${NEXT_MIGRATION}.sql" with { type: "text" };\nimport `);
  change(list, /\n\];\n/, `\n  { name: "${NEXT_MIGRATION}", sql: next },\n];\n`);
  return program;
}

function change(file: string, what: RegExp, into: string): void {
  const before = readFileSync(file, "utf8");
  const after = before.replace(what, into);
  if (after === before) throw new Error(`${file} has no ${what}.`);
  writeFileSync(file, after);
}
