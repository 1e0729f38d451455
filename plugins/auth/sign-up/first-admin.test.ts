// The link of the first admin: it creates one admin account, once, while there is no other account.
import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { DAY } from "../../../src/kernel/util/time.ts";
import { createClient } from "../../../tests/support/client.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await openServer();
});
afterEach(async () => {
  setSystemTime();
  await server?.[Symbol.asyncDispose]();
});

const link = async () => {
  const text = await server.app.accounts.createFirstAdminLink();
  return text === undefined ? undefined : (new URL(text).searchParams.get("token") ?? "");
};
const claim = async (token: unknown, email = "root@example.com", more: object = {}) => {
  const client = createClient(server.web);
  const body = { token, email, password: "correct horse battery", ...more };
  return { client, answer: await client.post("/api/auth/first-admin", body) };
};
const accounts = async () => (await server.kernel.database.read("SELECT email, is_admin FROM users")).rows.length;

test("creates an admin who is signed in and verified", async () => {
  const token = await link();
  expect(token).toMatch(/^[\w-]{43}$/);
  const { client, answer } = await claim(token, " Root@Example.com ", { name: "Root" });
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({ ok: true, user: { id: expect.any(String), email: "root@example.com", name: "Root" } });
  expect((await client.get("/api/settings")).body).toMatchObject({ isAdmin: true, emailVerified: true, plan: "free" });
  // From other machines too, since the right belongs to the account.
  const headers = { "x-forwarded-for": "203.0.113.7" };
  expect((await client.get("/api/settings", { headers })).body).toMatchObject({ isAdmin: true });
});

test("works once, also for twenty concurrent requests", async () => {
  const token = await link();
  const tries = await Promise.all(Array.from({ length: 20 }, (_, n) => claim(token, `root-${n}@example.com`)));
  expect(tries.filter(({ answer }) => answer.status === 201)).toHaveLength(1);
  for (const { client, answer } of tries.filter(({ answer }) => answer.status !== 201)) {
    expectRefusal(answer, 400, "INVALID_LINK");
    expect(client.cookie).toBe("");
  }
  expect(await accounts()).toBe(1);
  expectRefusal((await claim(token, "late@example.com")).answer, 400, "INVALID_LINK");
});

test("a new link ends the older one, and a link expires after a day", async () => {
  const [first, second] = [await link(), await link()];
  expect(first).not.toBe(second);
  expectRefusal((await claim(first)).answer, 400, "INVALID_LINK");
  setSystemTime(Date.now() + DAY);
  expectRefusal((await claim(second)).answer, 400, "INVALID_LINK");
  setSystemTime();
  expect((await claim(second)).answer.status).toBe(201);
});

test("no link is issued once there is an account, and an earlier link is invalid", async () => {
  const token = await link();
  await createClient(server.web).signUp({ email: "early@example.com" });
  expect(await link()).toBeUndefined();
  for (const email of ["early@example.com", "root@example.com"]) {
    const { client, answer } = await claim(token, email);
    expectRefusal(answer, 400, "INVALID_LINK");
    expect(client.cookie).toBe("");
  }
  expect(await accounts()).toBe(1);
});

test("the link is refused if an account is created in the same moment", async () => {
  const token = await link();
  const sql = `CREATE TRIGGER concurrent_sign_up AFTER DELETE ON auth_links BEGIN
    INSERT INTO users (id, email, name, referral_code, created_at, updated_at) VALUES ('x', 'x', 'x', 'x', 0, 0); END`;
  await server.kernel.database.write([{ sql, args: [] }]);
  expectRefusal((await claim(token)).answer, 400, "INVALID_LINK");
  expect(await accounts()).toBe(0);
});

test("the audit log records the creation by the admin", async () => {
  const { client, answer } = await claim(await link());
  const { id } = (answer.body as { user: { id: string } }).user;
  const { body } = await client.get<{ entries: object[] }>("/api/admin/audit?action=user.create");
  expect(body.entries).toEqual([
    expect.objectContaining({
      action: "user.create",
      actor: { kind: "user", id, name: "root@example.com" },
      target: { kind: "user", id, name: "root@example.com" },
      details: { name: "root@example.com", isAdmin: true, emailVerified: true, password: true },
    }),
  ]);
});

describe("invalid requests", () => {
  test.each(["x", "x".repeat(43), "' OR 1=1 --", "%", " "])("the token %j is refused", async (token) => {
    await link();
    expectRefusal((await claim(token)).answer, 400, "INVALID_LINK");
    expect(await accounts()).toBe(0);
  });

  test.each([
    [{ token: "" }, "token"],
    [{ token: 1 }, "token"],
    [{ token: undefined }, "token"],
    [{ email: "root" }, "email"],
    [{ password: "short" }, "password"],
    [{ password: "password" }, "password"],
    [{ name: "a\nb" }, "name"],
  ])("%j is refused and does not consume the link", async (wrong, path) => {
    const token = await link();
    const { issues } = expectRefusal((await claim(token, undefined, wrong)).answer, 400);
    expect(issues?.[0]?.path).toBe(path);
    expect((await claim(token)).answer.status).toBe(201);
  });

  test("internal addresses are refused, and fields that the caller may not set are ignored", async () => {
    const token = await link();
    expectRefusal((await claim(token, "0xabc@wallet.invalid")).answer, 400, "INVALID_EMAIL");
    const { client } = await claim(token, undefined, { plan: "enterprise", credits: 100, id: "me" });
    const { body } = await client.get<{ id: string }>("/api/settings");
    expect(body).toMatchObject({ plan: "free", credits: 0 });
    expect(body.id).not.toBe("me");
  });
});

test("the token is stored as a hash only, and not part of the page", async () => {
  const token = (await link()) ?? "";
  const { rows } = await server.kernel.database.read("SELECT * FROM auth_links");
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(token);
  const page = await fetch(`${server.web}/setup?token=${token}`);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.headers.get("referrer-policy")).toBe("no-referrer");
  expect(await page.text()).not.toContain(token);
});
