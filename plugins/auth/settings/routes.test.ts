// Settings over HTTP: name, address, notifications and password, and what is not a user's to say.
import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { verify } from "../../../tests/support/favours.ts";
import { type House, openHouse } from "../../../tests/support/house.ts";
import { lettersTo } from "../../../tests/support/letters.ts";
import { expectRefusal } from "../../../tests/support/scene.ts";

const MINUTE = 60_000;
const password = "correct horse battery";
let house: House;
beforeAll(async () => {
  house = await openHouse({ env: { ADMIN_EMAILS: "root@example.com" } });
});
afterAll(() => house?.[Symbol.asyncDispose]());
afterEach(() => setSystemTime());

let made = 0;
const fresh = () => `settings-${++made}@example.com`;
async function joined(account: { email?: string } = {}) {
  const client = createClient(house.web);
  const id = await client.join(account);
  return { client, id, email: client.account.email };
}
const settings = async (client: Client) => (await client.get<object>("/api/settings")).body;
const subjects = async (email: string) => (await lettersTo(house, email)).map(({ subject }) => subject);
const updates = (userId: string) => house.kernel.events.since(0, { userId, types: ["user.updated"] });
const write = (sql: string, ...args: string[]) => house.kernel.database.write([{ sql, args }]);

/** As after signing up with Google or a wallet. */
async function withoutPassword(userId: string): Promise<void> {
  await write("UPDATE users SET password_hash = NULL WHERE id = ?", userId);
  house.app.accounts.users.invalidate(userId);
}

async function keyOf(client: Client): Promise<Record<string, string>> {
  const { body } = await client.post<{ key: string }>("/api/keys", { name: "script" });
  return { authorization: `Bearer ${body.key}` };
}

describe("name and notifications", () => {
  test.each(["POST", "PATCH"])("%s changes the name, and answers what GET says from now on", async (method) => {
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

  test("an empty name is the email, as at sign-up; nothing given or the same again changes nothing", async () => {
    const { client, id, email } = await joined();
    expect((await client.patch("/api/settings", { name: " " })).body).toMatchObject({ name: email });
    for (const body of [undefined, {}, { name: email }, { email: ` ${email.toUpperCase()} ` }]) {
      expect((await client.post("/api/settings", body)).status).toBe(200);
    }
    expect((await client.patch("/api/settings", { notifications: {} })).status).toBe(200);
    expect(await updates(id)).toHaveLength(1);
    expect(await subjects(email)).toHaveLength(1);
  });

  test("all five are on until one is turned off; those not named stay", async () => {
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
  ])("%j is refused by name, and changes nothing", async (notifications, path) => {
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
  test("starts unverified; the old one is told, the new one gets its link, and nothing else changes", async () => {
    const { client, id, email: old } = await joined();
    await write("UPDATE users SET email_verified = 1 WHERE id = ?", id);
    house.app.accounts.users.invalidate(id);
    const email = fresh();
    const { status, body } = await client.post("/api/settings", { email: ` ${email.toUpperCase()}` });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, email, name: "Ada", emailVerified: false });
    expect(await settings(client)).toEqual(body as object);
    expect((await updates(id)).map(({ data }) => data)).toEqual([expect.objectContaining({ email })]);
    const told = (await lettersTo(house, old)).at(-1);
    expect(told?.text).toContain(email);
    expect(told?.text).not.toContain("token=");
    const [verify, ...more] = await lettersTo(house, email);
    expect(more).toEqual([]);
    const token = /\/verify-email\?token=([\w-]{43})/.exec(verify?.text ?? "")?.[1];
    expect((await client.post("/api/auth/verify-email", { token })).status).toBe(200);
    expect(await settings(client)).toMatchObject({ email, emailVerified: true });
    const signIn = (address: string) =>
      createClient(house.web).post("/api/auth/callback/credentials", { email: address, password });
    expect((await signIn(email)).status).toBe(200);
    expectRefusal(await signIn(old), 401, "BAD_CREDENTIALS");
  });

  test("ends the links that were on their way to the old one", async () => {
    const { client, id, email } = await joined();
    const links = async () =>
      (await house.kernel.database.read("SELECT kind, email FROM auth_links WHERE user_id = ?", [id])).rows;
    await client.post("/api/auth/forgot-password", { email });
    const now = fresh();
    await client.post("/api/settings", { email: now });
    expect((await links()).map(({ kind, email }) => [kind, email])).toEqual([["verify-email", now]]);
    const old = (await lettersTo(house, email)).map(({ text }) => /token=([\w-]{43})/.exec(text)?.[1]);
    for (const token of old) {
      if (!token) continue;
      expectRefusal(await client.post("/api/auth/verify-email", { token }), 400, "INVALID_LINK");
      const reset = await client.post("/api/auth/reset-password", { token, password: "another password" });
      expect(reset.status).toBe(400);
    }
  });

  test("is a name's too, where the name was only the address", async () => {
    const email = fresh();
    const client = createClient(house.web);
    await client.join({ email, name: "" });
    const now = fresh();
    expect((await client.post("/api/settings", { email: now })).body).toMatchObject({ email: now, name: now });
  });

  test.each([
    "",
    "ada",
    "ada@localhost",
    "ada@ex ample.com",
    "0xabc@wallet.invalid",
    `${"a".repeat(400)}@example.com`,
    7,
  ])("%j is 400", async (email) => {
    const { client, id } = await joined();
    const { issues } = expectRefusal(await client.post("/api/settings", { email, name: "No" }), 400);
    expect(issues?.[0]?.path).toBe("email");
    expect(await updates(id)).toEqual([]);
  });

  test("that another account has is 409, in whatever spelling; of two who want one, one gets it", async () => {
    const [ada, eve] = [await joined(), await joined()];
    const taken = await ada.client.post("/api/settings", { email: ` ${eve.email.toUpperCase()}`, name: "No" });
    expectRefusal(taken, 409, "EMAIL_IN_USE");
    expect(await settings(ada.client)).toMatchObject({ email: ada.email, name: "Ada" });
    expect(await subjects(ada.email)).toHaveLength(1);
    const email = fresh();
    const answers = await Promise.all([ada, eve].map(({ client }) => client.post("/api/settings", { email })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await lettersTo(house, email)).toHaveLength(1);
    const now = await Promise.all([ada, eve].map(({ client }) => settings(client)));
    expect(now.filter((user) => "email" in user && user.email === email)).toHaveLength(1);
  });

  test("is not an API key's to set; the name is", async () => {
    const { client, email } = await joined();
    const headers = await keyOf(client);
    const script = createClient(house.web);
    expectRefusal(await script.post("/api/settings", { email: fresh() }, { headers }), 403, "SESSION_REQUIRED");
    expect((await script.post("/api/settings", { name: "Script" }, { headers })).body).toMatchObject({ email });
    expect(await settings(client)).toMatchObject({ email, name: "Script" });
  });

  describe("is not for whoever only got hold of a session", () => {
    const move = (client: Client, more: object = {}) =>
      client.post("/api/settings", { email: fresh(), name: "Mine", ...more });
    const later = () => setSystemTime(Date.now() + 10 * MINUTE + 1_000);

    test("that is older than ten minutes: it takes the password, or a new sign-in", async () => {
      const { client, id, email } = await joined();
      later();
      expectRefusal(await move(client), 403, "RECENT_SIGN_IN_REQUIRED");
      expectRefusal(await move(client, { currentPassword: "" }), 403, "RECENT_SIGN_IN_REQUIRED");
      expectRefusal(await move(client, { currentPassword: "guess" }), 401, "BAD_CREDENTIALS");
      expect(await settings(client)).toMatchObject({ email, name: "Ada" });
      expect(await updates(id)).toEqual([]);
      // The same address is no change, and neither is a name.
      expect((await client.post("/api/settings", { email: ` ${email.toUpperCase()}`, name: "Ada K" })).status).toBe(
        200,
      );
      const moved = await move(client, { currentPassword: password });
      expect(moved.status).toBe(200);
      await client.signIn({ email: (moved.body as { email: string }).email });
      expect((await move(client)).status).toBe(200);
    });

    test("where there is no password: it takes a new sign-in", async () => {
      const { client, id } = await joined();
      await withoutPassword(id);
      later();
      expectRefusal(await move(client, { currentPassword: password }), 403, "RECENT_SIGN_IN_REQUIRED");
      setSystemTime();
      expect((await move(client)).status).toBe(200);
    });

    test("of an account with two-factor: it takes a code too, used up by the change", async () => {
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
      // An address that another has does not use it up.
      const { email: taken } = await joined();
      expectRefusal(await move(client, { email: taken, totp: first }), 409, "EMAIL_IN_USE");
      expect((await move(client, { totp: first })).status).toBe(200);
      expectRefusal(await move(client, { totp: first }), 401, "INVALID_TOTP");
      expect((await move(client, { totp: second })).status).toBe(200);
      expect((await client.patch("/api/settings", { name: "Ada K" })).status).toBe(200);
    });
  });

  test("takes the rights of an address in ADMIN_EMAILS along, and gives none before it is verified", async () => {
    const headers = { "x-forwarded-for": "203.0.113.9" };
    const { client, id } = await joined({ email: "root@example.com" });
    await write("UPDATE users SET email_verified = 1 WHERE id = ?", id);
    house.app.accounts.users.invalidate(id);
    expect(await settings(client)).toMatchObject({ isAdmin: true });
    const { body } = await client.post("/api/settings", { email: fresh() }, { headers });
    expect(body).toMatchObject({ isAdmin: false });
    const back = await client.post("/api/settings", { email: "root@example.com" }, { headers });
    expect(back.body).toMatchObject({ isAdmin: false, emailVerified: false });
    expect((await client.get("/api/settings", { headers })).body).toMatchObject({ isAdmin: false });
  });

  test("can't be changed so often that it is a way to write to strangers", async () => {
    await using strict = await openHouse({ env: { RATE_LIMITS: "on" } });
    const client = createClient(strict.web);
    await client.join();
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) statuses.push((await client.post("/api/settings", { email: fresh() })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect((await client.patch("/api/settings", { name: "Still" })).status).toBe(200);
  });
});

describe("an API key", () => {
  const keyWith = async (client: Client, ...scopes: string[]) => {
    const { body } = await client.post<{ key: string }>("/api/keys", { name: "script", scopes });
    return { headers: { authorization: `Bearer ${body.key}` } };
  };
  const ask = (method: "post" | "patch", body: object, options: object) =>
    createClient(house.web)[method]("/api/settings", body, options);

  test("changes the name with both scopes: the answer shows all there is to read", async () => {
    const { client } = await joined();
    const both = await keyWith(client, "read", "write");
    for (const scope of ["read", "write", "chat"]) {
      const options = await keyWith(client, scope);
      for (const method of ["post", "patch"] as const) {
        for (const body of [{ name: "Eve" }, { name: 7 }]) {
          const answer = await ask(method, body, options);
          expectRefusal(answer, 403, "MISSING_SCOPE");
          expect(answer.text).not.toContain(client.account.email);
        }
      }
    }
    expect(await settings(client)).toMatchObject({ name: "Ada" });
    for (const method of ["post", "patch"] as const) {
      expect((await ask(method, { name: "Script" }, both)).body).toMatchObject({ name: "Script" });
    }
  });

  test("does not silence the mails that would tell of it", async () => {
    const { client, id } = await joined();
    const options = await keyWith(client, "read", "write");
    for (const security of [false, true]) {
      const answer = await ask("patch", { name: "Eve", notifications: { security, agent: false } }, options);
      expectRefusal(answer, 403, "SESSION_REQUIRED");
    }
    expect(await updates(id)).toEqual([]);
    expect((await ask("patch", { notifications: { agent: false } }, options)).body).toMatchObject({
      notifications: { agent: false, security: true },
    });
    const { body } = await client.patch("/api/settings", { notifications: { security: false } });
    expect(body).toMatchObject({ notifications: { security: false } });
  });
});

describe("what is not a user's to say", () => {
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

  test("is ignored in every body", async () => {
    const { client } = await joined();
    const before = await settings(client);
    expect((await client.post("/api/settings", wish)).body).toEqual(before);
    expect((await client.patch("/api/settings", { ...wish, email: fresh() })).body).toEqual(before);
    const named = await client.post("/api/settings", { ...wish, name: "Ada K", notifications: { agent: false } });
    expect(named.body).toEqual({ ...before, name: "Ada K" });
    const change = { ...wish, currentPassword: password, newPassword: "another password" };
    expect((await client.post("/api/settings/password", change)).status).toBe(200);
    expect(await settings(client)).toEqual({ ...before, name: "Ada K" });
  });

  test("nobody says anything without a session, whatever is sent along", async () => {
    const client = createClient(house.web);
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
    createClient(house.web).post("/api/auth/callback/credentials", { email, password: secret });
  const good = { currentPassword: password, newPassword: "another password" };

  test("changes: a new cookie here, all others end, the owner is told", async () => {
    const { client, id, email } = await joined();
    await verify(house, email);
    const other = createClient(house.web);
    const { headers } = await signIn(email, password);
    const cookie = headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const old = client.cookie;
    const ended: string[] = [];
    house.app.accounts.onSessionRevoked((sessionId) => ended.push(sessionId));
    const answer = await change(client, good);
    expect(answer.body).toEqual({ success: true, message: expect.any(String) });
    expect(answer.headers.getSetCookie()).toHaveLength(1);
    expect(client.cookie).not.toBe(old);
    expect(await settings(client)).toMatchObject({ id });
    for (const gone of [old, cookie]) {
      expectRefusal(await other.get("/api/settings", { headers: { cookie: gone } }), 401, "UNAUTHORIZED");
    }
    expect(ended).toHaveLength(2);
    expectRefusal(await signIn(email, password), 401, "BAD_CREDENTIALS");
    expect((await signIn(email, good.newPassword)).status).toBe(200);
    expect(await lettersTo(house, email)).toHaveLength(2);
    const { rows } = await house.kernel.database.read("SELECT * FROM users WHERE id = ?", [id]);
    expect(JSON.stringify(rows)).not.toContain(good.newPassword);
    expect(String(rows[0]?.password_hash)).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$");
  });

  test("is not told of to those who turned such mails off", async () => {
    const { client, email } = await joined();
    await verify(house, email);
    await client.patch("/api/settings", { notifications: { security: false } });
    await change(client, good);
    expect(await lettersTo(house, email)).toHaveLength(1);
  });

  test.each([
    [{}, "newPassword"],
    [{ currentPassword: password }, "newPassword"],
    [{ currentPassword: "wrong", newPassword: "1234567" }, "newPassword"],
    [{ currentPassword: "wrong", newPassword: "😀😀😀😀" }, "newPassword"],
    [{ currentPassword: "wrong", newPassword: "x".repeat(1_025) }, "newPassword"],
    [{ currentPassword: password, newPassword: 12345678 }, "newPassword"],
    [{ currentPassword: 7, newPassword: "another password" }, "currentPassword"],
    [{ newPassword: "another password" }, "currentPassword"],
    [{ currentPassword: "", newPassword: "another password" }, "currentPassword"],
  ])("%j is 400 and says where", async (body, path) => {
    const { client, email } = await joined();
    const answer = await change(client, body);
    expect(expectRefusal(answer, 400).issues?.[0]?.path).toBe(path);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await signIn(email, password)).status).toBe(200);
  });

  test("a wrong current one is 401, signs nobody out, and can't be guessed for long", async () => {
    await using strict = await openHouse({ env: { RATE_LIMITS: "on" } });
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

  test("ends the links to reset it", async () => {
    const { client, id, email } = await joined();
    await client.post("/api/auth/forgot-password", { email });
    await change(client, good);
    const { rows } = await house.kernel.database.read(
      "SELECT 1 FROM auth_links WHERE user_id = ? AND kind = 'reset-password'",
      [id],
    );
    expect(rows).toEqual([]);
  });

  test("of two changes at once one counts, and the other changes nothing", async () => {
    const { client, email } = await joined();
    const headers = { cookie: client.cookie };
    const wishes = ["first new password", "second new password"];
    const answers = await Promise.all(wishes.map((newPassword) => change(client, { ...good, newPassword }, headers)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    const opens = await Promise.all(wishes.map((secret) => signIn(email, secret)));
    expect(opens.map(({ status }) => status)).toEqual(answers.map(({ status }) => status));
  });

  test("the old one opens nothing that outlives the change, however close", async () => {
    const { client, email } = await joined();
    let isChanged = false;
    const answers: Awaited<ReturnType<typeof signIn>>[] = [];
    const racer = async () => {
      while (!isChanged) answers.push(await signIn(email, password));
    };
    // Whoever comes last knows the old hash before the new one is stored, and compares with it after that.
    const racing = Promise.all([racer(), racer(), racer()]);
    expect((await change(client, good)).status).toBe(200);
    isChanged = true;
    await racing;
    for (const answer of answers) {
      const cookie = answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
      if (answer.status !== 200) expectRefusal(answer, 401, "BAD_CREDENTIALS");
      const seen = await createClient(house.web).get("/api/auth/session", { headers: { cookie } });
      expect(seen.body).toMatchObject({ user: null });
    }
    expect((await client.get("/api/settings")).status).toBe(200);
  });

  test("an account without one sets its first from a young session, and from no other", async () => {
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

  test("is not an API key's to change", async () => {
    const { client, email } = await joined();
    const headers = await keyOf(client);
    expectRefusal(await change(createClient(house.web), good, headers), 403, "SESSION_REQUIRED");
    expect((await signIn(email, password)).status).toBe(200);
  });

  test("can't be changed from a page of another site", async () => {
    const { client } = await joined();
    expectRefusal(await change(client, good, { origin: "https://evil.example" }), 403, "FOREIGN_ORIGIN");
  });
});
