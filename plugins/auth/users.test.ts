// Users and subscriptions: creation, updates, and a cache that is never stale.

import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { createMarks } from "../../src/kernel/cells/create-marks.ts";
import { loadConfig } from "../../src/kernel/config/config.ts";
import { createEvents } from "../../src/kernel/events/events.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { fileDatabase, silent, type TestDatabase } from "../../tests/support/database.ts";
import { insertUser } from "../../tests/support/records.ts";
import { isActiveSubscription } from "./plans/plan-table.ts";
import { createUsers, type Subscription, type Users } from "./users.ts";

let store: TestDatabase;
let users: Users;
const usersOf = (env: Record<string, string> = {}): Users => {
  const { database } = store;
  const config = loadConfig({ DATA_DIR: store.dir, ...env }, { cwd: store.dir });
  const events = createEvents({ database, log: silent });
  return createUsers({ database, config, events, marks: createMarks(0), cells: undefined });
};
const SPLIT = { ROLE: "web", DATABASE_URL: "http://127.0.0.1:1", SECRET_KEY: "1".repeat(64) };
beforeAll(async () => {
  store = await fileDatabase();
  users = usersOf();
});
afterAll(() => store?.remove());
afterEach(() => setSystemTime());

let emails = 0;
const newEmail = () => `user-${++emails}@example.com`;
const sql = (text: string, args: string[] = []) => store.database.write([{ sql: text, args }]);

describe("a new user", () => {
  test("has the plan free, no subscription, no rights, and a readable referral code", async () => {
    expect(await users.hasAny()).toBe(false);
    const email = newEmail();
    const { id } = await users.create({ email, passwordHash: "hash" });
    expect(await users.hasAny()).toBe(true);
    const user = await users.byId(id);
    expect(user).toMatchObject({
      id,
      email,
      name: email,
      passwordHash: "hash",
      emailVerified: false,
      isAdmin: false,
      plan: "free",
      credits: 0,
      twoFactorEnabled: false,
      notifications: {},
      subscription: null,
    });
    expect(user?.referralCode).toMatch(/^[a-hjkmnp-z2-9]{12}$/);
    expect(await users.byEmail(email)).toEqual(user);
  });

  test.each([
    [undefined, undefined],
    ["", undefined],
    ["  \t", undefined],
    ["  Ada Lovelace ", "Ada Lovelace"],
    ["Jose\u0301", "Jos\u00e9"],
  ])("with the name %j is called %j", async (name, kept) => {
    const email = newEmail();
    expect((await users.create({ email, name, passwordHash: null })).name).toBe(kept ?? email);
  });

  test("is announced by an event in the same batch", async () => {
    const { id, email } = await users.create({ email: newEmail(), name: "Ada", passwordHash: "canary-hash" });
    const { rows } = await store.database.read("SELECT type, data FROM events WHERE user_id = ?", [id]);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.type).toBe("user.created");
    const data = JSON.parse(String(rows[0]?.data));
    expect(data).toEqual({ id, email, name: "Ada", plan: "free", createdAt: expect.stringMatching(/Z$/) });
    expect(String(rows[0]?.data)).not.toContain("canary");
  });

  test("is created once by concurrent requests for one address, and the others write nothing", async () => {
    const email = newEmail();
    const tries = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => users.create({ email, name: `${n}`, passwordHash: null })),
    );
    const refused = tries.filter((outcome) => outcome.status === "rejected").map(({ reason }) => reason);
    expect(refused).toHaveLength(19);
    for (const reason of refused) expect(reason).toMatchObject({ status: 409, code: "USER_EXISTS" });
    const like = `%${email}%`;
    expect((await store.database.read("SELECT 1 FROM events WHERE data LIKE ?", [like])).rows).toHaveLength(1);
  });
});

describe("a subscription", () => {
  const end = 1_000_000;
  const having = (status: Subscription["status"]): Subscription => ({ plan: "pro", status, currentPeriodEnd: end });

  test("counts while it is active or trialing, until its end", () => {
    for (const status of ["active", "trialing"] as const) {
      expect([isActiveSubscription(having(status), end - 1), isActiveSubscription(having(status), end)]).toEqual([
        true,
        false,
      ]);
    }
    for (const status of ["past_due", "canceled"] as const)
      expect(isActiveSubscription(having(status), end - 1)).toBe(false);
    expect(isActiveSubscription(null, 0)).toBe(false);
  });
});

describe("the cache", () => {
  const rename = (id: string) => sql("UPDATE users SET name = 'Renamed' WHERE id = ?", [id]);

  test("is used only if one process owns the database", async () => {
    const { id } = await users.create({ email: newEmail(), name: "Ada", passwordHash: null });
    const split = usersOf(SPLIT);
    expect((await users.byId(id))?.name).toBe("Ada");
    expect((await split.byId(id))?.name).toBe("Ada");
    await rename(id);
    expect((await users.byId(id))?.name).toBe("Ada");
    expect((await split.byId(id))?.name).toBe("Renamed");
    users.invalidate(id);
    expect((await users.byId(id))?.name).toBe("Renamed");
  });

  test("does not keep a row that was read before a concurrent change", async () => {
    for (let turns = 0; turns < 20; turns++) {
      const { id } = await users.create({ email: newEmail(), passwordHash: null });
      const other = usersOf();
      const early = other.byId(id);
      for (let n = 0; n < turns; n++) await Promise.resolve();
      const written = store.database.write([other.updateStatement(id, { plan: "pro" })]);
      await Promise.all([early, written]);
      expect((await other.byId(id))?.plan).toBe("pro");
    }
  });

  test("does not remember that a user is missing", async () => {
    const id = Bun.randomUUIDv7();
    expect(await users.byId(id)).toBeUndefined();
    expect(await users.byEmail("nobody@example.com")).toBeUndefined();
    expect(await users.byEmail("' OR 1=1 --")).toBeUndefined();
    await insertUser(store.database, { id, name: "Late" });
    expect((await users.byId(id))?.name).toBe("Late");
  });
});

describe("SIGNUP_TRIAL", () => {
  test("gives new accounts a subscription that ends with the trial", async () => {
    const now = Date.now();
    setSystemTime(now);
    const trying = usersOf({ SIGNUP_TRIAL: "starter:7d" });
    const { id } = await trying.create({ email: newEmail(), passwordHash: null });
    const user = await trying.byId(id);
    const trial: Subscription = { plan: "starter", status: "trialing", currentPeriodEnd: now + 7 * DAY };
    expect(user).toMatchObject({ plan: "starter", subscription: trial });
    expect([isActiveSubscription(trial), isActiveSubscription(trial, now + 7 * DAY)]).toEqual([true, false]);
    const { rows } = await store.database.read("SELECT data FROM events WHERE user_id = ?", [id]);
    expect(JSON.parse(String(rows[0]?.data))).toMatchObject({ plan: "starter" });
  });
});

describe("updateStatement", () => {
  test("changes one user, and the next read sees it", async () => {
    const [ada, bob] = [newEmail(), newEmail()];
    const { id } = await users.create({ email: ada, passwordHash: null });
    const { id: other } = await users.create({ email: bob, passwordHash: null });
    expect((await users.byId(id))?.emailVerified).toBe(false);
    await store.database.write([users.updateStatement(id, { emailVerified: true, name: "Ada" })]);
    expect(await users.byId(id)).toMatchObject({ emailVerified: true, name: "Ada", email: ada });
    expect(await users.byId(other)).toMatchObject({ emailVerified: false, name: bob });
  });

  test("changes nothing if the address is not the expected one", async () => {
    const { id } = await users.create({ email: newEmail(), passwordHash: null });
    const write = users.updateStatement(id, { emailVerified: true }, { email: "old@example.com" });
    expect((await store.database.write([write]))[0]?.rowsAffected).toBe(0);
    expect((await users.byId(id))?.emailVerified).toBe(false);
  });
});

test("byReferralCode ignores case and matches the whole code only", async () => {
  const { id } = await users.create({ email: newEmail(), passwordHash: null });
  const { referralCode = "" } = (await users.byId(id)) ?? {};
  expect((await users.byReferralCode(referralCode.toUpperCase()))?.id).toBe(id);
  for (const code of ["", "%", referralCode.slice(1), `${referralCode} `]) {
    expect(await users.byReferralCode(code)).toBeUndefined();
  }
});
