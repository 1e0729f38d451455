import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrations } from "../../../../migrations/index.ts";
import { closureOf, NUMBERED, SCHEMA_SQL, STAYING, toSchema } from "./closure.ts";

function schemaOfAll() {
  const database = new Database(":memory:");
  for (const { sql } of migrations) database.exec(sql);
  const read = (sql: string) => database.query<Record<string, unknown>, []>(sql).all();
  return toSchema({
    tables: read(SCHEMA_SQL.tables),
    columns: read(SCHEMA_SQL.columns),
    references: read(SCHEMA_SQL.references),
  });
}
/** Made by the kernel beside the migrations. */
const ELSEWHERE = ["migrations", "plugin_migrations", "log_progress"];

test("every table belongs to accounts, or stays for a reason", () => {
  const schema = schemaOfAll();
  const owned = closureOf(schema).map(({ name }) => name);
  const staying = Object.keys(STAYING).filter((name) => !ELSEWHERE.includes(name));
  expect([...owned, ...staying].toSorted()).toEqual(schema.map(({ name }) => name).toSorted());
});

test("parents come before what refers to them", () => {
  const names = closureOf(schemaOfAll()).map(({ name }) => name);
  const at = (name: string) => names.indexOf(name);
  expect(at("users")).toBeLessThan(at("agents"));
  expect(at("sessions")).toBeLessThan(at("messages"));
  expect(at("wallet_spends")).toBeLessThan(at("wallet_transactions"));
});

test("rows are found by the keys that lead to the account", () => {
  const tables = new Map(closureOf(schemaOfAll()).map((table) => [table.name, table]));
  expect(tables.get("agent_logs")?.where).toBe(
    "agent_id IN (SELECT id FROM agents WHERE user_id IN (SELECT id FROM users WHERE id = ?1))",
  );
  expect(tables.get("pairings")?.where).toStartWith(
    "(agent_id, channel) IN (SELECT agent_id, channel FROM channel_connections",
  );
  expect(tables.get("usage")?.orderBy).toBe("rowid");
});

test("a table of which nothing is known is an error", () => {
  const stranger = { name: "strangers", sql: "", columns: [{ name: "id", key: 1 }], references: [] };
  expect(() => closureOf([...schemaOfAll(), stranger])).toThrow("strangers");
});

test("what has an integer as its whole key is numbered by its cell, and shifted", () => {
  const owned = new Set(closureOf(schemaOfAll()).map(({ name }) => name));
  const numbered = schemaOfAll().filter(({ name, sql }) => owned.has(name) && /INTEGER PRIMARY KEY/i.test(sql));
  const referring = Object.values(NUMBERED).flatMap(({ references }) => references.map(([table]) => table));
  for (const { name } of numbered) expect([...Object.keys(NUMBERED), ...referring, "social_accounts"]).toContain(name);
});
