// The first admin's link: one account, once, for whoever reads the terminal.
import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { createClient } from "../../../tests/support/client.ts";
import { type House, openHouse } from "../../../tests/support/house.ts";
import { expectRefusal } from "../../../tests/support/scene.ts";

const DAY = 86_400_000;
let house: House;
beforeEach(async () => {
  house = await openHouse();
});
afterEach(async () => {
  setSystemTime();
  await house?.[Symbol.asyncDispose]();
});

const link = async () => {
  const text = await house.app.accounts.createFirstAdminLink();
  return text === undefined ? undefined : (new URL(text).searchParams.get("token") ?? "");
};
const claim = async (token: unknown, email = "root@example.com", more: object = {}) => {
  const client = createClient(house.web);
  const body = { token, email, password: "correct horse battery", ...more };
  return { client, answer: await client.post("/api/auth/first-admin", body) };
};
const accounts = async () => (await house.kernel.database.read("SELECT email, is_admin FROM users")).rows.length;

test("makes an admin who is signed in and verified", async () => {
  const token = await link();
  expect(token).toMatch(/^[\w-]{43}$/);
  const { client, answer } = await claim(token, " Root@Example.com ", { name: "Root" });
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({ ok: true, user: { id: expect.any(String), email: "root@example.com", name: "Root" } });
  expect((await client.get("/api/settings")).body).toMatchObject({ isAdmin: true, emailVerified: true, plan: "free" });
  // From afar as well: it is the account's own right.
  const headers = { "x-forwarded-for": "203.0.113.7" };
  expect((await client.get("/api/settings", { headers })).body).toMatchObject({ isAdmin: true });
});

test("works once, and twenty at once make one account", async () => {
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

test("an older link dies with the next, an old one after a day", async () => {
  const [first, second] = [await link(), await link()];
  expect(first).not.toBe(second);
  expectRefusal((await claim(first)).answer, 400, "INVALID_LINK");
  setSystemTime(Date.now() + DAY);
  expectRefusal((await claim(second)).answer, 400, "INVALID_LINK");
  setSystemTime();
  expect((await claim(second)).answer.status).toBe(201);
});

test("there is none once there is an account, and one given out before is good for nothing", async () => {
  const token = await link();
  await createClient(house.web).signUp({ email: "early@example.com" });
  expect(await link()).toBeUndefined();
  for (const email of ["early@example.com", "root@example.com"]) {
    const { client, answer } = await claim(token, email);
    expectRefusal(answer, 400, "INVALID_LINK");
    expect(client.cookie).toBe("");
  }
  expect(await accounts()).toBe(1);
});

test("not even together with somebody who signs up at the same moment", async () => {
  const token = await link();
  const sql = `CREATE TRIGGER faster AFTER DELETE ON auth_links BEGIN
    INSERT INTO users (id, email, name, referral_code, created_at, updated_at) VALUES ('x', 'x', 'x', 'x', 0, 0); END`;
  await house.kernel.database.write([{ sql, args: [] }]);
  expectRefusal((await claim(token)).answer, 400, "INVALID_LINK");
  expect(await accounts()).toBe(0);
});

test("is written down as the admin's own first act", async () => {
  const { client, answer } = await claim(await link());
  const { id } = (answer.body as { user: { id: string } }).user;
  const { body } = await client.get<{ entries: object[] }>("/api/admin/audit");
  expect(body.entries).toEqual([
    expect.objectContaining({
      action: "user.create",
      actor: { kind: "user", id, name: "root@example.com" },
      target: { kind: "user", id, name: "root@example.com" },
      details: { name: "root@example.com", isAdmin: true, emailVerified: true, password: true },
    }),
  ]);
});

describe("what is not the link's", () => {
  test.each(["x", "x".repeat(43), "' OR 1=1 --", "%", " "])("the token %j", async (token) => {
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
    [{ name: "a\nb" }, "name"],
  ])("%j does not use it up", async (wrong, path) => {
    const token = await link();
    const { issues } = expectRefusal((await claim(token, undefined, wrong)).answer, 400);
    expect(issues?.[0]?.path).toBe(path);
    expect((await claim(token)).answer.status).toBe(201);
  });

  test("a wallet's address, or rights that are asked for", async () => {
    const token = await link();
    expectRefusal((await claim(token, "0xabc@wallet.invalid")).answer, 400, "INVALID_EMAIL");
    const { client } = await claim(token, undefined, { plan: "enterprise", credits: 100, id: "me" });
    const { body } = await client.get<{ id: string }>("/api/settings");
    expect(body).toMatchObject({ plan: "free", credits: 0 });
    expect(body.id).not.toBe("me");
  });
});

test("the token is nowhere on disk in clear, and the page does not hold it", async () => {
  const token = (await link()) ?? "";
  const { rows } = await house.kernel.database.read("SELECT * FROM auth_links");
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(token);
  const page = await fetch(`${house.web}/setup?token=${token}`);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.headers.get("referrer-policy")).toBe("no-referrer");
  expect(await page.text()).not.toContain(token);
});
