// Tests the rotation of the root key: registered secrets are sealed under the new key, and nothing is lost.
import { describe, expect, test } from "bun:test";
import type { Row } from "@libsql/client";
import { fileDatabase } from "../../../tests/support/database.ts";
import { rejectionOf } from "../../../tests/support/rejection.ts";
import type { Database, Statement } from "../database/database.ts";
import { StartError } from "../errors.ts";
import { createLog } from "../telemetry/log.ts";
import { createKeyRotation, noteKeyStatement } from "./key-rotation.ts";
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

describe("an earlier key", () => {
  const OLD = "the old key";
  const NEW = "the new key";

  /** A database with texts of two kinds under the old key: a column, and a part of a column of JSON. */
  async function openStorage() {
    const storage = await fileDatabase();
    const { database } = storage;
    const old = createVault({ key: OLD });
    const payload = (id: string) => JSON.stringify({ id, letter: old.seal(`letter ${id}`, `mail:${id}`), tries: 1 });
    await database.write([
      { sql: "CREATE TABLE secrets (id TEXT PRIMARY KEY, sealed TEXT) STRICT", args: [] },
      { sql: "CREATE TABLE queue (id TEXT PRIMARY KEY, kind TEXT, payload TEXT) STRICT", args: [] },
      ...Array.from({ length: 500 }, (_, n) => ({
        sql: "INSERT INTO secrets VALUES (?, ?)",
        args: [`${n}`, old.seal(`text ${n}`, `secret:${n}`)],
      })),
      { sql: "INSERT INTO queue VALUES ('a', 'mail', ?), ('b', 'other', '{}')", args: [payload("a")] },
      noteKeyStatement(old.keyId),
    ]);
    return { database, [Symbol.asyncDispose]: storage.remove };
  }

  /** A rotation with both kinds registered, as in a process with these keys. */
  function rotationWith(database: Pick<Database, "read" | "write">, key: string, previous?: string) {
    const vault = createVault({ key, previous });
    const rotation = createKeyRotation({ database: database as Database, vault, log });
    const keyColumns = ["id"];
    const sealContext = ({ id }: Row) => `secret:${id}`;
    rotation.registerColumn({ label: "secrets", table: "secrets", keyColumns, sealed: "sealed", sealContext });
    rotation.registerColumn({
      ...{
        label: "mails",
        table: "queue",
        keyColumns,
        where: "kind = 'mail'",
        sealed: "payload",
        jsonPath: "$.letter",
      },
      sealContext: ({ payload }) => `mail:${JSON.parse(String(payload)).id}`,
    });
    return { ...rotation, vault };
  }

  test("that secrets still need refuses the start without it, and names the command; nothing changes", async () => {
    await using storage = await openStorage();
    const refused = await rejectionOf(rotationWith(storage.database, NEW).requireKeys());
    expect(refused).toBeInstanceOf(StartError);
    expect(String(refused)).toMatch(/secrets.*SECRET_KEY_PREVIOUS.*berth vault rotate/);
    await rotationWith(storage.database, NEW, OLD).requireKeys();
    await rotationWith(storage.database, OLD).requireKeys();
    expect(await rejectionOf(rotationWith(storage.database, NEW).requireKeys())).toBeInstanceOf(StartError);
  });

  test("is not needed after a rotation, which reseals parts of JSON too", async () => {
    await using storage = await openStorage();
    const { database } = storage;
    const both = rotationWith(database, NEW, OLD);
    expect(await both.run()).toEqual({
      secrets: { resealed: 500, unreadable: 0 },
      mails: { resealed: 1, unreadable: 0 },
    });
    const { vault, requireKeys } = rotationWith(database, NEW);
    await requireKeys();
    const { rows } = await database.read("SELECT payload FROM queue ORDER BY id");
    const { letter, ...rest } = JSON.parse(String(rows[0]?.payload));
    expect([vault.open(letter, "mail:a"), rest, rows[1]?.payload]).toEqual(["letter a", { id: "a", tries: 1 }, "{}"]);
  });

  test("is not needed either if it is noted, but no text is under it: the note goes", async () => {
    await using storage = await openStorage();
    const { database } = storage;
    await database.write([
      { sql: "DELETE FROM secrets", args: [] },
      { sql: "DELETE FROM queue", args: [] },
    ]);
    await rotationWith(database, NEW).requireKeys();
    expect((await database.read("SELECT key FROM meta WHERE key LIKE 'sealed_under:%'")).rows).toEqual([]);
  });

  test("stays needed when a rotation is killed, and the next one continues", async () => {
    await using storage = await openStorage();
    const { database } = storage;
    let writes = 0;
    const dying = {
      read: database.read,
      write: async (statements: Statement[]) => {
        if (++writes === 2) throw new Error("killed");
        return database.write(statements);
      },
    };
    expect(String(await rejectionOf(rotationWith(dying, NEW, OLD).run()))).toContain("killed");
    expect(await rejectionOf(rotationWith(database, NEW).requireKeys())).toBeInstanceOf(StartError);
    expect(await rotationWith(database, NEW, OLD).run()).toMatchObject({ secrets: { resealed: 300, unreadable: 0 } });
    await rotationWith(database, NEW).requireKeys();
  });

  test("that is lost does not keep Berth down: a rotation without it names what can't be opened", async () => {
    await using storage = await openStorage();
    const alone = rotationWith(storage.database, NEW);
    expect(await alone.run()).toMatchObject({ secrets: { resealed: 0, unreadable: 500 } });
    await alone.requireKeys();
  });
});
