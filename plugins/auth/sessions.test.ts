// Sessions: only a cookie signed by Berth with an existing row is valid, and a revoked session never becomes valid
// again.

import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { createHmac } from "node:crypto";
import { createMarks } from "../../src/kernel/cells/create-marks.ts";
import { loadConfig } from "../../src/kernel/config/config.ts";
import { createVault } from "../../src/kernel/security/vault.ts";
import { createLog } from "../../src/kernel/telemetry/log.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { fileDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { insertUser } from "../../tests/support/records.ts";
import { createSessions, SESSION_LIFETIME, type Sessions, type SignInEvidence } from "./sessions.ts";

const vault = createVault({ key: "a key of this test alone" });
let store: TestDatabase;
let reads = 0;
const warnings: string[] = [];
const log = createLog({ level: "warn", format: "json", write: (line) => warnings.push(line) });
const userId = Bun.randomUUIDv7();
const from = { direct: true, address: "127.0.0.1", userAgent: "Browser/1.0" };
const evidence: SignInEvidence = { twoFactor: false };

beforeAll(async () => {
  store = await fileDatabase();
  await insertUser(store.database, { id: userId });
});
afterAll(() => store?.remove());
afterEach(() => {
  setSystemTime();
  warnings.length = 0;
});

const SPLIT = { ROLE: "web", DATABASE_URL: "http://127.0.0.1:1", SECRET_KEY: "1".repeat(64) };
/** The sessions service of one process. */
function sessionsOf(env: Record<string, string> = {}, database = store.database): Sessions {
  const config = loadConfig({ DATA_DIR: store.dir, ...env }, { cwd: store.dir });
  return createSessions({ database, config, vault, log, marks: createMarks(0) });
}
const revoke = (sessions: Sessions, id: string) => store.database.write([sessions.revokeStatement(userId, id)]);
const pairOf = (cookie: string) => cookie.split(";")[0] ?? "";
const rows = async () => Number((await store.database.read("SELECT count(*) AS n FROM auth_sessions")).rows[0]?.n);

/** A JWT under the key of sessions, or with another key or algorithm. */
function jwt(claims: object, options: { key?: Uint8Array; alg?: string; signed?: string } = {}): string {
  const { key = vault.deriveKey("session-cookie"), alg = "HS256", signed = alg } = options;
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg, typ: "JWT" })}.${part(claims)}`;
  const secret = Buffer.from(key).toString("base64url");
  if (signed === "none") return `${text}.`;
  return `${text}.${createHmac(`sha${signed.slice(2)}`, secret)
    .update(text)
    .digest("base64url")}`;
}
const soon = () => Math.floor(Date.now() / 1000) + 3600;

describe("the cookie", () => {
  test("on http has no Secure attribute", async () => {
    const { cookie } = await sessionsOf().start(userId, from, evidence);
    expect(cookie).toMatch(/^berth_session=[\w-]+\.[\w-]+\.[\w-]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(sessionsOf().clearCookie()).toBe("berth_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax");
  });

  test("on https has the prefix __Host- and the attribute Secure", async () => {
    const secure = sessionsOf({ BASE_URL: "https://berth.example" });
    const { cookie } = await secure.start(userId, { ...from, direct: false }, evidence);
    expect(cookie).toMatch(/^__Host-berth_session=[\w.-]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    expect(secure.clearCookie()).toBe("__Host-berth_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure");
    expect(await secure.find(pairOf(cookie))).toMatchObject({ userId, direct: false });
    expect(await secure.find(pairOf(cookie).replace("__Host-", ""))).toBeUndefined();
  });

  test("refers to a new row at each sign-in, and does not contain the user id", async () => {
    const sessions = sessionsOf();
    const [one, two] = [await sessions.start(userId, from, evidence), await sessions.start(userId, from, evidence)];
    expect(one.session.id).not.toBe(two.session.id);
    const payload = JSON.parse(Buffer.from(one.cookie.split(".")[1] ?? "", "base64url").toString());
    expect(Object.keys(payload).sort()).toEqual(["exp", "iat", "sub"]);
    expect(payload.sub).toBe(one.session.id);
    expect(JSON.stringify(payload)).not.toContain(userId);
  });

  test("is found among others, in another process too", async () => {
    const sessions = sessionsOf();
    const value = pairOf((await sessions.start(userId, from, evidence)).cookie);
    for (const header of [value, `a=1; ${value}`, `${value}; b=2`, `a=1;${value} ;b`, `xberth_session=1; ${value}`]) {
      expect(await sessions.find(header)).toMatchObject({ userId, direct: true });
      expect(await sessionsOf().find(header)).toMatchObject({ userId, direct: true });
    }
    for (const header of [null, "", ";", "berth_session", "berth_session=", `x${value}`, value.replace("=", "-=")]) {
      expect(await sessions.find(header)).toBeUndefined();
    }
  });
});

describe("a forged cookie is refused", () => {
  const expectRefused = async (value: string) => {
    expect(await sessionsOf().find(`berth_session=${value}`)).toBeUndefined();
    expect(await sessionsOf(SPLIT).find(`berth_session=${value}`)).toBeUndefined();
  };

  test("without a signature, with one of another key, purpose or algorithm, changed, or without an end", async () => {
    const { session, cookie } = await sessionsOf().start(userId, from, evidence);
    const sub = session.id;
    const good = { sub, exp: soon() };
    expect(await sessionsOf().find(`berth_session=${jwt(good)}`)).toMatchObject({ id: sub });
    for (const alg of ["none", "None", "NONE"]) await expectRefused(jwt(good, { alg, signed: "none" }));
    await expectRefused(jwt(good, { signed: "none" }));
    await expectRefused(jwt(good, { alg: "HS512" }));
    await expectRefused(jwt(good, { key: vault.deriveKey("service-token") }));
    await expectRefused(jwt(good, { key: createVault({ key: "another" }).deriveKey("session-cookie") }));
    await expectRefused(jwt(good, { key: new Uint8Array() }));
    await expectRefused(jwt({ sub }));
    await expectRefused(jwt({ sub, exp: null }));
    await expectRefused(jwt({ sub, exp: String(soon()) }));
    await expectRefused(jwt({ sub, exp: soon() - 7200 }));
    await expectRefused(jwt({ exp: soon() }));
    await expectRefused(jwt({ sub: { id: sub }, exp: soon() }));
    await expectRefused(jwt({ sub: userId, exp: soon() }));
    await expectRefused(jwt({ sub: "' OR 1=1 --", exp: soon() }));
    await expectRefused(jwt({ sub, exp: soon(), nbf: soon() }));
    const value = pairOf(cookie).slice("berth_session=".length);
    const [head = "", , mac = ""] = value.split(".");
    const other = Buffer.from(JSON.stringify({ sub, exp: soon() + 1e9 })).toString("base64url");
    await expectRefused(`${head}.${other}.${mac}`);
    await expectRefused(value.slice(0, -2));
    await expectRefused(`${value}.x`);
  });

  test.each(["x", "x.y.z", "..", "null", "undefined", "[object Object]", "%00", '"', "e30.e30.", "a".repeat(10_000)])(
    "%j",
    (value) => expectRefused(value),
  );
});

describe("start", () => {
  const refusal = (start: Promise<unknown>) => start.catch(({ status, code }) => ({ status, code }));

  test("fails if the password has changed since it was checked", async () => {
    const sessions = sessionsOf();
    const before = await rows();
    await store.database.write([{ sql: "UPDATE users SET password_hash = 'new'", args: [] }]);
    for (const old of ["old", null]) {
      expect(await refusal(sessions.start(userId, from, { ...evidence, passwordHash: old }))).toEqual({
        status: 401,
        code: "BAD_CREDENTIALS",
      });
    }
    expect(await rows()).toBe(before);
    for (const more of [{ passwordHash: "new" }, {}]) {
      const { cookie } = await sessions.start(userId, from, { ...evidence, ...more });
      expect(await sessions.find(pairOf(cookie))).toMatchObject({ userId, ...from });
    }
    await store.database.write([{ sql: "UPDATE users SET password_hash = NULL", args: [] }]);
    const withoutPassword = sessions.start(userId, from, { ...evidence, passwordHash: "new" });
    expect(await refusal(withoutPassword)).toEqual({ status: 401, code: "BAD_CREDENTIALS" });
    const withNull = await sessions.start(userId, from, { ...evidence, passwordHash: null });
    expect(withNull.session).toMatchObject({ userId });
  });

  test("fails if the linked account that was used is no longer linked", async () => {
    const sessions = sessionsOf();
    const linkedAccount = { provider: "wallet", subject: "0xada" } as const;
    const signIn = () => sessions.start(userId, from, { ...evidence, linkedAccount });
    const changed = { status: 401, code: "UNAUTHORIZED" };
    const write = (sql: string, ...args: string[]) => store.database.write([{ sql, args }]);
    expect(await refusal(signIn())).toEqual(changed);
    await write("INSERT INTO linked_accounts VALUES ('wallet', '0xada', ?, 0, NULL, NULL)", userId);
    expect((await signIn()).session).toMatchObject({ userId });
    // The account was reclaimed after the signature was checked.
    await write("DELETE FROM linked_accounts");
    const before = await rows();
    expect(await refusal(signIn())).toEqual(changed);
    await write("INSERT INTO linked_accounts VALUES ('google', '0xada', ?, 0, NULL, NULL)", userId);
    expect(await refusal(signIn())).toEqual(changed);
    await write("DELETE FROM linked_accounts");
    expect(await rows()).toBe(before);
  });

  test("fails if two-factor was turned on or off since it was checked", async () => {
    const sessions = sessionsOf();
    const write = (sql: string) => store.database.write([{ sql, args: [] }]);
    await write("UPDATE users SET two_factor_enabled = 1");
    expect(await refusal(sessions.start(userId, from, evidence))).toEqual({ status: 401, code: "UNAUTHORIZED" });
    expect((await sessions.start(userId, from, { twoFactor: true })).session).toMatchObject({ userId });
    await write("UPDATE users SET two_factor_enabled = 0");
  });

  test("fails if the account was disabled in the meantime", async () => {
    const sessions = sessionsOf();
    const write = (sql: string) => store.database.write([{ sql, args: [] }]);
    await write("UPDATE users SET disabled_at = 1");
    expect(await refusal(sessions.start(userId, from, evidence))).toEqual({ status: 401, code: "UNAUTHORIZED" });
    await write("UPDATE users SET disabled_at = NULL");
  });

  test("ends the oldest session of an account with a hundred", async () => {
    const sessions = sessionsOf();
    await store.database.write([{ sql: "DELETE FROM auth_sessions", args: [] }]);
    const revoked: string[] = [];
    sessions.onRevoked((id) => revoked.push(id));
    const made: Awaited<ReturnType<Sessions["start"]>>[] = [];
    for (let n = 0; n < 102; n++) made.push(await sessions.start(userId, from, evidence));
    expect(await rows()).toBe(100);
    expect(revoked).toEqual(made.slice(0, 2).map(({ session }) => session.id));
    const found = await Promise.all(made.map(({ cookie }) => sessions.find(pairOf(cookie))));
    expect(found.map((session) => session !== undefined)).toEqual(made.map((_, n) => n >= 2));
    // If the clock was set back, the new session is not mistaken for the oldest.
    setSystemTime(Date.now() - DAY);
    const { cookie } = await sessions.start(userId, from, evidence);
    expect(await sessionsOf().find(pairOf(cookie))).toBeDefined();
    expect(await rows()).toBe(100);
    await store.database.write([{ sql: "DELETE FROM auth_sessions", args: [] }]);
  });

  test("fails if the account is gone", async () => {
    const start = sessionsOf().start(Bun.randomUUIDv7(), from, evidence);
    expect(await refusal(start)).toEqual({ status: 401, code: "UNAUTHORIZED" });
  });
});

describe("revocation", () => {
  test("ends the session at once in every process, and notifies listeners", async () => {
    const sessions = sessionsOf();
    const revoked: string[] = [];
    sessions.onRevoked((id) => revoked.push(id));
    const [one, two] = [await sessions.start(userId, from, evidence), await sessions.start(userId, from, evidence)];
    expect(await sessions.find(pairOf(one.cookie))).toBeDefined();
    await revoke(sessions, one.session.id);
    expect(await sessions.find(pairOf(one.cookie))).toBeUndefined();
    expect(await sessionsOf().find(pairOf(one.cookie))).toBeUndefined();
    expect(await sessions.find(pairOf(two.cookie))).toBeDefined();
    expect(revoked).toEqual([one.session.id]);
  });

  test("also ends a session that is being read at that moment", async () => {
    const { cookie, session } = await sessionsOf().start(userId, from, evidence);
    const sessions = sessionsOf();
    for (let turns = 0; turns < 12; turns++) {
      const found = sessions.find(pairOf(cookie));
      for (let n = 0; n < turns; n++) await Promise.resolve();
      if (turns === 11) await revoke(sessions, session.id);
      await found;
    }
    expect(await sessions.find(pairOf(cookie))).toBeUndefined();
    // The same in a fixed order: the row is read, the session is revoked, and only then does the read resolve.
    const again = await sessionsOf().start(userId, from, evidence);
    const pause = Promise.withResolvers<void>();
    const read = Promise.withResolvers<void>();
    const slow = sessionsOf({}, slowed(read, pause));
    const reading = slow.find(pairOf(again.cookie));
    await read.promise;
    await revoke(slow, again.session.id);
    pause.resolve();
    await reading;
    expect(await slow.find(pairOf(again.cookie))).toBeUndefined();
  });

  test("also ends a session that is being renewed at that moment", async () => {
    const sessions = sessionsOf();
    const { cookie, session } = await sessions.start(userId, from, evidence);
    setSystemTime(Date.now() + 2 * DAY);
    const found = await sessions.find(pairOf(cookie));
    if (!found) throw new Error("The session should be valid for 30 days.");
    const [renewed] = await Promise.all([sessions.renew(found), revoke(sessions, session.id)]);
    for (const value of [cookie, renewed ?? ""]) expect(await sessions.find(pairOf(value))).toBeUndefined();
  });
});

describe("expiry", () => {
  test("a session ends after 30 days without use", async () => {
    const sessions = sessionsOf();
    const value = pairOf((await sessions.start(userId, from, evidence)).cookie);
    setSystemTime(Date.now() + SESSION_LIFETIME - 60_000);
    expect(await sessions.find(value)).toBeDefined();
    setSystemTime(Date.now() + 60_000);
    expect(await sessions.find(value)).toBeUndefined();
    expect(await sessionsOf().find(value)).toBeUndefined();
  });

  test("a session in use is renewed at most once a day, by one of several concurrent requests", async () => {
    const sessions = sessionsOf();
    const { session, cookie } = await sessions.start(userId, from, evidence);
    expect(await sessions.renew(session)).toBeUndefined();
    setSystemTime(Date.now() + DAY + 1);
    const found = await sessions.find(pairOf(cookie));
    if (!found) throw new Error("The session should be valid for 30 days.");
    const renewals = await Promise.all([sessions.renew(found), sessions.renew(found), sessions.renew(found)]);
    const [renewed, ...more] = renewals.filter((value) => value !== undefined);
    expect(more).toEqual([]);
    expect(renewed).toStartWith("berth_session=");
    expect(renewed).toContain("Max-Age=2592000");
    setSystemTime(Date.now() + 29.5 * DAY);
    expect(await sessionsOf().find(pairOf(renewed ?? ""))).toMatchObject({ id: session.id });
    expect(await sessionsOf().find(pairOf(cookie))).toBeUndefined();
  });

  test("a full disk prevents the renewal, not the request", async () => {
    const failing = { ...store.database, write: () => Promise.reject(new Error("disk full")) };
    const { cookie } = await sessionsOf().start(userId, from, evidence);
    const sessions = sessionsOf({}, failing);
    setSystemTime(Date.now() + 2 * DAY);
    const found = await sessions.find(pairOf(cookie));
    if (!found) throw new Error("The session should be valid for 30 days.");
    const { expiresAt } = found;
    expect(await sessions.renew(found)).toBeUndefined();
    expect(found.expiresAt).toBe(expiresAt);
    expect(warnings).toHaveLength(1);
    expect(await sessions.renew(found)).toBeUndefined();
    expect(warnings).toHaveLength(2);
  });

  test("the sweep deletes expired sessions only", async () => {
    const sessions = sessionsOf();
    await store.database.write([{ sql: "DELETE FROM auth_sessions", args: [] }]);
    const old = await sessions.start(userId, from, evidence);
    setSystemTime(Date.now() + 20 * DAY);
    const young = await sessions.start(userId, from, evidence);
    setSystemTime(Date.now() + 11 * DAY);
    await store.database.write([sessions.sweepStatement()]);
    expect(await rows()).toBe(1);
    expect(await sessions.find(pairOf(young.cookie))).toBeDefined();
    expect(await sessions.find(pairOf(old.cookie))).toBeUndefined();
  });
});

describe("the cache", () => {
  const counted = () => ({
    ...store.database,
    drizzle: slowedDrizzle(async (rows) => {
      reads++;
      return rows;
    }),
  });

  test("reads a cookie's row once if one process owns the database, else every time", async () => {
    const { cookie } = await sessionsOf().start(userId, from, evidence);
    for (const [env, times] of [
      [{}, 1],
      [SPLIT, 3],
    ] as const) {
      const sessions = sessionsOf(env, counted());
      reads = 0;
      for (let n = 0; n < 3; n++) expect(await sessions.find(pairOf(cookie))).toBeDefined();
      expect(reads).toBe(times);
    }
  });

  test("is bounded: the oldest entries are read again", async () => {
    const { session } = await sessionsOf().start(userId, from, evidence);
    const sessions = sessionsOf({}, counted());
    const end = soon();
    const cookie = (n: number) => `berth_session=${jwt({ sub: session.id, exp: end + n })}`;
    reads = 0;
    for (let n = 0; n <= 10_000; n++) await sessions.find(cookie(n));
    expect(reads).toBe(10_001);
    await sessions.find(cookie(10_000));
    expect(reads).toBe(10_001);
    await sessions.find(cookie(0));
    expect(reads).toBe(10_002);
    await revoke(sessions, session.id);
    for (const n of [0, 5_000, 10_000]) expect(await sessions.find(cookie(n))).toBeUndefined();
  });
});

/** A database whose reads of sessions wait for `then` before they resolve. */
function slowedDrizzle(then: (rows: unknown) => Promise<unknown>) {
  return new Proxy(store.database.drizzle, {
    get(target, name) {
      if (name !== "select") return Reflect.get(target, name);
      return () => ({
        from: (table: never) => ({ where: (condition: never) => prepared(target, table, condition, then) }),
      });
    },
  });
}

function prepared(
  drizzle: TestDatabase["database"]["drizzle"],
  table: never,
  condition: never,
  then: (rows: unknown) => Promise<unknown>,
) {
  const query = drizzle.select().from(table).where(condition).prepare();
  return { prepare: () => ({ execute: async (values: Record<string, unknown>) => then(await query.execute(values)) }) };
}

function slowed(read: PromiseWithResolvers<void>, pause: PromiseWithResolvers<void>) {
  const drizzle = slowedDrizzle(async (rows) => {
    read.resolve();
    await pause.promise;
    return rows;
  });
  return { ...store.database, drizzle };
}
