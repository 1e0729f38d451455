// Settings over HTTP: name, address, notifications and password, and fields that users may not set.
import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { verifyEmail } from "../../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { queuedMailsTo } from "../../../tests/support/queued-mail.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";

const password = "correct horse battery";
let server: TestServer;
beforeAll(async () => {
  server = await openServer({ env: { ADMIN_EMAILS: "root@example.com" } });
});
afterAll(() => server?.[Symbol.asyncDispose]());
afterEach(() => setSystemTime());

let emails = 0;
const newEmail = () => `settings-${++emails}@example.com`;
async function joined(account: { email?: string } = {}) {
  const client = createClient(server.web);
  const id = await client.join(account);
  return { client, id, email: client.account.email };
}
const settings = async (client: Client) => (await client.get<object>("/api/settings")).body;
const subjects = async (email: string) => (await queuedMailsTo(server, email)).map(({ subject }) => subject);
const updates = (userId: string) => server.kernel.events.since(0, { userId, types: ["user.updated"] });
const write = (sql: string, ...args: string[]) => server.kernel.database.write([{ sql, args }]);

/** Removes the password, as if the account was created with Google or a wallet. */
async function withoutPassword(userId: string): Promise<void> {
  await write("UPDATE users SET password_hash = NULL WHERE id = ?", userId);
  server.app.accounts.users.invalidate(userId);
}

async function keyOf(client: Client): Promise<Record<string, string>> {
  const { body } = await client.post<{ key: string }>("/api/keys", { name: "script" });
  return { authorization: `Bearer ${body.key}` };
}

describe("name and notifications", () => {
  test.each(["POST", "PATCH"])("%s changes the name, and returns the same settings as GET", async (method) => {
    const { client, id, email } = await joined();
    const answer = await client.fetch(method, "/api/settings", { name: " Ada\u0301 King " });
    const body: Record<string, unknown> = JSON.parse(await answer.text());
    expect(answer.status).toBe(200);
    expect(body).toMatchObject({ id, email, name: "Adá King", plan: "free" });
    expect(await settings(client)).toEqual(body);
    const [event, ...more] = await updates(id);
    expect(more).toEqual([]);
    expect(event?.data).toEqual({ id, email, name: "Adá King", plan: "free", createdAt: body.createdAt });
  });

  test("an empty name becomes the email address; unchanged values write nothing", async () => {
    const { client, id, email } = await joined();
    expect((await client.patch("/api/settings", { name: " " })).body).toMatchObject({ name: email });
    for (const body of [undefined, {}, { name: email }, { email: ` ${email.toUpperCase()} ` }]) {
      expect((await client.post("/api/settings", body)).status).toBe(200);
    }
    expect((await client.patch("/api/settings", { notifications: {} })).status).toBe(200);
    expect(await updates(id)).toHaveLength(1);
    expect(await subjects(email)).toHaveLength(1);
  });

  test("all notifications are on by default; omitted ones stay unchanged", async () => {
    const { client, id } = await joined();
    const all = { agent: true, billing: true, security: true, referral: true, system: true };
    expect(await settings(client)).toMatchObject({ notifications: all });
    await client.patch("/api/settings", { notifications: { billing: false } });
    const { body } = await client.patch("/api/settings", { notifications: { agent: false, system: true } });
    expect(body).toMatchObject({ notifications: { ...all, billing: false, agent: false } });
    const turned = ["security", "referral", "system"].map((key) =>
      client.patch("/api/settings", { notifications: { [key]: false } }),
    );
    await Promise.all(turned);
    const none = { agent: false, billing: false, security: false, referral: false, system: false };
    expect(await settings(client)).toMatchObject({ notifications: none });
    expect(await updates(id)).toHaveLength(5);
  });

  test.each<[unknown, string]>([
    [{ agent: true, marketing: true }, "notifications.marketing"],
    [{ toString: false }, "notifications.toString"],
    [{ agent: "yes" }, "notifications.agent"],
    [{ agent: null }, "notifications.agent"],
    [[true], "notifications"],
    [1, "notifications"],
    ["", "notifications"],
    ["agent", "notifications"],
    [null, "notifications"],
  ])("notifications %j are refused with the path, and change nothing", async (notifications, path) => {
    const { client, id } = await joined();
    const { issues } = expectRefusal(await client.patch("/api/settings", { notifications, name: "No" }), 400);
    expect(issues?.[0]?.path).toStartWith(path);
    expect(await settings(client)).toMatchObject({ name: "Ada" });
    expect(await updates(id)).toEqual([]);
  });

  test.each([1, "x".repeat(201), "Ada\r\nBcc: eve@example.com", "\u202eada"])("the name %j is 400", async (name) => {
    const { client } = await joined();
    for (const method of ["post", "patch"] as const) {
      const { issues } = expectRefusal(await client[method]("/api/settings", { name }), 400);
      expect(issues?.[0]?.path).toBe("name");
    }
  });
});

describe("a new address", () => {
  test("is unverified; the old one gets a notice, the new one a link, and nothing else changes", async () => {
    const { client, id, email: old } = await joined();
    await write("UPDATE users SET email_verified = 1 WHERE id = ?", id);
    server.app.accounts.users.invalidate(id);
    const email = newEmail();
    const { status, body } = await client.post("/api/settings", { email: ` ${email.toUpperCase()}` });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, email, name: "Ada", emailVerified: false });
    expect(await settings(client)).toEqual(body as object);
    expect((await updates(id)).map(({ data }) => data)).toEqual([expect.objectContaining({ email })]);
    const notice = (await queuedMailsTo(server, old)).at(-1);
    expect(notice?.text).toContain(email);
    expect(notice?.text).not.toContain("token=");
    const [verify, ...more] = await queuedMailsTo(server, email);
    expect(more).toEqual([]);
    const token = /\/verify-email\?token=([\w-]{43})/.exec(verify?.text ?? "")?.[1];
    expect((await client.post("/api/auth/verify-email", { token })).status).toBe(200);
    expect(await settings(client)).toMatchObject({ email, emailVerified: true });
    const signIn = (address: string) =>
      createClient(server.web).post("/api/auth/callback/credentials", { email: address, password });
    expect((await signIn(email)).status).toBe(200);
    expectRefusal(await signIn(old), 401, "BAD_CREDENTIALS");
  });

  test("ends the links sent to the old one", async () => {
    const { client, id, email } = await joined();
    const links = async () =>
      (await server.kernel.database.read("SELECT kind, email FROM auth_links WHERE user_id = ?", [id])).rows;
    await client.post("/api/auth/forgot-password", { email });
    const newAddress = newEmail();
    await client.post("/api/settings", { email: newAddress });
    expect((await links()).map(({ kind, email }) => [kind, email])).toEqual([["verify-email", newAddress]]);
    const old = (await queuedMailsTo(server, email)).map(({ text }) => /token=([\w-]{43})/.exec(text)?.[1]);
    for (const token of old) {
      if (!token) continue;
      expectRefusal(await client.post("/api/auth/verify-email", { token }), 400, "INVALID_LINK");
      const reset = await client.post("/api/auth/reset-password", { token, password: "another password" });
      expect(reset.status).toBe(400);
    }
  });

  test("replaces the name if that was the old address", async () => {
    const email = newEmail();
    const client = createClient(server.web);
    await client.join({ email, name: "" });
    const newAddress = newEmail();
    const { body } = await client.post("/api/settings", { email: newAddress });
    expect(body).toMatchObject({ email: newAddress, name: newAddress });
  });

  test.each([
    "",
    "ada",
    "ada@localhost",
    "ada@ex ample.com",
    "0xabc@wallet.invalid",
    `${"a".repeat(400)}@example.com`,
    7,
  ])("%j is refused with 400", async (email) => {
    const { client, id } = await joined();
    const { issues } = expectRefusal(await client.post("/api/settings", { email, name: "No" }), 400);
    expect(issues?.[0]?.path).toBe("email");
    expect(await updates(id)).toEqual([]);
  });

  test("of another account is 409 in any spelling; of two concurrent changes to one address one succeeds", async () => {
    const [ada, eve] = [await joined(), await joined()];
    const taken = await ada.client.post("/api/settings", { email: ` ${eve.email.toUpperCase()}`, name: "No" });
    expectRefusal(taken, 409, "EMAIL_IN_USE");
    expect(await settings(ada.client)).toMatchObject({ email: ada.email, name: "Ada" });
    expect(await subjects(ada.email)).toHaveLength(1);
    const email = newEmail();
    const answers = await Promise.all([ada, eve].map(({ client }) => client.post("/api/settings", { email })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await queuedMailsTo(server, email)).toHaveLength(1);
    const now = await Promise.all([ada, eve].map(({ client }) => settings(client)));
    expect(now.filter((user) => "email" in user && user.email === email)).toHaveLength(1);
  });

  test("can't be set with an API key, unlike the name", async () => {
    const { client, email } = await joined();
    const headers = await keyOf(client);
    const script = createClient(server.web);
    expectRefusal(await script.post("/api/settings", { email: newEmail() }, { headers }), 403, "SESSION_REQUIRED");
    expect((await script.post("/api/settings", { name: "Script" }, { headers })).body).toMatchObject({ email });
    expect(await settings(client)).toMatchObject({ email, name: "Script" });
  });

  describe("can't be set with a stolen session", () => {
    const move = (client: Client, more: object = {}) =>
      client.post("/api/settings", { email: newEmail(), name: "Mine", ...more });
    const later = () => setSystemTime(Date.now() + 10 * MINUTE + 1_000);

    test("older than ten minutes: requires the password or a new sign-in", async () => {
      const { client, id, email } = await joined();
      later();
      expectRefusal(await move(client), 403, "RECENT_SIGN_IN_REQUIRED");
      expectRefusal(await move(client, { currentPassword: "" }), 403, "RECENT_SIGN_IN_REQUIRED");
      expectRefusal(await move(client, { currentPassword: "guess" }), 401, "BAD_CREDENTIALS");
      expect(await settings(client)).toMatchObject({ email, name: "Ada" });
      expect(await updates(id)).toEqual([]);
      // The same address is not a change, and a name needs no confirmation.
      expect((await client.post("/api/settings", { email: ` ${email.toUpperCase()}`, name: "Ada K" })).status).toBe(
        200,
      );
      const moved = await move(client, { currentPassword: password });
      expect(moved.status).toBe(200);
      await client.signIn({ email: (moved.body as { email: string }).email });
      expect((await move(client)).status).toBe(200);
    });

    test("of an account without a password: requires a new sign-in", async () => {
      const { client, id } = await joined();
      await withoutPassword(id);
      later();
      expectRefusal(await move(client, { currentPassword: password }), 403, "RECENT_SIGN_IN_REQUIRED");
      setSystemTime();
      expect((await move(client)).status).toBe(200);
    });

    test("of an account with two-factor: also requires a code, which the change consumes", async () => {
      const { client, email } = await joined();
      const { body } = await client.post<{ secret: string; recoveryCodes: string[] }>("/api/settings/2fa", {
        password,
      });
      const code = new TOTP({ secret: Secret.fromBase32(body.secret) }).generate();
      expect((await client.post("/api/settings/2fa/confirm", { code })).status).toBe(200);
      const [first, second] = body.recoveryCodes;
      expectRefusal(await move(client), 401, "TOTP_REQUIRED");
      expectRefusal(await move(client, { currentPassword: password }), 401, "TOTP_REQUIRED");
      expectRefusal(await move(client, { totp: code }), 401, "INVALID_TOTP");
      expectRefusal(await move(client, { totp: "0000-0000-0000-0000" }), 401, "INVALID_TOTP");
      expect(await settings(client)).toMatchObject({ email, name: "Ada", twoFactorEnabled: true });
      // A refused address does not consume the code.
      const { email: taken } = await joined();
      expectRefusal(await move(client, { email: taken, totp: first }), 409, "EMAIL_IN_USE");
      expect((await move(client, { totp: first })).status).toBe(200);
      expectRefusal(await move(client, { totp: first }), 401, "INVALID_TOTP");
      expect((await move(client, { totp: second })).status).toBe(200);
      expect((await client.patch("/api/settings", { name: "Ada K" })).status).toBe(200);
    });
  });

  test("ends the rights by ADMIN_EMAILS, and gives none before it is verified", async () => {
    const headers = { "x-forwarded-for": "203.0.113.9" };
    const { client, id } = await joined({ email: "root@example.com" });
    await write("UPDATE users SET email_verified = 1 WHERE id = ?", id);
    server.app.accounts.users.invalidate(id);
    expect(await settings(client)).toMatchObject({ isAdmin: true });
    const { body } = await client.post("/api/settings", { email: newEmail() }, { headers });
    expect(body).toMatchObject({ isAdmin: false });
    const back = await client.post("/api/settings", { email: "root@example.com" }, { headers });
    expect(back.body).toMatchObject({ isAdmin: false, emailVerified: false });
    expect((await client.get("/api/settings", { headers })).body).toMatchObject({ isAdmin: false });
  });

  test("is rate-limited, so that it can't be used to send mails to strangers", async () => {
    await using strict = await openServer({ env: { RATE_LIMITS: "on" } });
    const client = createClient(strict.web);
    await client.join();
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) statuses.push((await client.post("/api/settings", { email: newEmail() })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect((await client.patch("/api/settings", { name: "Still" })).status).toBe(200);
  });
});

describe("an API key", () => {
  const keyWith = async (client: Client, ...scopes: string[]) => {
    const { body } = await client.post<{ key: string }>("/api/keys", { name: "script", scopes });
    return { headers: { authorization: `Bearer ${body.key}` } };
  };
  const send = (method: "post" | "patch", body: object, options: object) =>
    createClient(server.web)[method]("/api/settings", body, options);

  test("needs both scopes to change the name, since the response contains all settings", async () => {
    const { client } = await joined();
    const both = await keyWith(client, "read", "write");
    for (const scope of ["read", "write", "chat"]) {
      const options = await keyWith(client, scope);
      for (const method of ["post", "patch"] as const) {
        for (const body of [{ name: "Eve" }, { name: 7 }]) {
          const answer = await send(method, body, options);
          expectRefusal(answer, 403, "MISSING_SCOPE");
          expect(answer.text).not.toContain(client.account.email);
        }
      }
    }
    expect(await settings(client)).toMatchObject({ name: "Ada" });
    for (const method of ["post", "patch"] as const) {
      expect((await send(method, { name: "Script" }, both)).body).toMatchObject({ name: "Script" });
    }
  });

  test("can't turn off security mails", async () => {
    const { client, id } = await joined();
    const options = await keyWith(client, "read", "write");
    for (const security of [false, true]) {
      const answer = await send("patch", { name: "Eve", notifications: { security, agent: false } }, options);
      expectRefusal(answer, 403, "SESSION_REQUIRED");
    }
    expect(await updates(id)).toEqual([]);
    expect((await send("patch", { notifications: { agent: false } }, options)).body).toMatchObject({
      notifications: { agent: false, security: true },
    });
    const { body } = await client.patch("/api/settings", { notifications: { security: false } });
    expect(body).toMatchObject({ notifications: { security: false } });
  });
});

describe("fields that users may not set", () => {
  const wish = {
    id: "mine",
    userId: "another",
    plan: "enterprise",
    credits: 1_000,
    isAdmin: true,
    is_admin: 1,
    emailVerified: true,
    email_verified: 1,
    passwordHash: "x",
    twoFactorEnabled: true,
    referralCode: "mine",
    subscription: { plan: "pro", status: "active" },
    createdAt: "2020-01-01T00:00:00.000Z",
  };

  test("are ignored in every body", async () => {
    const { client } = await joined();
    const before = await settings(client);
    const withoutWarnings = ({ body }: { body: unknown }): object => Object.assign({}, body, { warnings: undefined });
    expect(withoutWarnings(await client.post("/api/settings", wish))).toEqual(before);
    expect(withoutWarnings(await client.patch("/api/settings", { ...wish, email: newEmail() }))).toEqual(before);
    const named = await client.post("/api/settings", { ...wish, name: "Ada K", notifications: { agent: false } });
    expect(withoutWarnings(named)).toEqual({ ...before, name: "Ada K" });
    const change = { ...wish, currentPassword: password, newPassword: "another password" };
    expect((await client.post("/api/settings/password", change)).status).toBe(200);
    expect(await settings(client)).toEqual({ ...before, name: "Ada K" });
  });

  test("without a credential every body is refused with 401", async () => {
    const client = createClient(server.web);
    for (const [method, path] of [
      ["POST", "/api/settings"],
      ["PATCH", "/api/settings"],
      ["DELETE", "/api/settings"],
      ["POST", "/api/settings/password"],
    ] as const) {
      for (const body of [undefined, { email: 1 }, { ...wish, pad: "x".repeat(2 * 1024 * 1024) }]) {
        expect((await client.fetch(method, path, body)).status).toBe(401);
      }
    }
  });
});

describe("the password", () => {
  const change = (client: Client, body: object, headers = {}) =>
    client.post<{ success: boolean; message: string }>("/api/settings/password", body, { headers });
  const signIn = (email: string, secret: string) =>
    createClient(server.web).post("/api/auth/callback/credentials", { email, password: secret });
  const good = { currentPassword: password, newPassword: "another password" };

  test("change: sets a new cookie, ends all sessions, and mails the owner", async () => {
    const { client, id, email } = await joined();
    await verifyEmail(server, email);
    const other = createClient(server.web);
    const { headers } = await signIn(email, password);
    const cookie = headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const old = client.cookie;
    const ended: string[] = [];
    server.app.accounts.onSessionRevoked((sessionId) => ended.push(sessionId));
    const answer = await change(client, good);
    expect(answer.body).toEqual({ success: true, message: expect.any(String) });
    expect(answer.headers.getSetCookie()).toHaveLength(1);
    expect(client.cookie).not.toBe(old);
    expect(await settings(client)).toMatchObject({ id });
    for (const ended of [old, cookie]) {
      expectRefusal(await other.get("/api/settings", { headers: { cookie: ended } }), 401, "UNAUTHORIZED");
    }
    expect(ended).toHaveLength(2);
    expectRefusal(await signIn(email, password), 401, "BAD_CREDENTIALS");
    expect((await signIn(email, good.newPassword)).status).toBe(200);
    expect(await queuedMailsTo(server, email)).toHaveLength(2);
    const { rows } = await server.kernel.database.read("SELECT * FROM users WHERE id = ?", [id]);
    expect(JSON.stringify(rows)).not.toContain(good.newPassword);
    expect(String(rows[0]?.password_hash)).toStartWith("$argon2id$");
  });

  test("change: sends no mail if security mails are off", async () => {
    const { client, email } = await joined();
    await verifyEmail(server, email);
    await client.patch("/api/settings", { notifications: { security: false } });
    await change(client, good);
    expect(await queuedMailsTo(server, email)).toHaveLength(1);
  });

  test.each([
    [{}, "newPassword"],
    [{ currentPassword: password }, "newPassword"],
    [{ currentPassword: "wrong", newPassword: "1234567" }, "newPassword"],
    [{ currentPassword: "wrong", newPassword: "😀😀😀😀" }, "newPassword"],
    [{ currentPassword: "wrong", newPassword: "x".repeat(1_025) }, "newPassword"],
    [{ currentPassword: password, newPassword: 12345678 }, "newPassword"],
    [{ currentPassword: password, newPassword: "Password" }, "newPassword"],
    [{ currentPassword: 7, newPassword: "another password" }, "currentPassword"],
    [{ newPassword: "another password" }, "currentPassword"],
    [{ currentPassword: "", newPassword: "another password" }, "currentPassword"],
  ])("change: refuses %j with 400 and the path", async (body, path) => {
    const { client, email } = await joined();
    const answer = await change(client, body);
    expect(expectRefusal(answer, 400).issues?.[0]?.path).toBe(path);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await signIn(email, password)).status).toBe(200);
  });

  test("change: a wrong current password is 401, ends no session, and is rate-limited", async () => {
    await using strict = await openServer({ env: { RATE_LIMITS: "on" } });
    const client = createClient(strict.web);
    await client.join();
    const { cookie } = client;
    for (let n = 0; n < 10; n++) {
      const wrong = await change(client, { ...good, currentPassword: `guess ${n}` });
      expectRefusal(wrong, 401, "BAD_CREDENTIALS");
    }
    expectRefusal(await change(client, good), 429, "RATE_LIMITED");
    expect(client.cookie).toBe(cookie);
    expect((await client.get("/api/settings")).status).toBe(200);
  });

  test("change: ends reset links", async () => {
    const { client, id, email } = await joined();
    await client.post("/api/auth/forgot-password", { email });
    await change(client, good);
    const { rows } = await server.kernel.database.read(
      "SELECT 1 FROM auth_links WHERE user_id = ? AND kind = 'reset-password'",
      [id],
    );
    expect(rows).toEqual([]);
  });

  test("change: of two concurrent requests one succeeds, and the other changes nothing", async () => {
    const { client, email } = await joined();
    const headers = { cookie: client.cookie };
    const newPasswords = ["first new password", "second new password"];
    const answers = await Promise.all(
      newPasswords.map((newPassword) => change(client, { ...good, newPassword }, headers)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    const signIns = await Promise.all(newPasswords.map((secret) => signIn(email, secret)));
    expect(signIns.map(({ status }) => status)).toEqual(answers.map(({ status }) => status));
  });

  test("change: no session from a concurrent sign-in with the old password survives", async () => {
    const { client, email } = await joined();
    let isChanged = false;
    const answers: Awaited<ReturnType<typeof signIn>>[] = [];
    const racer = async () => {
      while (!isChanged) answers.push(await signIn(email, password));
    };
    // The last sign-in reads the old hash before the new one is stored, and verifies against it afterwards.
    const racing = Promise.all([racer(), racer(), racer()]);
    expect((await change(client, good)).status).toBe(200);
    isChanged = true;
    await racing;
    for (const answer of answers) {
      const cookie = answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
      if (answer.status !== 200) expectRefusal(answer, 401, "BAD_CREDENTIALS");
      const current = await createClient(server.web).get("/api/auth/session", { headers: { cookie } });
      expect(current.body).toMatchObject({ user: null });
    }
    expect((await client.get("/api/settings")).status).toBe(200);
  });

  test("change: an account without one sets its first in a session younger than ten minutes only", async () => {
    const { client, id, email } = await joined();
    await withoutPassword(id);
    const first = { newPassword: "my first password" };
    setSystemTime(Date.now() + 10 * MINUTE + 1_000);
    expectRefusal(await change(client, first), 403, "RECENT_SIGN_IN_REQUIRED");
    expectRefusal(await change(client, { ...first, currentPassword: "guess" }), 403, "RECENT_SIGN_IN_REQUIRED");
    setSystemTime();
    expect((await change(client, first)).status).toBe(200);
    expect((await signIn(email, first.newPassword)).status).toBe(200);
    const needed = await change(client, { newPassword: "my second password" });
    expect(expectRefusal(needed, 400).issues?.[0]?.path).toBe("currentPassword");
  });

  test("change: is refused with an API key", async () => {
    const { client, email } = await joined();
    const headers = await keyOf(client);
    expectRefusal(await change(createClient(server.web), good, headers), 403, "SESSION_REQUIRED");
    expect((await signIn(email, password)).status).toBe(200);
  });

  test("change: is refused from a page of another site", async () => {
    const { client } = await joined();
    expectRefusal(await change(client, good, { origin: "https://evil.example" }), 403, "FOREIGN_ORIGIN");
  });
});
