// Administration of accounts: search, changes with their events and audit records, and that no change goes unrecorded.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Statement } from "../../../src/kernel/database/database.ts";
import { DAY, HOUR } from "../../../src/kernel/util/time.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import type { AccountChange, AuditRecorder } from "./account-audit.ts";
import type { Administration } from "./administration.ts";

let server: TestServer;
let administration: Administration;
beforeAll(async () => {
  server = await openServer({ env: { ADMIN_EMAILS: "root@example.com" } });
  administration = server.app.accounts.administration;
});
afterAll(() => server?.[Symbol.asyncDispose]());

const noOp: Statement = { sql: "SELECT 1", args: [] };
const failingRecorder: AuditRecorder = () => ({ sql: "INSERT INTO audit_log (id) VALUES (NULL)", args: [] });
/** A recorder that collects the changes. */
function recorder(): AuditRecorder & { changes: AccountChange[] } {
  const changes: AccountChange[] = [];
  const record = (change: AccountChange) => {
    changes.push(change);
    return noOp;
  };
  return Object.assign(record, { changes });
}
const options = { keepAnAdmin: false };
let emails = 0;
const newEmail = () => `made-${++emails}@example.com`;
const create = async (account: { email?: string; name?: string; isAdmin?: boolean; emailVerified?: boolean } = {}) =>
  (await administration.create({ email: newEmail(), ...account }, recorder())).user;
const eventsOf = async (userId: string) => (await server.kernel.events.since(0, { userId })).map(({ type }) => type);
const rows = async (sql: string, ...args: string[]) => (await server.kernel.database.read(sql, args)).rows;

describe("creating an account", () => {
  test("records it in the audit log and as an event, without secrets", async () => {
    const record = recorder();
    const email = newEmail();
    const { user, link } = await administration.create({ email, password: "correct horse", isAdmin: true }, record);
    expect(user).toMatchObject({ email, name: email, isAdmin: true, emailVerified: false, plan: "free" });
    expect(link).toBeUndefined();
    expect(record.changes).toEqual([
      { action: "user.create", user: expect.objectContaining({ id: user.id, email }), details: expect.any(Object) },
    ]);
    expect(JSON.stringify(record.changes)).not.toContain("correct horse");
    expect(await eventsOf(user.id)).toEqual(["user.created"]);
  });

  test("returns a one-time link, which is stored as a hash, or mails it", async () => {
    const { user, link } = await administration.create({ email: newEmail() }, recorder(), "link");
    const token = new URL(link ?? "").searchParams.get("token") ?? "";
    expect(link).toMatch(/\/reset-password\?token=[\w-]{43}$/);
    const [row] = await rows("SELECT * FROM auth_links WHERE user_id = ?", user.id);
    expect(Number(row?.expires_at) - Date.now()).toBeWithin(23 * HOUR, DAY + 1);
    expect(JSON.stringify(row)).not.toContain(token);

    const mailed = await administration.create({ email: newEmail() }, recorder(), "mail");
    expect(mailed.link).toBeUndefined();
    expect(await rows("SELECT 1 FROM jobs WHERE kind = 'mail'")).toHaveLength(1);
    await server.kernel.database.write([{ sql: "DELETE FROM jobs WHERE kind = 'mail'", args: [] }]);
  });

  test.each([
    [{ email: "nothing" }, "INVALID_EMAIL"],
    [{ email: "0xabc@wallet.invalid" }, "INVALID_EMAIL"],
    [{ email: "fine@example.com", password: "short" }, "INVALID_PASSWORD"],
    [{ email: "fine@example.com", name: "two\nlines" }, "INVALID_INPUT"],
    [{ email: "fine@example.com", name: "x".repeat(201) }, "INVALID_INPUT"],
  ])("refuses %j as sign-up does", async (account, code) => {
    const record = recorder();
    await expect(administration.create(account, record)).rejects.toMatchObject({ status: 400, code });
    expect(record.changes).toEqual([]);
  });

  test("refuses an address that has an account", async () => {
    const { email } = await create();
    await expect(administration.create({ email: email.toUpperCase() }, recorder())).rejects.toMatchObject({
      code: "USER_EXISTS",
    });
  });
});

describe("changing an account", () => {
  test("records each action once, with old and new values", async () => {
    const { id } = await create({ name: "Ada" });
    const record = recorder();
    const changes = { name: "Countess", credits: 5, disabled: true, isAdmin: true, emailVerified: false };
    const user = await administration.update(id, changes, record, options);
    expect(user).toMatchObject({ name: "Countess", credits: 5, isAdmin: true, disabledAt: expect.any(Number) });
    expect(record.changes.map(({ action, details }) => ({ action, details }))).toEqual([
      { action: "user.update", details: { name: { from: "Ada", to: "Countess" }, credits: { from: 0, to: 5 } } },
      { action: "user.promote", details: { isAdmin: { from: false, to: true } } },
      { action: "user.disable", details: { disabled: { from: false, to: true } } },
    ]);
    expect(await eventsOf(id)).toEqual(["user.created", "user.updated"]);
  });

  test("writes no record and no event if nothing differs", async () => {
    const { id } = await create({ name: "Ada" });
    const record = recorder();
    await administration.update(id, { name: "Ada", disabled: false, isAdmin: false }, record, options);
    await administration.update(id, {}, record, options);
    await administration.removeSubscription(id, record);
    expect(record.changes).toEqual([]);
    expect(await eventsOf(id)).toEqual(["user.created"]);
  });

  test("ignores unknown fields", async () => {
    const { id } = await create();
    const more = { name: "Ada", id: "other", plan: "pro", passwordHash: "x", email: "other@example.com" };
    const record = recorder();
    expect(await administration.update(id, more, record, options)).toMatchObject({ id, name: "Ada", plan: "free" });
    expect(record.changes[0]?.details).toEqual({ name: { from: expect.any(String), to: "Ada" } });
  });

  test("concurrent changes are applied one after the other", async () => {
    const { id } = await create();
    const record = recorder();
    await Promise.all([1, 2, 3].map((credits) => administration.update(id, { credits }, record, options)));
    const { credits } = await administration.byId(id);
    // An outdated attempt was aborted with its record, and repeated.
    const steps = record.changes.map(({ details }) => details.credits as { from: number; to: number });
    const last = steps.findLast(({ to }) => to === credits);
    expect([1, 2, 3]).toContain(credits);
    expect([1, 2, 3]).toContain(last?.from ?? 0);
    expect(await eventsOf(id)).toEqual(["user.created", "user.updated", "user.updated", "user.updated"]);
  });

  test("writes nothing if the audit record can't be written", async () => {
    const { id, name } = await create();
    const jobs = await rows("SELECT id FROM jobs");
    const attempts = [
      administration.update(id, { name: "Other", disabled: true }, failingRecorder, options),
      administration.setSubscription(
        id,
        { plan: "pro", status: "active", currentPeriodEnd: Date.now() + 1e9 },
        failingRecorder,
      ),
      administration.resetPassword(id, failingRecorder, "mail"),
      administration.create({ email: "unrecorded@example.com" }, failingRecorder, "mail"),
    ];
    for (const attempt of await Promise.allSettled(attempts)) expect(attempt.status).toBe("rejected");
    expect(await administration.byId(id)).toMatchObject({ name, disabledAt: null, plan: "free", subscription: null });
    expect(await eventsOf(id)).toEqual(["user.created"]);
    expect(await rows("SELECT 1 FROM auth_links WHERE user_id = ?", id)).toEqual([]);
    expect(await rows("SELECT id FROM jobs")).toEqual(jobs);
    await expect(administration.byEmail("unrecorded@example.com")).rejects.toMatchObject({ code: "USER_NOT_FOUND" });
  });

  test("throws 404 for an unknown account", async () => {
    for (const attempt of [
      () => administration.byId("nobody"),
      () => administration.byEmail("nobody@example.com"),
      () => administration.update("nobody", { name: "x" }, recorder(), options),
      () => administration.removeSubscription("nobody", recorder()),
      () => administration.resetPassword("nobody", recorder(), "link"),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ status: 404, code: "USER_NOT_FOUND" });
    }
  });
});

describe("disabling", () => {
  test("ends reset links, allows no new ones, and notifies listeners once", async () => {
    const notified: string[] = [];
    administration.onDisabled(async (userId) => void notified.push(userId));
    const { user } = await administration.create({ email: newEmail() }, recorder(), "link");
    await administration.update(user.id, { disabled: true }, recorder(), options);
    expect(await rows("SELECT 1 FROM auth_links WHERE user_id = ?", user.id)).toEqual([]);
    await expect(administration.resetPassword(user.id, recorder(), "link")).rejects.toMatchObject({
      code: "ACCOUNT_DISABLED",
    });
    await server.kernel.jobs.start();
    await eventually(() => notified.includes(user.id), { what: "the listener is notified" });
    await server.kernel.jobs.stop();
    expect(notified.filter((id) => id === user.id)).toHaveLength(1);
  });
});

describe("admins", () => {
  test("keepAnAdmin protects the last admin, also against concurrent changes", async () => {
    await using alone = await openServer();
    const { administration } = alone.app.accounts;
    const keep = { keepAnAdmin: true };
    const admin = async () => (await administration.create({ email: newEmail(), isAdmin: true }, recorder())).user;
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
    await administration.update(last?.id ?? "", { isAdmin: false }, record, options);
  });

  test("addresses of ADMIN_EMAILS count once verified, and can't be demoted", async () => {
    const root = await create({ email: "root@example.com" });
    expect(administration.isAdmin(root)).toBe(false);
    const verified = await administration.update(root.id, { emailVerified: true }, recorder(), options);
    expect(administration.isAdmin(verified)).toBe(true);
    await expect(administration.update(root.id, { isAdmin: false }, recorder(), options)).rejects.toMatchObject({
      code: "ADMIN_BY_CONFIGURATION",
    });
    const { users } = await administration.list({ query: "root@", status: "admin", limit: 10, offset: 0 });
    expect(users.map(({ id }) => id)).toEqual([root.id]);
  });
});

test("removeTwoFactor deletes the recovery codes and mails the owner, or writes nothing if it can't be recorded", async () => {
  const { id, email } = await create({ emailVerified: true });
  const remaining = async () => [
    (await rows("SELECT 1 FROM two_factor WHERE user_id = ?", id)).length,
    (await rows("SELECT 1 FROM recovery_codes WHERE user_id = ?", id)).length,
    (await administration.byId(id)).twoFactorEnabled,
  ];
  await server.kernel.database.write([
    {
      sql: "INSERT INTO two_factor (user_id, secret, confirmed_at, last_step, created_at) VALUES (?, 'x', 1, 0, 1)",
      args: [id],
    },
    { sql: "INSERT INTO recovery_codes (user_id, code_hash) VALUES (?, 'x')", args: [id] },
    { sql: "UPDATE users SET two_factor_enabled = 1 WHERE id = ?", args: [id] },
  ]);
  server.app.accounts.users.invalidate(id);
  await expect(administration.removeTwoFactor(id, failingRecorder)).rejects.toThrow();
  expect(await remaining()).toEqual([1, 1, true]);
  const record = recorder();
  await administration.removeTwoFactor(id, record);
  expect(await remaining()).toEqual([0, 0, false]);
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
    currentPeriodEnd: Date.now() + 30 * DAY,
  });

  test("are set, replaced and removed, with old and new values in the record", async () => {
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
    const recorded = record.changes.map(({ action, details }) => [action, details.subscription]);
    const readable = ({
      plan,
      status,
      currentPeriodEnd,
    }: {
      plan: string;
      status: string;
      currentPeriodEnd: number;
    }) => ({
      plan,
      status,
      currentPeriodEnd: new Date(currentPeriodEnd).toISOString(),
    });
    expect(recorded).toEqual([
      ["subscription.set", { from: null, to: readable(first) }],
      ["subscription.set", { from: readable(first), to: readable(second) }],
      ["subscription.remove", { from: readable(second), to: null }],
    ]);
    const plans = (await server.kernel.events.since(0, { userId: id, types: ["user.updated"] })).map(
      ({ data }) => data,
    );
    expect(plans).toMatchObject([{ plan: "pro" }, { plan: "starter" }, { plan: "free" }]);
  });

  test("two concurrent changes are both applied", async () => {
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
  test("returns pages, newest first, that match a part of the address or name", async () => {
    const names = ["Zoë Lovelace", "ada lovelace", "100%_sure"];
    const users = [];
    for (const name of names) users.push(await create({ name, email: `find.${newEmail()}` }));
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
