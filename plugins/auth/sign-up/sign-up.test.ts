// Sign-up: bot detection, rates, referrals, trials, languages, and the link that verifies the address.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY } from "../../../src/kernel/util/time.ts";
import { becomeFirstAdmin, verifyEmail } from "../../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { type Mailbox, openMailbox } from "../../../tests/support/mailbox.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { createAccountAudit } from "../administration/account-audit.ts";
import { createApiKeys } from "../api-keys/api-keys.ts";
import { createMails } from "../mails/mails.ts";
import { createLinkedAccounts } from "../oauth/linked-accounts.ts";
import { createOneTimeLinks } from "../one-time-links.ts";
import { createPasswords } from "../password/passwords.ts";
import { createTwoFactor } from "../two-factor/two-factor.ts";
import { createEmailVerification } from "./email-verification.ts";
import { createReferrals } from "./referrals.ts";
import { createSignUp } from "./sign-up.ts";

const password = "correct horse battery";
let emails = 0;
const newEmail = () => `sailor-${++emails}@example.com`;

interface Settings {
  id: string;
  credits: number;
  plan: string;
  referralCode: string;
  emailVerified: boolean;
}

let mailbox: Mailbox;
let server: TestServer;
beforeAll(async () => {
  mailbox = await openMailbox();
  server = await openServer({ env: { SMTP_URL: mailbox.url } });
  await server.kernel.jobs.start();
});
afterAll(async () => {
  await server?.kernel.jobs.stop();
  await server?.[Symbol.asyncDispose]();
  await mailbox?.[Symbol.asyncDispose]();
});

const client = () => createClient(server.web);
const register = (body: object, headers: Record<string, string> = {}) =>
  client().post<{ id: string }>("/api/register", body, { headers });
const settings = async (caller: Client) => (await caller.get<Settings>("/api/settings")).body;
const count = async (sql: string, args: string[] = []) => (await server.kernel.database.read(sql, args)).rows.length;

test("a misspelt field is ignored, and the answer says so", async () => {
  const { status, body } = await register({ email: newEmail(), password, nmae: "Ada" });
  expect(status).toBeLessThan(300);
  expect(body).toMatchObject({ warnings: [{ path: "nmae", message: expect.stringContaining('Is "name" meant?') }] });
});

describe("bots", () => {
  const agent = (name: string) => ({ "user-agent": name });

  test.each(["Googlebot/2.1", "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/131.0.0.0 Safari/537.36", ""])(
    "the user agent %j is refused before validation, and creates nothing",
    async (name) => {
      const email = newEmail();
      for (const body of [{ email, password }, {}, { email: 1 }]) {
        expectRefusal(await register(body, agent(name)), 403, "BOT_DETECTED");
      }
      expect(await count("SELECT 1 FROM users WHERE email = ?", [email])).toBe(0);
    },
  );

  test("a filled honeypot is refused, also in an otherwise invalid body", async () => {
    const email = newEmail();
    for (const body of [{ email, password, website: "https://spam.example" }, { website: 1 }]) {
      expectRefusal(await register(body), 403, "BOT_DETECTED");
    }
    expect((await register({ email, password, website: "" })).status).toBe(201);
  });

  test("BOT_DETECTION: standard accepts curl, strict only browsers, off everything", async () => {
    expect((await register({ email: newEmail(), password }, agent("curl/8.5.0"))).status).toBe(201);
    await using strict = await openServer({ env: { BOT_DETECTION: "strict" } });
    await using off = await openServer({ env: { BOT_DETECTION: "off" } });
    const signUpAt = (at: TestServer, name: string) =>
      createClient(at.web).post(
        "/api/register",
        { email: newEmail(), password, website: "" },
        { headers: agent(name) },
      );
    expectRefusal(await signUpAt(strict, "curl/8.5.0"), 403, "BOT_DETECTED");
    const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0";
    expect((await signUpAt(strict, firefox)).status).toBe(201);
    expect((await signUpAt(off, "Googlebot/2.1")).status).toBe(201);
  });
});

test("refused bots don't count against the rate of their address; invalid bodies do", async () => {
  await using strict = await openServer({ env: { RATE_LIMITS: '{"sign-up":"2/m"}' } });
  const send = (body: object, name = "curl/8.5.0") =>
    createClient(strict.web).post("/api/register", body, { headers: { "user-agent": name } });
  for (let n = 0; n < 5; n++) expectRefusal(await send({}, "Googlebot/2.1"), 403, "BOT_DETECTED");
  for (let n = 0; n < 2; n++) expectRefusal(await send({}), 400);
  expectRefusal(await send({ email: newEmail(), password }), 429, "RATE_LIMITED");
  expectRefusal(await send({}), 429, "RATE_LIMITED");
});

describe("a referral code", () => {
  const referrer = async () => {
    const ada = client();
    await ada.join();
    return { ada, code: (await settings(ada)).referralCode };
  };

  test("credits both accounts in any case of letters, and notifies the referrer", async () => {
    const { ada, code } = await referrer();
    await verifyEmail(server, ada.account.email);
    const bob = client();
    await bob.join({ referralCode: ` ${code.toUpperCase()} ` } as object);
    expect((await settings(bob)).credits).toBe(10);
    expect((await settings(ada)).credits).toBe(10);
    const { id } = await settings(bob);
    const { id: by } = await settings(ada);
    expect(await count("SELECT 1 FROM users WHERE id = ? AND referred_by = ?", [id, by])).toBe(1);
    const credited = () => mailbox.of(ada.account.email).filter(({ parsed }) => /credit/i.test(parsed.subject ?? ""));
    await eventually(() => credited().length === 1);
    expect(JSON.stringify(mailbox.of(ada.account.email))).not.toContain(bob.account.email);
  });

  test("counts once for concurrent sign-ups of one address", async () => {
    const { ada, code } = await referrer();
    const email = newEmail();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => register({ email, password, referralCode: code })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) expectRefusal(answer, 409, "USER_EXISTS");
    expect((await settings(ada)).credits).toBe(10);
    expectRefusal(await register({ email, password, referralCode: code }), 409, "USER_EXISTS");
    expect((await settings(ada)).credits).toBe(10);
    // Another new account gives another ten credits.
    expect((await register({ email: newEmail(), password, referralCode: code })).status).toBe(201);
    expect((await settings(ada)).credits).toBe(20);
  });

  test.each(["friend-code", "x".repeat(21), "bad code", "a_b", "ä", "%", "' OR 1=1 --"])(
    "the unknown code %j creates no account",
    async (referralCode) => {
      const email = newEmail();
      const { issues } = expectRefusal(await register({ email, password, referralCode }), 400, "INVALID_REFERRAL_CODE");
      expect(issues?.map(({ path }) => path)).toEqual(["referralCode"]);
      expect(await count("SELECT 1 FROM users WHERE email = ?", [email])).toBe(0);
    },
  );

  test("that is not text is 400; a blank one counts as none", async () => {
    for (const referralCode of [1, null, {}, ["x"]]) {
      expectRefusal(await register({ email: newEmail(), password, referralCode }), 400, "INVALID_INPUT");
    }
    for (const referralCode of ["", "  "]) {
      expect((await register({ email: newEmail(), password, referralCode })).status).toBe(201);
    }
  });

  test("of an account that is deleted during the sign-up creates no account", async () => {
    const { ada, code } = await referrer();
    const { id } = await settings(ada);
    const { kernel, app } = server;
    const { users } = app.accounts;
    const mails = createMails(kernel);
    const signUp = createSignUp({
      kernel,
      auditStatement: createAccountAudit(kernel.audit),
      users,
      referrals: createReferrals({ users, mails }),
      verification: createEmailVerification({
        ...kernel,
        users,
        mails,
        oneTimeLinks: createOneTimeLinks(kernel),
        keys: createApiKeys(kernel),
        linkedAccounts: createLinkedAccounts(kernel),
        twoFactor: createTwoFactor({ ...kernel, users }),
      }),
      signUpPolicy: { admit: async () => [] },
      passwords: {
        ...createPasswords(),
        async hash() {
          await kernel.database.write([{ sql: "DELETE FROM users WHERE id = ?", args: [id] }]);
          return "hash";
        },
      },
    });
    const email = newEmail();
    const attempt = signUp({ email, password, referralCode: code, locale: "en" });
    await expect(attempt).rejects.toMatchObject({ status: 400, code: "INVALID_REFERRAL_CODE" });
    expect(await count("SELECT 1 FROM users WHERE email = ?", [email])).toBe(0);
  });
});

test("SIGNUP_TRIAL starts with the account", async () => {
  await using trying = await openServer({ env: { SIGNUP_TRIAL: "pro:7d" } });
  const ada = createClient(trying.web);
  await ada.join();
  const { body } = await ada.get<{ subscription: { currentPeriodEnd: string } }>("/api/settings");
  expect(body).toMatchObject({ plan: "pro", subscription: { plan: "pro", status: "trialing", active: true } });
  expect(Date.parse(body.subscription.currentPeriodEnd) - Date.now()).toBeWithin(6.9 * DAY, 7.1 * DAY);
});

describe("the language of mails", () => {
  test("is stored at sign-up", async () => {
    const email = newEmail();
    await register({ email, password }, { "accept-language": "de-DE,de;q=0.9" });
    await mailbox.token(email, "verify-email");
    expect(mailbox.of(email)[0]?.parsed.html).toContain('lang="de"');
  });
});

describe("the link that verifies the address", () => {
  const verify = (token: unknown) => client().post("/api/auth/verify-email", { token });
  const joined = async () => {
    const ada = client();
    await ada.join();
    const { email } = ada.account;
    return { ada, email, token: await mailbox.token(email, "verify-email") };
  };

  test("is mailed at sign-up and works once, without a session", async () => {
    const { ada, email, token } = await joined();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect((await settings(ada)).emailVerified).toBe(false);
    const answer = await verify(token);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: { ok: true, email } });
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await settings(ada)).emailVerified).toBe(true);
    expectRefusal(await verify(token), 400, "INVALID_LINK");
    expect(mailbox.of(email)).toHaveLength(1);
  });

  test("is stored as a hash only", async () => {
    const { token } = await joined();
    for (const table of ["auth_links", "jobs", "events"]) {
      const { rows } = await server.kernel.database.read(`SELECT * FROM ${table}`);
      expect(JSON.stringify(rows)).not.toContain(token);
    }
  });

  test("works for one of twenty concurrent uses", async () => {
    const { token } = await joined();
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify(token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 400, "INVALID_LINK");
  });

  test("is invalid after a change of the address", async () => {
    const { ada, token } = await joined();
    const { id } = await settings(ada);
    await server.kernel.database.write([server.app.accounts.users.updateStatement(id, { email: newEmail() })]);
    expectRefusal(await verify(token), 400, "INVALID_LINK");
    expect((await settings(ada)).emailVerified).toBe(false);
  });

  test("can be requested again, which ends the older one", async () => {
    const { ada, email, token } = await joined();
    expect((await ada.post("/api/auth/verify-email/resend")).status).toBe(200);
    const second = await mailbox.token(email, "verify-email", 2);
    expectRefusal(await verify(token), 400, "INVALID_LINK");
    expect((await verify(second)).status).toBe(200);
    const again = await ada.post<{ message: string }>("/api/auth/verify-email/resend");
    expect(again).toMatchObject({ status: 200, body: { message: expect.stringMatching(/already/) } });
    expect(mailbox.of(email)).toHaveLength(2);
  });

  test("is sent again only with a session, within the rate, and not to a wallet", async () => {
    expectRefusal(await client().post("/api/auth/verify-email/resend"), 401, "UNAUTHORIZED");
    const { ada } = await joined();
    const { id } = await settings(ada);
    const update = server.app.accounts.users.updateStatement(id, { email: `0x${id}@wallet.invalid` });
    await server.kernel.database.write([update]);
    expectRefusal(await ada.post("/api/auth/verify-email/resend"), 400, "NO_EMAIL_ADDRESS");
    await using strict = await openServer({ env: { RATE_LIMITS: '{"forgot-password":"2/m"}' } });
    const bob = createClient(strict.web);
    await bob.join();
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) statuses.push((await bob.post("/api/auth/verify-email/resend")).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  test.each(["", "x", "x".repeat(43), "x".repeat(201), 1, null, undefined, {}])(
    "refuses the token %j",
    async (token) => {
      expectRefusal(await verify(token), 400);
    },
  );

  describe("of an account with access besides the password", () => {
    const sql = (text: string, ...args: string[]) => server.kernel.database.write([{ sql: text, args }]);

    test.each<[string, (eve: Client, id: string) => Promise<unknown>]>([
      ["a wallet", (_, id) => sql("INSERT INTO linked_accounts VALUES ('wallet', ?1, ?1, 0, NULL, NULL)", id)],
      ["an API key", (eve) => eve.post("/api/keys", { name: "back door" })],
      [
        "a second factor",
        (_, id) => sql("INSERT INTO two_factor (user_id, secret, confirmed_at, created_at) VALUES (?, 'x', 1, 0)", id),
      ],
    ])("needs a session of the account if it has %s", async (_, addAccess) => {
      const { ada: eve, token } = await joined();
      const { id } = await settings(eve);
      await addAccess(eve, id);
      const other = client();
      await other.join();
      for (const caller of [client(), other]) {
        const answer = await caller.post("/api/auth/verify-email", { token });
        expectRefusal(answer, 403, "SIGN_IN_FIRST");
      }
      expect((await settings(eve)).emailVerified).toBe(false);
      expect((await eve.post("/api/auth/verify-email", { token })).status).toBe(200);
    });
  });

  test("makes an address of ADMIN_EMAILS count from other machines at once", async () => {
    const remote = { headers: { "x-forwarded-for": "203.0.113.7" } };
    await using ours = await openServer({ env: { ADMIN_EMAILS: "root@example.com", SMTP_URL: mailbox.url } });
    await ours.kernel.jobs.start();
    const root = createClient(ours.web);
    await root.join({ email: "root@example.com" });
    expect((await root.get("/api/settings", remote)).body).toMatchObject({ isAdmin: false });
    const token = await mailbox.token("root@example.com", "verify-email");
    expect((await root.post("/api/auth/verify-email", { token })).status).toBe(200);
    expect((await root.get("/api/settings", remote)).body).toMatchObject({ isAdmin: true, emailVerified: true });
    await ours.kernel.jobs.stop();
  });

  describe("to an address of ADMIN_EMAILS", () => {
    const remote = { headers: { "x-forwarded-for": "203.0.113.7" } };
    let ours: TestServer;
    beforeAll(async () => {
      const names = ["captain", "boss"].map((name) => `${name}@example.com`).join();
      ours = await openServer({ env: { ADMIN_EMAILS: names, SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1" } });
      await ours.kernel.jobs.start();
    });
    afterAll(async () => {
      await ours?.kernel.jobs.stop();
      await ours?.[Symbol.asyncDispose]();
    });
    const visitor = () => createClient(ours.web);
    const click = (by: Client, token: string, headers: Record<string, string> = {}) =>
      by.post("/api/auth/verify-email", { token }, { headers });
    const expectNoAdmin = async (caller: Client) =>
      expect((await caller.get("/api/settings", remote)).body).toMatchObject({ isAdmin: false, emailVerified: false });

    test("does not make a stranger who signed up with it an admin when the owner opens the link", async () => {
      const email = "captain@example.com";
      const eve = visitor();
      await eve.join({ email });
      const { key } = (await eve.post<{ key: string }>("/api/keys", { name: "back door" })).body;
      const token = await mailbox.token(email, "verify-email");
      const root = visitor();
      await root.join();
      for (const [caller, headers] of [
        [visitor(), {}],
        [root, {}],
        [visitor(), { authorization: `Bearer ${key}` }],
        [eve, { authorization: `Bearer ${key}` }],
      ] as const) {
        expectRefusal(await click(caller, token, headers), 403, "SIGN_IN_FIRST");
      }
      await expectNoAdmin(eve);

      // The owner resets the password by mail, which reclaims the account.
      await root.post("/api/auth/forgot-password", { email });
      const reset = await mailbox.token(email, "reset-password");
      const newPassword = "a new horse battery";
      expect((await root.post("/api/auth/reset-password", { token: reset, password: newPassword })).status).toBe(200);
      expectRefusal(await eve.get("/api/settings"), 401, "UNAUTHORIZED");
      const answer = await root.post("/api/auth/callback/credentials", { email, password: newPassword });
      expect(answer.status).toBe(200);
      expect((await root.get("/api/settings", remote)).body).toMatchObject({ email, isAdmin: true });
      expectRefusal(await click(root, token), 400, "INVALID_LINK");
    });

    test("does not make a stranger who changed their address to it an admin", async () => {
      const email = "boss@example.com";
      const eve = visitor();
      await eve.join();
      const own = await mailbox.token(eve.account.email, "verify-email");
      expect((await click(visitor(), own)).status).toBe(200);
      expect((await eve.post("/api/settings", { email })).status).toBe(200);
      expectRefusal(await click(visitor(), await mailbox.token(email, "verify-email")), 403, "SIGN_IN_FIRST");
      await expectNoAdmin(eve);
    });
  });
});

test("the first admin is verified and receives no verification mail", async () => {
  await using empty = await openServer();
  await becomeFirstAdmin(empty, createClient(empty.web), "first@example.com");
  const { rows } = await empty.kernel.database.read("SELECT 1 FROM jobs WHERE kind = 'mail'");
  expect(rows).toEqual([]);
});
