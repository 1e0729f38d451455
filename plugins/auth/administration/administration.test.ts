// Administration of accounts: what is found, what a change writes along, and that nothing is changed unrecorded.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Statement } from "../../../src/kernel/database/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { type House, openHouse } from "../../../tests/support/house.ts";
import type { AccountChange, AuditRecorder } from "./account-changes.ts";
import type { Administration } from "./administration.ts";

let house: House;
let administration: Administration;
beforeAll(async () => {
  house = await openHouse({ env: { ADMIN_EMAILS: "root@example.com" } });
  administration = house.app.accounts.administration;
});
afterAll(() => house?.[Symbol.asyncDispose]());

const nothing: Statement = { sql: "SELECT 1", args: [] };
const impossible: AuditRecorder = () => ({ sql: "INSERT INTO audit_log (id) VALUES (NULL)", args: [] });
/** A recorder that remembers. */
function recorder(): AuditRecorder & { changes: AccountChange[] } {
  const changes: AccountChange[] = [];
  const record = (change: AccountChange) => {
    changes.push(change);
    return nothing;
  };
  return Object.assign(record, { changes });
}
const free = { keepAnAdmin: false };
let made = 0;
const fresh = () => `made-${++made}@example.com`;
const create = async (account: { email?: string; name?: string; isAdmin?: boolean; emailVerified?: boolean } = {}) =>
  (await administration.create({ email: fresh(), ...account }, recorder())).user;
const eventsOf = async (userId: string) => (await house.kernel.events.since(0, { userId })).map(({ type }) => type);
const rows = async (sql: string, ...args: string[]) => (await house.kernel.database.read(sql, args)).rows;

describe("making an account", () => {
  test("writes the record and the event with it, and no secret into the record", async () => {
    const record = recorder();
    const email = fresh();
    const { user, link } = await administration.create({ email, password: "correct horse", isAdmin: true }, record);
    expect(user).toMatchObject({ email, name: email, isAdmin: true, emailVerified: false, plan: "free" });
    expect(link).toBeUndefined();
    expect(record.changes).toEqual([
      { action: "user.create", user: expect.objectContaining({ id: user.id, email }), details: expect.any(Object) },
    ]);
    expect(JSON.stringify(record.changes)).not.toContain("correct horse");
    expect(await eventsOf(user.id)).toEqual(["user.created"]);
  });

  test("gives a link of one use that is stored hashed, or mails it", async () => {
    const { user, link } = await administration.create({ email: fresh() }, recorder(), "link");
    const token = new URL(link ?? "").searchParams.get("token") ?? "";
    expect(link).toMatch(/\/reset-password\?token=[\w-]{43}$/);
    const [row] = await rows("SELECT * FROM auth_links WHERE user_id = ?", user.id);
    expect(Number(row?.expires_at) - Date.now()).toBeWithin(23 * 3_600_000, 24 * 3_600_000 + 1);
    expect(JSON.stringify(row)).not.toContain(token);

    const mailed = await administration.create({ email: fresh() }, recorder(), "mail");
    expect(mailed.link).toBeUndefined();
    expect(await rows("SELECT 1 FROM jobs WHERE kind = 'mail'")).toHaveLength(1);
    await house.kernel.database.write([{ sql: "DELETE FROM jobs WHERE kind = 'mail'", args: [] }]);
  });

  test.each([
    [{ email: "nothing" }, "INVALID_EMAIL"],
    [{ email: "0xabc@wallet.invalid" }, "INVALID_EMAIL"],
    [{ email: "fine@example.com", password: "short" }, "INVALID_PASSWORD"],
    [{ email: "fine@example.com", name: "two\nlines" }, "INVALID_INPUT"],
    [{ email: "fine@example.com", name: "x".repeat(201) }, "INVALID_INPUT"],
  ])("%j is refused as at sign-up", async (account, code) => {
    const record = recorder();
    await expect(administration.create(account, record)).rejects.toMatchObject({ status: 400, code });
    expect(record.changes).toEqual([]);
  });

  test("one address makes one account", async () => {
    const { email } = await create();
    await expect(administration.create({ email: email.toUpperCase() }, recorder())).rejects.toMatchObject({
      code: "USER_EXISTS",
    });
  });
});

describe("changing an account", () => {
  test("records each kind of change once, with what was and what is", async () => {
    const { id } = await create({ name: "Ada" });
    const record = recorder();
    const wanted = { name: "Countess", credits: 5, disabled: true, isAdmin: true, emailVerified: false };
    const user = await administration.update(id, wanted, record, free);
    expect(user).toMatchObject({ name: "Countess", credits: 5, isAdmin: true, disabledAt: expect.any(Number) });
    expect(record.changes.map(({ action, details }) => ({ action, details }))).toEqual([
      { action: "user.update", details: { name: { from: "Ada", to: "Countess" }, credits: { from: 0, to: 5 } } },
      { action: "user.promote", details: { isAdmin: { from: false, to: true } } },
      { action: "user.disable", details: { disabled: { from: false, to: true } } },
    ]);
    expect(await eventsOf(id)).toEqual(["user.created", "user.updated"]);
  });

  test("what is so already is no change, no record and no event", async () => {
    const { id } = await create({ name: "Ada" });
    const record = recorder();
    await administration.update(id, { name: "Ada", disabled: false, isAdmin: false }, record, free);
    await administration.update(id, {}, record, free);
    await administration.removeSubscription(id, record);
    expect(record.changes).toEqual([]);
    expect(await eventsOf(id)).toEqual(["user.created"]);
  });

  test("takes no more than its fields, whatever comes along", async () => {
    const { id } = await create();
    const more = { name: "Ada", id: "other", plan: "pro", passwordHash: "x", email: "other@example.com" };
    const record = recorder();
    expect(await administration.update(id, more, record, free)).toMatchObject({ id, name: "Ada", plan: "free" });
    expect(record.changes[0]?.details).toEqual({ name: { from: expect.any(String), to: "Ada" } });
  });

  test("many at once are each told from what the one before left", async () => {
    const { id } = await create();
    const record = recorder();
    await Promise.all([1, 2, 3].map((credits) => administration.update(id, { credits }, record, free)));
    const { credits } = await administration.byId(id);
    // What came too late was undone with its record, and tried again.
    const steps = record.changes.map(({ details }) => details.credits as { from: number; to: number });
    const last = steps.findLast(({ to }) => to === credits);
    expect([1, 2, 3]).toContain(credits);
    expect([1, 2, 3]).toContain(last?.from ?? 0);
    expect(await eventsOf(id)).toEqual(["user.created", "user.updated", "user.updated", "user.updated"]);
  });

  test("that can't be recorded does not happen", async () => {
    const { id, name } = await create();
    const jobs = await rows("SELECT id FROM jobs");
    const attempts = [
      administration.update(id, { name: "Other", disabled: true }, impossible, free),
      administration.setSubscription(
        id,
        { plan: "pro", status: "active", currentPeriodEnd: Date.now() + 1e9 },
        impossible,
      ),
      administration.resetPassword(id, impossible, "mail"),
      administration.create({ email: "unrecorded@example.com" }, impossible, "mail"),
    ];
    for (const attempt of await Promise.allSettled(attempts)) expect(attempt.status).toBe("rejected");
    expect(await administration.byId(id)).toMatchObject({ name, disabledAt: null, plan: "free", subscription: null });
    expect(await eventsOf(id)).toEqual(["user.created"]);
    expect(await rows("SELECT 1 FROM auth_links WHERE user_id = ?", id)).toEqual([]);
    expect(await rows("SELECT id FROM jobs")).toEqual(jobs);
    await expect(administration.byEmail("unrecorded@example.com")).rejects.toMatchObject({ code: "USER_NOT_FOUND" });
  });

  test("of nobody is 404", async () => {
    for (const attempt of [
      () => administration.byId("nobody"),
      () => administration.byEmail("nobody@example.com"),
      () => administration.update("nobody", { name: "x" }, recorder(), free),
      () => administration.removeSubscription("nobody", recorder()),
      () => administration.resetPassword("nobody", recorder(), "link"),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ status: 404, code: "USER_NOT_FOUND" });
    }
  });
});

describe("disabling", () => {
  test("ends reset links, takes no new ones, and is told to whoever stops what acts for the account", async () => {
    const told: string[] = [];
    administration.onDisabled(async (userId) => void told.push(userId));
    const { user } = await administration.create({ email: fresh() }, recorder(), "link");
    await administration.update(user.id, { disabled: true }, recorder(), free);
    expect(await rows("SELECT 1 FROM auth_links WHERE user_id = ?", user.id)).toEqual([]);
    await expect(administration.resetPassword(user.id, recorder(), "link")).rejects.toMatchObject({
      code: "ACCOUNT_DISABLED",
    });
    await house.kernel.jobs.start();
    await eventually(() => told.includes(user.id), { what: "the listener is told" });
    await house.kernel.jobs.stop();
    expect(told.filter((id) => id === user.id)).toHaveLength(1);
  });
});

describe("admins", () => {
  test("the last one stays one, for those who ask it: also of two at once", async () => {
    await using alone = await openHouse();
    const { administration } = alone.app.accounts;
    const keep = { keepAnAdmin: true };
    const admin = async () => (await administration.create({ email: fresh(), isAdmin: true }, recorder())).user;
    const [one, two] = [await admin(), await admin()];
    const record = recorder();
    const attempts = await Promise.allSettled([
      administration.update(one.id, { isAdmin: false }, record, keep),
      administration.update(two.id, { disabled: true }, record, keep),
    ]);
    expect(attempts.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(attempts.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "LAST_ADMIN" } });
    const { users } = await administration.list({ status: "admin", limit: 10, offset: 0 });
    expect(users.filter(({ disabledAt }) => disabledAt === null)).toHaveLength(1);
    const [last] = users.filter(({ disabledAt }) => disabledAt === null);
    await administration.update(last?.id ?? "", { isAdmin: false }, record, free);
  });

  test("those by ADMIN_EMAILS count once verified, and are made none by nobody", async () => {
    const root = await create({ email: "root@example.com" });
    expect(administration.isAdmin(root)).toBe(false);
    const verified = await administration.update(root.id, { emailVerified: true }, recorder(), free);
    expect(administration.isAdmin(verified)).toBe(true);
    await expect(administration.update(root.id, { isAdmin: false }, recorder(), free)).rejects.toMatchObject({
      code: "ADMIN_BY_CONFIGURATION",
    });
    const { users } = await administration.list({ query: "root@", status: "admin", limit: 10, offset: 0 });
    expect(users.map(({ id }) => id)).toEqual([root.id]);
  });
});

test("a second factor is taken with its recovery codes, its owner told; nothing where it can't be recorded", async () => {
  const { id, email } = await create({ emailVerified: true });
  const left = async () => [
    (await rows("SELECT 1 FROM two_factor WHERE user_id = ?", id)).length,
    (await rows("SELECT 1 FROM recovery_codes WHERE user_id = ?", id)).length,
    (await administration.byId(id)).twoFactorEnabled,
  ];
  await house.kernel.database.write([
    {
      sql: "INSERT INTO two_factor (user_id, secret, confirmed_at, last_step, created_at) VALUES (?, 'x', 1, 0, 1)",
      args: [id],
    },
    { sql: "INSERT INTO recovery_codes (user_id, code_hash) VALUES (?, 'x')", args: [id] },
    { sql: "UPDATE users SET two_factor_enabled = 1 WHERE id = ?", args: [id] },
  ]);
  house.app.accounts.users.invalidate(id);
  await expect(administration.removeTwoFactor(id, impossible)).rejects.toThrow();
  expect(await left()).toEqual([1, 1, true]);
  const record = recorder();
  await administration.removeTwoFactor(id, record);
  expect(await left()).toEqual([0, 0, false]);
  expect(record.changes).toMatchObject([{ action: "user.two-factor-off", user: { id, email } }]);
  const mails = await rows("SELECT payload FROM jobs WHERE kind = 'mail'");
  expect(mails.length).toBeGreaterThan(0);
  await expect(administration.removeTwoFactor(id, record)).rejects.toMatchObject({
    status: 409,
    code: "TWO_FACTOR_OFF",
  });
  await expect(administration.removeTwoFactor("nobody", record)).rejects.toMatchObject({ code: "USER_NOT_FOUND" });
});

describe("subscriptions", () => {
  const month = () => ({
    plan: "pro" as const,
    status: "active" as const,
    currentPeriodEnd: Date.now() + 30 * 86_400_000,
  });

  test("are given, replaced and taken, with what was and what is", async () => {
    const { id } = await create();
    const record = recorder();
    const first = month();
    expect(await administration.setSubscription(id, first, record)).toMatchObject({ plan: "pro", subscription: first });
    const second = { plan: "starter" as const, status: "canceled" as const, currentPeriodEnd: 1 };
    expect(await administration.setSubscription(id, second, record)).toMatchObject({
      plan: "starter",
      subscription: second,
    });
    expect(await administration.removeSubscription(id, record)).toMatchObject({ plan: "free", subscription: null });
    const told = record.changes.map(({ action, details }) => [action, details.subscription]);
    const seen = ({ plan, status, currentPeriodEnd }: { plan: string; status: string; currentPeriodEnd: number }) => ({
      plan,
      status,
      currentPeriodEnd: new Date(currentPeriodEnd).toISOString(),
    });
    expect(told).toEqual([
      ["subscription.set", { from: null, to: seen(first) }],
      ["subscription.set", { from: seen(first), to: seen(second) }],
      ["subscription.remove", { from: seen(second), to: null }],
    ]);
    const plans = (await house.kernel.events.since(0, { userId: id, types: ["user.updated"] })).map(({ data }) => data);
    expect(plans).toMatchObject([{ plan: "pro" }, { plan: "starter" }, { plan: "free" }]);
  });

  test("two at once both happen, one after the other", async () => {
    const { id } = await create();
    const record = recorder();
    await Promise.all([
      administration.setSubscription(id, month(), record),
      administration.setSubscription(id, month(), record),
    ]);
    expect(await rows("SELECT 1 FROM subscriptions WHERE user_id = ?", id)).toHaveLength(1);
    expect(await eventsOf(id)).toEqual(["user.created", "user.updated", "user.updated"]);
  });
});

describe("finding accounts", () => {
  test("the newest first, by part of the address or the name, a page at a time", async () => {
    const names = ["Zoë Lovelace", "ada lovelace", "100%_sure"];
    const users = [];
    for (const name of names) users.push(await create({ name, email: `find.${fresh()}` }));
    const find = async (query: string, limit = 10, offset = 0) => {
      const { users, total } = await administration.list({ query, limit, offset });
      return { names: users.map(({ name }) => name), total };
    };
    expect(await find(" LOVELACE")).toEqual({ names: ["ada lovelace", "Zoë Lovelace"], total: 2 });
    expect(await find("Lovelace", 1, 1)).toEqual({ names: ["Zoë Lovelace"], total: 2 });
    expect(await find("FIND.MADE")).toMatchObject({ total: 3 });
    expect(await find("%_s")).toEqual({ names: ["100%_sure"], total: 1 });
    expect(await find("%")).toMatchObject({ total: 1 });
    expect(await find("' OR 1=1 --")).toMatchObject({ total: 0 });
  });
});
