// Tests a rotation of the root key while previous secrets of an endpoint still sign.
import { expect, test } from "bun:test";
import { loadConfig } from "../../../src/kernel/config/config.ts";
import { createVault, type Vault } from "../../../src/kernel/security/vault.ts";
import { HOUR } from "../../../src/kernel/util/time.ts";
import { fileDatabase, silent as log } from "../../../tests/support/database.ts";
import { createEndpoints } from "./endpoints.ts";
import { reencryptPreviousSecrets } from "./previous-secrets.ts";

const unrecorded = { record: () => ({ sql: "SELECT 1", args: [] }) };

test("reseals previous secrets with the new key and drops expired ones", async () => {
  const storage = await fileDatabase();
  const { database } = storage;
  try {
    let time = 1_000_000;
    const now = () => time;
    const endpointsWith = (vault: Vault) =>
      createEndpoints({
        database,
        vault,
        config: loadConfig({}),
        audit: unrecorded,
        now,
        wakeStatement: () => ({ sql: "SELECT 1", args: [] }),
      });
    const old = endpointsWith(createVault({ key: "the old key" }));
    const newEndpoint = {
      userId: "ada",
      url: "https://a.example",
      types: ["*"],
      description: "",
      allEvents: false,
      allEventsByEmail: null,
    };
    const { endpoint, secret: first } = await old.create(newEndpoint, () => []);
    time += 20 * HOUR;
    const second = await old.rotateSecret(endpoint.id);
    time += 20 * HOUR;
    const third = await old.rotateSecret(endpoint.id);
    const { endpoint: unrotated } = await old.create(newEndpoint, () => []);

    const duringRotation = createVault({ key: "the new key", previous: "the old key" });
    const fourth = await endpointsWith(duringRotation).rotateSecret(endpoint.id);
    time += 5 * HOUR;
    expect(await reencryptPreviousSecrets({ database, vault: duringRotation, log, now })).toEqual({
      resealed: 2,
      unreadable: 0,
    });
    expect(await reencryptPreviousSecrets({ database, vault: duringRotation, log, now })).toEqual({
      resealed: 0,
      unreadable: 0,
    });

    const newKeyOnly = createVault({ key: "the new key" });
    const rowOf = async (id: string) =>
      (await database.read("SELECT * FROM webhook_endpoints WHERE id = ?", [id])).rows[0] ?? expect.unreachable();
    const { secrets } = endpointsWith(newKeyOnly).targetOf(await rowOf(endpoint.id));
    expect(secrets).toEqual([fourth, third, second].map(String));
    expect(secrets).not.toContain(first);
    expect((await rowOf(unrotated.id)).previous_secrets).toBe("[]");
  } finally {
    await storage.remove();
  }
});

test("counts a secret that can't be opened, and leaves it as it is", async () => {
  const storage = await fileDatabase();
  const { database } = storage;
  try {
    const unreadable = createVault({ key: "an unknown key" }).seal("text", "webhook:1");
    const list = JSON.stringify([{ secret: unreadable, until: 9 }]);
    const sql = `INSERT INTO webhook_endpoints (id, url, types, description, secret, previous_secrets, from_seq, created_at, updated_at)
      VALUES ('1', '', '[]', '', '', ?, 0, 0, 0)`;
    await database.write([{ sql, args: [list] }]);
    const vault = createVault({ key: "the new key" });
    expect(await reencryptPreviousSecrets({ database, vault, log, now: () => 1 })).toEqual({
      resealed: 0,
      unreadable: 1,
    });
    const { rows } = await database.read("SELECT previous_secrets FROM webhook_endpoints");
    expect(rows[0]?.previous_secrets).toBe(list);
  } finally {
    await storage.remove();
  }
});
