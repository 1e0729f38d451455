// Accounts over HTTP: sign-up, sign-in, sign-out, the current user, and admin rights by ADMIN_EMAILS.
import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { DAY } from "../../src/kernel/util/time.ts";
import { subscribe } from "../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { type ErrorBody, expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer({ env: { ADMIN_EMAILS: "root@example.com, boss@example.com, chief@example.com" } });
});
afterAll(() => server?.[Symbol.asyncDispose]());
afterEach(() => setSystemTime());

const client = () => createClient(server.web);
const register = (body: unknown) => client().post("/api/register", body);
const password = "correct horse battery";
let users = 0;
const newEmail = () => `user-${++users}@example.com`;

interface Settings {
  id: string;
  isAdmin: boolean;
  createdAt: string;
  referralCode: string;
}

describe("sign-up", () => {
  test("returns id, email and name, and starts no session", async () => {
    const email = newEmail();
    const answer = await register({ email: ` ${email.toUpperCase()}`, password, name: " Ada " });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), email, name: "Ada" });
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await register({ email: newEmail(), password })).body).toMatchObject({ name: `user-${users}@example.com` });
  });

  test("ignores fields that the caller may not set, and unknown fields", async () => {
    const ada = client();
    const wish = {
      id: "mine",
      plan: "enterprise",
      credits: 1_000,
      isAdmin: true,
      is_admin: 1,
      emailVerified: true,
      twoFactorEnabled: true,
      passwordHash: "x",
      referredBy: "friend",
      subscription: { plan: "pro", status: "active" },
      createdAt: "2020-01-01T00:00:00.000Z",
    };
    await ada.signUp({ ...wish, email: newEmail() });
    await ada.signIn(wish);
    const { body } = await ada.get<Settings>("/api/settings");
    expect(body).toMatchObject({
      plan: "free",
      credits: 0,
      isAdmin: false,
      emailVerified: false,
      twoFactorEnabled: false,
      subscription: null,
    });
    expect(body.id).not.toBe("mine");
    expect(Date.now() - Date.parse(body.createdAt)).toBeLessThan(60_000);
  });

  test.each([
    [{}, ["email", "password"]],
    [{ email: newEmail() }, ["password"]],
    [{ password }, ["email"]],
    [{ email: "", password }, ["email"]],
    [{ email: "ada@localhost", password }, ["email"]],
    [{ email: "0xabc@WALLET.invalid", password }, ["email"]],
    [{ email: `${"a".repeat(400)}@example.com`, password }, ["email"]],
    [{ email: ["ada@example.com"], password }, ["email"]],
    [{ email: newEmail(), password: "1234567" }, ["password"]],
    [{ email: newEmail(), password: "😀😀😀😀" }, ["password"]],
    [{ email: newEmail(), password: 12345678 }, ["password"]],
    [{ email: newEmail(), password: "x".repeat(1_025) }, ["password"]],
    [{ email: newEmail(), password, name: 1 }, ["name"]],
    [{ email: newEmail(), password, name: "x".repeat(201) }, ["name"]],
    [{ email: newEmail(), password, name: "Ada\r\nBcc: eve@example.com" }, ["name"]],
    [{ email: newEmail(), password, name: "Ada\u001b[31m" }, ["name"]],
    [{ email: newEmail(), password, name: "\u202eada" }, ["name"]],
    [{ email: newEmail(), password, name: "Ada\u2028" }, ["name"]],
  ])("refuses %j with 400 and the paths", async (body, paths) => {
    const answer = await register(body);
    const { issues } = expectRefusal(answer, 400);
    expect(issues?.map(({ path }) => path)).toEqual(paths);
    if ("password" in body) expect(answer.text).not.toContain(String(body.password));
  });

  test("accepts the shortest password and unusual names", async () => {
    expect((await register({ email: newEmail(), password: "12345670" })).status).toBe(201);
    expect((await register({ email: newEmail(), password: "ä ö ü ß ", name: "x".repeat(200) })).status).toBe(201);
    expect((await register({ email: newEmail(), password, name: "O'Hara-Łukasz 船 👩‍🚀" })).status).toBe(201);
  });

  test("concurrent requests for one address in several spellings create one account", async () => {
    const email = newEmail();
    const spellings = [email, email.toUpperCase(), ` ${email}`, `${email}\n`];
    const answers = await Promise.all(spellings.map((spelling) => register({ email: spelling, password })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) expectRefusal(answer, 409, "USER_EXISTS");
  });

  test("with an idempotency key happens once and its response is replayed; another body under the key is refused", async () => {
    const email = newEmail();
    const headers = { "idempotency-key": crypto.randomUUID() };
    const send = (body: object) => client().post("/api/register", body, { headers });
    const [one, two] = await Promise.all([send({ email, password }), send({ email, password })]);
    const three = await send({ email, password });
    expect([one.status, two.status, three.status]).toEqual([201, 201, 201]);
    expect(new Set([one.text, two.text, three.text]).size).toBe(1);
    expect(three.headers.get("idempotency-replayed")).toBe("true");
    expectRefusal(await send({ email, password: "another password" }), 409, "IDEMPOTENCY_MISMATCH");
    expectRefusal(await register({ email, password }), 409, "USER_EXISTS");
    const { rows } = await server.kernel.database.read("SELECT * FROM idempotency_keys");
    expect(JSON.stringify(rows)).not.toContain(password);
  });

  test("is limited to ten a minute per address, checked before the body is validated", async () => {
    await using strict = await openServer({ env: { RATE_LIMITS: "on" } });
    const statuses: number[] = [];
    for (let n = 0; n < 11; n++) {
      statuses.push((await createClient(strict.web).post("/api/register", { email: "x", password })).status);
    }
    expect(statuses).toEqual([...Array(10).fill(400), 429]);
  });
});

describe("sign-in", () => {
  test("returns the user and sets the cookie", async () => {
    const ada = client();
    const { id, email, name } = await ada.signUp();
    const answer = await ada.post("/api/auth/callback/credentials", { email, password });
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: { ok: true, user: { id, email, name } },
    });
    const [cookie, ...more] = answer.headers.getSetCookie();
    expect(more).toEqual([]);
    expect(cookie).toMatch(/^berth_session=[\w.-]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test.each([
    [{}, ["email", "password"]],
    [{ email: "ada@example.com" }, ["password"]],
    [{ email: "", password: "" }, ["email", "password"]],
    [{ email: 1, password }, ["email"]],
    [{ email: "ada@example.com", password: null }, ["password"]],
  ])("refuses the incomplete body %j with 400", async (body, paths) => {
    const { issues } = expectRefusal(await client().post("/api/auth/callback/credentials", body), 400);
    expect(issues?.map(({ path }) => path)).toEqual(paths);
  });

  test("never adopts a cookie of the request, and leaves the session of another user alone", async () => {
    const [ada, eve] = [client(), client()];
    await eve.join();
    await ada.signUp();
    const headers = { cookie: eve.cookie };
    const { email } = ada.account;
    const answer = await ada.post("/api/auth/callback/credentials", { email, password }, { headers });
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(cookie.split(";")[0]).not.toBe(eve.cookie);
    expect((await ada.get("/api/settings")).body).toMatchObject({ email });
    expect((await eve.get("/api/settings")).body).toMatchObject({ email: eve.account.email });
    const planted = "berth_session=planted-by-an-attacker";
    const again = await ada.post(
      "/api/auth/callback/credentials",
      { email, password },
      { headers: { cookie: planted } },
    );
    expect(again.headers.getSetCookie()[0]).not.toContain("planted");
    expectRefusal(await client().get("/api/settings", { headers: { cookie: planted } }), 401, "UNAUTHORIZED");
  });

  test("is refused from a page of another site", async () => {
    const ada = client();
    const { email } = await ada.signUp();
    const headers = { origin: "https://evil.example" };
    const answer = await ada.post("/api/auth/callback/credentials", { email, password }, { headers });
    expectRefusal(answer, 403, "FOREIGN_ORIGIN");
    expect(answer.headers.getSetCookie()).toEqual([]);
  });
});

describe("the session", () => {
  test("is readable by anyone, and null without a valid cookie", async () => {
    const ada = client();
    const id = await ada.join();
    const { status, body } = await ada.get<{ expires: string }>("/api/auth/session");
    const { email, name } = ada.account;
    expect({ status, body: body as object }).toEqual({
      status: 200,
      body: { user: { id, email, name }, expires: expect.any(String) },
    });
    expect(Date.parse(body.expires) - Date.now()).toBeWithin(29.9 * DAY, 30.1 * DAY);
    for (const cookie of [
      "",
      "berth_session=x",
      ada.cookie.slice(0, -1),
      ada.cookie.replace("berth", "__Host-berth"),
    ]) {
      const answer = await client().get("/api/auth/session", { headers: { cookie } });
      expect(answer).toMatchObject({ status: 200, body: { user: null, expires: null } });
    }
  });

  test("is extended while in use, by a cookie on any response", async () => {
    const ada = client();
    await ada.join();
    const before = ada.cookie;
    expect((await ada.get("/api/settings")).headers.getSetCookie()).toEqual([]);
    setSystemTime(Date.now() + 2 * DAY);
    expectRefusal(await ada.post("/api/agents/provision", {}), 400);
    expect(ada.cookie).not.toBe(before);
    setSystemTime(Date.now() + 29 * DAY);
    expect((await ada.get("/api/settings")).status).toBe(200);
  });

  test("ends with the account", async () => {
    const ada = client();
    const id = await ada.join();
    await server.kernel.database.write([{ sql: "DELETE FROM users WHERE id = ?", args: [id] }]);
    server.app.accounts.users.invalidate(id);
    expectRefusal(await ada.get("/api/settings"), 401, "UNAUTHORIZED");
    expect((await ada.get("/api/auth/session")).body).toEqual({ user: null, expires: null });
  });
});

describe("sign-out", () => {
  test("ends this session permanently, and deletes the cookie", async () => {
    const [first, second] = [client(), client()];
    await first.join();
    const { cookie } = first;
    const signIn = { email: first.account.email, password };
    await second.post("/api/auth/callback/credentials", signIn);
    const answer = await first.post("/api/auth/signout");
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: { ok: true } });
    expect(answer.headers.getSetCookie()).toEqual(["berth_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"]);
    expectRefusal(await client().get("/api/settings", { headers: { cookie } }), 401, "UNAUTHORIZED");
    expect((await second.get("/api/settings")).status).toBe(200);
  });

  test("succeeds without a session; the old cookie stays invalid, even if its renewal was due", async () => {
    expect((await client().post("/api/auth/signout")).body).toEqual({ ok: true });
    const ada = client();
    await ada.join();
    const { cookie } = ada;
    setSystemTime(Date.now() + 2 * DAY);
    const answer = await ada.post("/api/auth/signout");
    expect(answer.headers.getSetCookie()).toHaveLength(1);
    expect(answer.headers.getSetCookie()[0]).toContain("Max-Age=0");
    expect((await client().get("/api/auth/session", { headers: { cookie } })).body).toMatchObject({ user: null });
  });

  test("is refused from another site", async () => {
    const ada = client();
    await ada.join();
    for (const headers of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }] as Record<
      string,
      string
    >[]) {
      expectRefusal(await ada.post("/api/auth/signout", undefined, { headers }), 403, "FOREIGN_ORIGIN");
    }
    expect((await ada.get("/api/settings")).status).toBe(200);
  });
});

describe("the current user", () => {
  test("has exactly these fields, and nothing of the password", async () => {
    const ada = client();
    const id = await ada.join();
    const answer = await ada.get<Settings>("/api/settings");
    const { email, name } = ada.account;
    expect(answer.body as object).toEqual({
      id,
      email,
      name,
      plan: "free",
      credits: 0,
      twoFactorEnabled: false,
      hasPassword: true,
      emailVerified: false,
      isAdmin: false,
      referralCode: expect.stringMatching(/^[a-z0-9]{12}$/),
      frozen: null,
      subscription: null,
      notifications: { agent: true, billing: true, security: true, referral: true, system: true },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(answer.text).not.toMatch(/argon|hash/i);
  });

  test("shows a granted subscription at once, and its end", async () => {
    const ada = client();
    await ada.join();
    await subscribe(server, ada.account.email, "pro", 3);
    const now = Date.now();
    const subscription = { plan: "pro", status: "active", active: true };
    expect((await ada.get("/api/settings")).body).toMatchObject({ plan: "pro", subscription });
    setSystemTime(now + 3 * DAY + 1_000);
    expect((await ada.get("/api/settings")).body).toMatchObject({ subscription: { ...subscription, active: false } });
    expectRefusal(await ada.post("/api/agents/provision", { name: "Late" }), 402, "SUBSCRIPTION_REQUIRED");
  });

  test("is 401 without a valid credential", async () => {
    for (const headers of [
      {},
      { cookie: "berth_session=" },
      { authorization: "Bearer x" },
      { "x-user-id": "1" },
    ] as Record<string, string>[]) {
      expectRefusal(await client().get("/api/settings?userId=1", { headers }), 401, "UNAUTHORIZED");
    }
  });
});

describe("an address of ADMIN_EMAILS", () => {
  const isAdmin = async (caller: Client, headers: Record<string, string> = {}) =>
    (await caller.get<Settings>("/api/settings", { headers })).body.isAdmin;
  const proxied = { "x-forwarded-for": "127.0.0.1" };

  test("counts unverified only while sign-in and request both come directly from this machine", async () => {
    const root = client();
    await root.join({ email: "root@example.com" });
    expect(await isAdmin(root)).toBe(true);
    expect(await isAdmin(root, proxied)).toBe(false);
    expect(await isAdmin(root, { via: "1.1 x" })).toBe(false);
    expect(await isAdmin(root)).toBe(true);
    const remote = client();
    const { email } = root.account;
    await remote.post("/api/auth/callback/credentials", { email, password }, { headers: proxied });
    expect(await isAdmin(remote)).toBe(false);
  });

  test("counts from anywhere once it is verified", async () => {
    const boss = client();
    const id = await boss.join({ email: "boss@example.com" });
    await server.kernel.database.write([{ sql: "UPDATE users SET email_verified = 1 WHERE id = ?", args: [id] }]);
    server.app.accounts.users.invalidate(id);
    expect(await isAdmin(boss, proxied)).toBe(true);
  });

  test("must match as a whole", async () => {
    const other = client();
    await other.join({ email: "xroot@example.com" });
    expect(await isAdmin(other)).toBe(false);
  });

  test("never counts unverified if BASE_URL is public, not even from this machine", async () => {
    const env = { ADMIN_EMAILS: "chief@example.com", BASE_URL: "http://berth.example" };
    await using open = await openServer({ env });
    const chief = createClient(open.web);
    await chief.join({ email: "chief@example.com" });
    expect(await isAdmin(chief)).toBe(false);
  });

  test("does not count unverified behind a trusted proxy", async () => {
    const env = { ADMIN_EMAILS: "chief@example.com", TRUSTED_PROXIES: "127.0.0.1" };
    await using behind = await openServer({ env });
    const chief = createClient(behind.web);
    await chief.signUp({ email: "chief@example.com" });
    const { email } = chief.account;
    await chief.post("/api/auth/callback/credentials", { email, password }, { headers: proxied });
    expect(await isAdmin(chief)).toBe(false);
  });
});

test("signed-in users can read while the disk is full", async () => {
  await using own = await openServer();
  const ada = createClient(own.web);
  await ada.join();
  await own.kernel.database.write([
    { sql: "CREATE TRIGGER full BEFORE UPDATE ON auth_sessions BEGIN SELECT raise(ABORT, 'disk full'); END", args: [] },
  ]);
  setSystemTime(Date.now() + 2 * DAY);
  expect((await ada.get("/api/settings")).status).toBe(200);
});

test("every account route returns errors in the common shape", async () => {
  for (const path of ["/api/register", "/api/auth/callback/credentials", "/api/auth/first-admin"]) {
    const body = expectRefusal(await client().post<ErrorBody>(path, []), 400, "INVALID_INPUT");
    expect(body.issues?.length).toBeGreaterThan(0);
    expectRefusal(await client().get(path), 404, "NOT_FOUND");
  }
});
