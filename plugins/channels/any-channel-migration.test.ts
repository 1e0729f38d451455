// Tests that the migration which removes the list of channels from the schema keeps the rows of both tables.
import { describe, expect, test } from "bun:test";
import { migrations } from "../../migrations/index.ts";
import { migrate } from "../../src/kernel/database/migrate.ts";
import { fileDatabase, serverDatabase, silent } from "../../tests/support/database.ts";

const NAME = "0031_any_channel";
const before = migrations.slice(
  0,
  migrations.findIndex(({ name }) => name === NAME),
);

const CONNECTION = {
  agent_id: "agent",
  channel: "channel_c",
  bot_id: "1",
  bot_username: "harbour",
  token_digest: "digest",
  owner_id: "42",
  callback_id: "callback",
  callback_secret: "sealed",
  registered_base: "https://berth.example/hooks/channel_c/",
  registered_at: 5,
  created_at: 4,
  resume: '{"seq":1}',
  detail: '{"app":"7"}',
};
const PAIRING = {
  agent_id: "agent",
  channel: "channel_c",
  sender_id: "77",
  sender_name: "Ada",
  peer: "1:77",
  code: "ABCDEF",
  expires_at: 9,
  approved_at: null,
  created_at: 8,
};

const insert = (table: string, row: Record<string, string | number | null>) => ({
  sql: `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${Object.keys(row).fill("?").join(", ")})`,
  args: Object.values(row),
});
const OWNER = insert("users", {
  id: "user",
  email: "ada@example.com",
  email_verified: 1,
  name: "Ada",
  referral_code: "ada",
  created_at: 0,
  updated_at: 0,
});
const agent = (id: string) =>
  insert("agents", {
    id,
    user_id: "user",
    name: "Harbour",
    subdomain: id,
    model: "model_a",
    status: "active",
    wanted: "up",
    runtime_version: "1",
    created_at: 0,
    updated_at: 0,
  });

describe.each([
  ["a file", fileDatabase],
  ["a libSQL server", serverDatabase],
])("0031_any_channel on %s", (_, open) => {
  test("keeps rows, constraints and cascades, and accepts any channel", async () => {
    const { database, remove } = await open(before);
    try {
      await database.write([
        OWNER,
        agent("agent"),
        agent("other"),
        insert("channel_connections", CONNECTION),
        insert("pairings", PAIRING),
      ]);
      const unknown = { ...CONNECTION, channel: "channel_d", bot_id: "2", callback_id: "second" };
      await expect(database.write([insert("channel_connections", unknown)])).rejects.toThrow("CHECK");

      await migrate(database, migrations, silent);

      const rows = async (sql: string) =>
        (await database.read(sql)).rows.map((row): Record<string, unknown> => ({ ...row }));
      expect(await rows("SELECT * FROM channel_connections")).toEqual([CONNECTION]);
      expect(await rows("SELECT * FROM pairings")).toEqual([{ ...PAIRING, language: null }]);
      expect(await rows("SELECT * FROM pragma_foreign_key_check")).toEqual([]);
      await database.write([insert("channel_connections", unknown)]);
      const sameBot = { ...unknown, agent_id: "other", callback_id: "third" };
      await expect(database.write([insert("channel_connections", sameBot)])).rejects.toThrow("UNIQUE");
      const sameCode = { ...PAIRING, sender_id: "78" };
      await expect(database.write([insert("pairings", sameCode)])).rejects.toThrow("UNIQUE");
      const orphan = { ...PAIRING, channel: "channel_e", code: "GHJKLM" };
      await expect(database.write([insert("pairings", orphan)])).rejects.toThrow("FOREIGN KEY");
      await database.write([{ sql: "DELETE FROM channel_connections WHERE channel = 'channel_c'", args: [] }]);
      expect(await rows("SELECT * FROM pairings")).toEqual([]);
    } finally {
      await remove();
    }
  });
});
