// Tests the rotation of the root key: registered secrets are sealed under the new key, and nothing is lost.
import { expect, test } from "bun:test";
import { fileDatabase } from "../../../tests/support/database.ts";
import { createLog } from "../telemetry/log.ts";
import { createKeyRotation } from "./key-rotation.ts";
import { createVault } from "./vault.ts";

const log = createLog({ level: "error", format: "json" });

test("texts under the previous key are sealed again in place; one that can't be opened stays", async () => {
  const storage = await fileDatabase();
  const { database } = storage;
  try {
    const old = createVault({ key: "the old key" });
    const vault = createVault({ key: "the new key", previous: "the old key" });
    const place = (id: string) => `secret:${id}`;
    const ids = Array.from({ length: 450 }, (_, at) => String(at).padStart(3, "0"));
    const broken = new Set(["000", "250", "449"]);
    const sealedOf = (id: string) =>
      broken.has(id)
        ? createVault({ key: "a key nobody has" }).seal(id, place(id))
        : (Number(id) % 2 ? vault : old).seal(`text ${id}`, place(id));
    await database.write([
      { sql: "CREATE TABLE secrets (id TEXT PRIMARY KEY, sealed TEXT, key_id TEXT) STRICT", args: [] },
      ...ids.map((id) => ({ sql: "INSERT INTO secrets VALUES (?, ?, '')", args: [id, sealedOf(id)] })),
      { sql: "INSERT INTO secrets VALUES ('none', NULL, NULL)", args: [] },
    ]);

    const resealing = createKeyRotation({ database, vault, log });
    const column = { label: "secrets", table: "secrets", keyColumns: ["id"], sealed: "sealed", keyId: "key_id" };
    resealing.registerColumn({ ...column, sealContext: ({ id }) => place(String(id)) });
    const stale = ids.filter((id) => Number(id) % 2 === 0 && !broken.has(id));
    expect(await resealing.run()).toEqual({ secrets: { resealed: stale.length, unreadable: 3 } });
    expect(await resealing.run()).toEqual({ secrets: { resealed: 0, unreadable: 3 } });

    const alone = createVault({ key: "the new key" });
    const { rows } = await database.read("SELECT * FROM secrets WHERE sealed IS NOT NULL");
    for (const { id, sealed, key_id } of rows) {
      if (broken.has(String(id))) continue;
      expect(alone.open(String(sealed), place(String(id)))).toBe(`text ${id}`);
      if (stale.includes(String(id))) expect(key_id).toBe(alone.keyId);
    }
    expect(rows).toHaveLength(450);
  } finally {
    await storage.remove();
  }
});
