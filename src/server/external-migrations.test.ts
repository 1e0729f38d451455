// Tests the migrations of third-party plugins: each once, in order, all or nothing, before the plugin starts.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { temporaryDir } from "../../tests/support/process.ts";
import { openServer } from "../../tests/support/server.ts";
import { type PluginParts, plugin } from "../kernel/plugin.ts";

type Migrations = PluginParts<unknown>["migrations"];

let dir: ReturnType<typeof temporaryDir>;
beforeEach(() => {
  dir = temporaryDir();
});
afterEach(() => dir.remove());

const first = {
  name: "1_tides",
  sql: "CREATE TABLE tides (at TEXT PRIMARY KEY) STRICT; INSERT INTO tides VALUES ('a;b');",
};
const second = { name: "2_notes", sql: "ALTER TABLE tides ADD COLUMN note TEXT;" };

/** Opens the service over the same folder, and returns what the query finds. */
async function rowsWith(migrations: Migrations, sql = "SELECT * FROM tides"): Promise<object[]> {
  const plugins = [plugin("harbour", () => ({ service: undefined, ...(migrations && { migrations }) }))];
  await using server = await openServer({ plugins, dir: dir.path });
  const { rows } = await server.kernel.database.read(sql);
  return rows.map((row) => ({ ...row }));
}

test("each is applied once, and those of a new version are added", async () => {
  expect(await rowsWith([first])).toEqual([{ at: "a;b" }]);
  expect(await rowsWith([first])).toEqual([{ at: "a;b" }]);
  expect(await rowsWith([first, second])).toEqual([{ at: "a;b", note: null }]);
  expect(await rowsWith([first, second], "SELECT name FROM plugin_migrations ORDER BY name")).toEqual([
    { name: "harbour/1_tides" },
    { name: "harbour/2_notes" },
  ]);
});

test("one that fails changes nothing, and stops the start with its reason", async () => {
  const broken = { name: "2_broken", sql: "ALTER TABLE tides ADD COLUMN note TEXT; INSERT INTO nowhere VALUES (1);" };
  await expect(rowsWith([first, broken])).rejects.toThrow(/^The plugin harbour can't be migrated: .*nowhere/);
  expect(await rowsWith([first])).toEqual([{ at: "a;b" }]);
});

test("an older file doesn't start over the tables of a newer one", async () => {
  await rowsWith([first, second]);
  await expect(rowsWith([first])).rejects.toThrow(
    "The database has the migration 2_notes of the plugin harbour, which its file doesn't list.",
  );
});

test("a plugin without migrations makes no table", async () => {
  expect(await rowsWith(undefined, "SELECT name FROM sqlite_schema WHERE name = 'plugin_migrations'")).toEqual([]);
});

test.each<[string, unknown, string]>([
  ["no list", { name: "1", sql: "" }, "its migrations are no list of { name, sql }."],
  ["one without its text", [{ name: "1" }], "its migrations are no list of { name, sql }."],
  ["two of one name", [first, first], "two of its migrations have the name 1_tides."],
])("%s stops the start", async (_, given, why) => {
  await expect(rowsWith(given as Migrations)).rejects.toThrow(`The plugin harbour can't be set up: ${why}`);
});
