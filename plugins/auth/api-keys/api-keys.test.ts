// API keys: shown once, stored as hashes, revoked at once, and their use recorded without a write per request.
import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { createMarks } from "../../../src/kernel/cells/create-marks.ts";
import { loadConfig } from "../../../src/kernel/config/config.ts";
import type { Statement } from "../../../src/kernel/database/database.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { createMember, verifyEmail } from "../../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { silent } from "../../../tests/support/database.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { createApiKeys } from "./api-keys.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());
afterEach(() => setSystemTime());

interface Made {
  id: string;
  name: string;
  key: string;
  scopes: string[];
  expiresAt: string | null;
}
interface Listed {
  keys: { id: string; prefix: string; lastUsedAt: string | null }[];
  count: number;
}

const member = async () => (await createMember(server)).client;
const make = (owner: Client, body: object = {}, headers: Record<string, string> = {}) =>
  owner.post<Made>("/api/keys", { name: "Laptop", ...body }, { headers });
const withKey = (key: string, path = "/api/settings") =>
  createClient(server.web).get<{ id: string }>(path, { headers: { authorization: `Bearer ${key}` } });

describe("a new key", () => {
  test("causes no mail to an unverified address", async () => {
    const eve = await member();
    const mails = async () => (await server.kernel.database.read("SELECT 1 FROM jobs WHERE kind = 'mail'")).rows.length;
    const before = await mails();
    const { body } = await make(eve);
    expect((await eve.delete(`/api/keys/${body.id}`)).status).toBe(200);
    expect(await mails()).toBe(before);
  });

  test("is not made if `scopes` is misspelt, since it would have all of them", async () => {
    const ada = await member();
    const refused = await make(ada, { scope: ["read"] });
    expectRefusal(refused, 400, "INVALID_INPUT");
    expect(refused.text).toContain('There is no such field here. Is \\"scopes\\" meant?');
    expect((await ada.get<Listed>("/api/keys")).body.count).toBe(0);
  });

  test("is shown once, with all scopes and no expiry by default", async () => {
    const ada = await member();
    const answer = await make(ada, { name: "  Laptop " });
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 201,
      body: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: "Laptop",
        key: expect.stringMatching(/^bk_[\w-]{43}$/),
        scopes: ["read", "write", "chat"],
        expiresAt: null,
        createdAt: expect.stringMatching(/Z$/),
      } as never,
    });
    const { key, id, ...shown } = answer.body;
    const { text, body } = await ada.get<Listed>("/api/keys");
    expect(text).not.toContain(key.slice(10));
    expect(body as object).toEqual({
      keys: [{ ...shown, id, prefix: key.slice(0, 9), lastUsedAt: null }],
      count: 1,
    });
    expect((await withKey(key)).body.id).toBe((await ada.get<{ id: string }>("/api/settings")).body.id);
  });

  test("is stored as a hash only, and announced to its owner by mail", async () => {
    const ada = await member();
    await verifyEmail(server, ada.account.email);
    const mails = async () => (await server.kernel.database.read("SELECT * FROM jobs WHERE kind = 'mail'")).rows.length;
    const before = await mails();
    const { key } = (await make(ada, {}, { "idempotency-key": crypto.randomUUID() })).body;
    expect(await mails()).toBe(before + 1);
    const { rows: tables } = await server.kernel.database.read("SELECT name FROM sqlite_schema WHERE type = 'table'");
    for (const { name } of tables) {
      const { rows } = await server.kernel.database.read(`SELECT * FROM "${String(name)}"`);
      expect(JSON.stringify(rows)).not.toContain(key.slice(10));
    }
  });

  test("has the given scopes, without duplicates", async () => {
    const ada = await member();
    expect((await make(ada, { scopes: ["chat", "read", "chat"] })).body.scopes).toEqual(["read", "chat"]);
  });

  test.each([
    [{ name: "" }, "name"],
    [{ name: 1 }, "name"],
    [{ name: "two\nlines" }, "name"],
    [{ name: "x".repeat(201) }, "name"],
    [{ scopes: [] }, "scopes"],
    [{ scopes: "read" }, "scopes.0"],
    [{ scopes: ["admin"] }, "scopes.0"],
    [{ expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt"],
    [{ expiresAt: "tomorrow" }, "expiresAt"],
    [{ expiresAt: "1e20" }, "expiresAt"],
    [{ expiresAt: 4102444800000 }, "expiresAt"],
  ])("is refused with 400 and the path for %j", async (body, path) => {
    const { issues } = expectRefusal(await make(await member(), body), 400);
    expect(issues?.map((issue) => issue.path)).toContain(path);
  });

  test("ignores fields that the caller may not set", async () => {
    const [ada, eve] = [await member(), await member()];
    const { id: adas } = (await ada.get<{ id: string }>("/api/settings")).body;
    const wish = { userId: adas, key: `bk_${"x".repeat(43)}`, id: "mine", direct: true, lastUsedAt: "2020-01-01" };
    const { body } = await make(eve, wish);
    expect(body.id).not.toBe("mine");
    expect((await withKey(body.key)).body.id).not.toBe(adas);
    expect((await withKey(wish.key)).status).toBe(401);
    expect((await ada.get<Listed>("/api/keys")).body.count).toBe(0);
  });

  test("is created once per idempotency key; the replayed response does not contain the key", async () => {
    const ada = await member();
    const headers = { "idempotency-key": crypto.randomUUID() };
    const [one, two] = [await make(ada, {}, headers), await make(ada, {}, headers)];
    expect(two.status).toBe(201);
    expect(two.body).toEqual({ ...one.body, key: null as never });
    expect((await ada.get<Listed>("/api/keys")).body.count).toBe(1);
  });

  test("is limited to fifty per account, also for concurrent requests", async () => {
    const ada = await member();
    const answers = await Promise.all(Array.from({ length: 53 }, () => make(ada)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
    for (const answer of answers.filter(({ status }) => status !== 201)) expectRefusal(answer, 409, "TOO_MANY_KEYS");
    expect((await ada.get<Listed>("/api/keys")).body.count).toBe(50);
    expect((await make(await member())).status).toBe(201);
  });
});

describe("a key becomes invalid", () => {
  test("as soon as its owner deletes it", async () => {
    const ada = await member();
    const { key, id } = (await make(ada)).body;
    expect((await withKey(key)).status).toBe(200);
    expect((await ada.delete(`/api/keys/${id}`)).body).toEqual({ success: true, id });
    expectRefusal(await withKey(key), 401, "UNAUTHORIZED");
    expectRefusal(await ada.delete(`/api/keys/${id}`), 404, "KEY_NOT_FOUND");
  });

  test("only through its owner, not another user", async () => {
    const [ada, eve] = [await member(), await member()];
    const { key, id } = (await make(ada)).body;
    expectRefusal(await eve.delete(`/api/keys/${id}`), 404, "KEY_NOT_FOUND");
    expect((await withKey(key)).status).toBe(200);
    expect((await eve.get<Listed>("/api/keys")).body).toEqual({ keys: [], count: 0 });
  });

  test("at its expiry", async () => {
    const ada = await member();
    const now = Date.now();
    const { key } = (await make(ada, { expiresAt: new Date(now + MINUTE).toISOString() })).body;
    expect((await withKey(key)).status).toBe(200);
    setSystemTime(now + MINUTE);
    expectRefusal(await withKey(key), 401, "UNAUTHORIZED");
    expect((await ada.get<Listed>("/api/keys")).body.count).toBe(1);
  });

  test("with its account", async () => {
    const ada = await member();
    const { key } = (await make(ada)).body;
    const { id } = (await withKey(key)).body;
    await server.kernel.database.write([{ sql: "DELETE FROM users WHERE id = ?", args: [id] }]);
    server.app.accounts.users.invalidate(id);
    expectRefusal(await withKey(key), 401, "UNAUTHORIZED");
  });
});

describe("the service", () => {
  /** A service over the server's database that records its writes. */
  async function keysOf(role: "all" | "web") {
    const { config, database } = server.kernel;
    const user = await server.app.accounts.users.create({
      email: `${crypto.randomUUID()}@example.com`,
      passwordHash: null,
    });
    const writes: Statement[][] = [];
    const counting = {
      ...database,
      write: (batch: Statement[]) => {
        writes.push(batch);
        return database.write(batch);
      },
    };
    const env = { ROLE: role, SECRET_KEY: "0".repeat(64), DATABASE_URL: "http://127.0.0.1:1", DATA_DIR: server.dir };
    const keys = createApiKeys({
      database: counting,
      config: role === "all" ? config : loadConfig(env, { cwd: server.dir }),
      log: silent,
      marks: createMarks(0),
    });
    const newKey = { userId: user.id, name: "k", scopes: new Set(["read" as const]), direct: false, expiresAt: null };
    const { key } = await keys.create(newKey);
    writes.length = 0;
    return { keys, key, writes, userId: user.id };
  }

  test.each(["all", "web"] as const)("writes a hundred uses as one, later (role %s)", async (role) => {
    const { keys, key, writes, userId } = await keysOf(role);
    const now = Date.now();
    setSystemTime(now);
    for (let n = 0; n < 100; n++) await keys.find(key);
    expect(writes).toHaveLength(0);
    expect((await keys.listByUser(userId))[0]?.lastUsedAt).toBe(now);
    await keys.close();
    expect(writes.flat()).toHaveLength(1);
    setSystemTime(now + 59_000);
    await keys.find(key);
    setSystemTime(now + 61_000);
    await keys.find(key);
    await keys.close();
    expect(writes.flat()).toHaveLength(2);
    expect((await keys.listByUser(userId))[0]?.lastUsedAt).toBe(now + 61_000);
  });

  test("revokes all keys of one user, and caches nothing if another process may write", async () => {
    const [ada, eve] = [await keysOf("all"), await keysOf("all")];
    await ada.keys.find(ada.key);
    await server.kernel.database.write([ada.keys.revokeAllStatement(ada.userId)]);
    expect(await ada.keys.find(ada.key)).toBeUndefined();
    expect(await eve.keys.find(eve.key)).toBeDefined();
    const split = await keysOf("web");
    await split.keys.find(split.key);
    await server.kernel.database.write([{ sql: "DELETE FROM api_keys WHERE user_id = ?", args: [split.userId] }]);
    expect(await split.keys.find(split.key)).toBeUndefined();
  });

  test("accepts keys while the disk is full", async () => {
    const { keys, key, writes } = await keysOf("all");
    await keys.find(key);
    await server.kernel.database.write([
      { sql: "CREATE TRIGGER full BEFORE UPDATE ON api_keys BEGIN SELECT raise(ABORT, 'disk full'); END", args: [] },
    ]);
    await keys.close();
    expect(writes).toHaveLength(1);
    expect(await keys.find(key)).toBeDefined();
    await server.kernel.database.write([{ sql: "DROP TRIGGER full", args: [] }]);
  });
});
