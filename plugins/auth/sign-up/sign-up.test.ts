// Signing up, beyond the account itself: robots, rates, referrals, trials, languages, and the link that verifies the address.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { verify } from "../../../tests/support/favours.ts";
import { type House, openHouse } from "../../../tests/support/house.ts";
import { type Mailbox, openMailbox } from "../../../tests/support/mailbox.ts";
import { expectRefusal } from "../../../tests/support/scene.ts";
import { createApiKeys } from "../api-keys/api-keys.ts";
import { createLinkedAccounts } from "../linked-accounts.ts";
import { createMails } from "../mails/mails.ts";
import { createOneTimeLinks } from "../one-time-links.ts";
import { createPasswords } from "../password/passwords.ts";
import { createTwoFactor } from "../two-factor/two-factor.ts";
import { preferredLanguage } from "../visitors/preferred-language.ts";
import { createEmailVerification } from "./email-verification.ts";
import { createReferrals } from "./referrals.ts";
import { createSignUp } from "./sign-up.ts";

const DAY = 86_400_000;
const password = "correct horse battery";
let made = 0;
const fresh = () => `sailor-${++made}@example.com`;

interface Settings {
  id: string;
  credits: number;
  plan: string;
  referralCode: string;
  emailVerified: boolean;
}

let mailbox: Mailbox;
let house: House;
beforeAll(async () => {
  mailbox = await openMailbox();
  house = await openHouse({ env: { SMTP_URL: mailbox.url } });
  await house.kernel.jobs.start();
});
afterAll(async () => {
  await house?.kernel.jobs.stop();
  await house?.[Symbol.asyncDispose]();
  await mailbox?.[Symbol.asyncDispose]();
});

const client = () => createClient(house.web);
const register = (body: object, headers: Record<string, string> = {}) =>
  client().post<{ id: string }>("/api/register", body, { headers });
const settings = async (who: Client) => (await who.get<Settings>("/api/settings")).body;
const count = async (sql: string, args: string[] = []) => (await house.kernel.database.read(sql, args)).rows.length;

describe("robots", () => {
  const agent = (name: string) => ({ "user-agent": name });

  test.each(["Googlebot/2.1", "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/131.0.0.0 Safari/537.36", ""])(
    "%j is refused before anything it sends is looked at, and makes nothing",
    async (name) => {
      const email = fresh();
      for (const body of [{ email, password }, {}, { email: 1 }]) {
        expectRefusal(await register(body, agent(name)), 403, "BOT_DETECTED");
      }
      expect(await count("SELECT 1 FROM users WHERE email = ?", [email])).toBe(0);
    },
  );

  test("who fills the field that nobody sees is refused, also where the rest is wrong", async () => {
    const email = fresh();
    for (const body of [{ email, password, website: "https://spam.example" }, { website: 1 }]) {
      expectRefusal(await register(body), 403, "BOT_DETECTED");
    }
    expect((await register({ email, password, website: "" })).status).toBe(201);
  });

  test("curl passes; strictly, only browsers do; turned off, all", async () => {
    expect((await register({ email: fresh(), password }, agent("curl/8.5.0"))).status).toBe(201);
    await using strict = await openHouse({ env: { BOT_DETECTION: "strict" } });
    await using off = await openHouse({ env: { BOT_DETECTION: "off" } });
    const at = (where: House, name: string) =>
      createClient(where.web).post(
        "/api/register",
        { email: fresh(), password, website: "" },
        { headers: agent(name) },
      );
    expectRefusal(await at(strict, "curl/8.5.0"), 403, "BOT_DETECTED");
    const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0";
    expect((await at(strict, firefox)).status).toBe(201);
    expect((await at(off, "Googlebot/2.1")).status).toBe(201);
  });
});

test("robots don't use up the rate of their address; bad input does", async () => {
  await using strict = await openHouse({ env: { RATE_LIMITS: '{"sign-up":"2/m"}' } });
  const send = (body: object, name = "curl/8.5.0") =>
    createClient(strict.web).post("/api/register", body, { headers: { "user-agent": name } });
  for (let n = 0; n < 5; n++) expectRefusal(await send({}, "Googlebot/2.1"), 403, "BOT_DETECTED");
  for (let n = 0; n < 2; n++) expectRefusal(await send({}), 400);
  expectRefusal(await send({ email: fresh(), password }), 429, "RATE_LIMITED");
  expectRefusal(await send({}), 429, "RATE_LIMITED");
});

describe("a referral code", () => {
  const referrer = async () => {
    const ada = client();
    await ada.join();
    return { ada, code: (await settings(ada)).referralCode };
  };

  test("credits both sides, in any case, and tells who gave it", async () => {
    const { ada, code } = await referrer();
    await verify(house, ada.account.email);
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

  test("counts once for an address, however often at once it signs up with it", async () => {
    const { ada, code } = await referrer();
    const email = fresh();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => register({ email, password, referralCode: code })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) expectRefusal(answer, 409, "USER_EXISTS");
    expect((await settings(ada)).credits).toBe(10);
    expectRefusal(await register({ email, password, referralCode: code }), 409, "USER_EXISTS");
    expect((await settings(ada)).credits).toBe(10);
    // Another newcomer is another ten.
    expect((await register({ email: fresh(), password, referralCode: code })).status).toBe(201);
    expect((await settings(ada)).credits).toBe(20);
  });

  test.each(["friend-code", "x".repeat(21), "bad code", "a_b", "ä", "%", "' OR 1=1 --"])(
    "%j, which nobody has, makes no account",
    async (referralCode) => {
      const email = fresh();
      const { issues } = expectRefusal(await register({ email, password, referralCode }), 400, "INVALID_REFERRAL_CODE");
      expect(issues?.map(({ path }) => path)).toEqual(["referralCode"]);
      expect(await count("SELECT 1 FROM users WHERE email = ?", [email])).toBe(0);
    },
  );

  test("that is no text is 400; an empty one is none", async () => {
    for (const referralCode of [1, null, {}, ["x"]]) {
      expectRefusal(await register({ email: fresh(), password, referralCode }), 400, "INVALID_INPUT");
    }
    for (const referralCode of ["", "  "]) {
      expect((await register({ email: fresh(), password, referralCode })).status).toBe(201);
    }
  });

  test("of an account that goes while the newcomer signs up is nobody's, and makes no account", async () => {
    const { ada, code } = await referrer();
    const { id } = await settings(ada);
    const { kernel, app } = house;
    const { users } = app.accounts;
    const mails = createMails(kernel);
    const signUp = createSignUp({
      users,
      referrals: createReferrals({ users, mails }),
      verification: createEmailVerification({
        ...kernel,
        users,
        mails,
        oneTimeLinks: createOneTimeLinks(kernel.database),
        keys: createApiKeys(kernel),
        linkedAccounts: createLinkedAccounts(kernel.database),
        twoFactor: createTwoFactor({ ...kernel, users }),
      }),
      passwords: {
        ...createPasswords(),
        async hash() {
          await kernel.database.write([{ sql: "DELETE FROM users WHERE id = ?", args: [id] }]);
          return "hash";
        },
      },
    });
    const email = fresh();
    const attempt = signUp({ email, password, referralCode: code, locale: "en" });
    await expect(attempt).rejects.toMatchObject({ status: 400, code: "INVALID_REFERRAL_CODE" });
    expect(await count("SELECT 1 FROM users WHERE email = ?", [email])).toBe(0);
  });
});

test("a trial is in force with the account", async () => {
  await using trying = await openHouse({ env: { SIGNUP_TRIAL: "pro:7d" } });
  const ada = createClient(trying.web);
  await ada.join();
  const { body } = await ada.get<{ subscription: { currentPeriodEnd: string } }>("/api/settings");
  expect(body).toMatchObject({ plan: "pro", subscription: { plan: "pro", status: "trialing", active: true } });
  expect(Date.parse(body.subscription.currentPeriodEnd) - Date.now()).toBeWithin(6.9 * DAY, 7.1 * DAY);
});

describe("the language of mails", () => {
  test.each([
    [null, "en"],
    ["", "en"],
    ["de", "de"],
    ["de-AT,de;q=0.9,en;q=0.5", "de"],
    ["en-GB,en;q=0.9,de;q=0.8", "en"],
    ["fr,it;q=0.9,de;q=0.1", "de"],
    ["en;q=0.3, DE;q=0.7", "de"],
    ["de;q=0, en;q=0.1", "en"],
    ["fr", "en"],
    ["*", "en"],
    ["__proto__", "en"],
    ["de;q=x", "en"],
  ])("for %p is %s", (header, language) => {
    expect(preferredLanguage(header)).toBe(language as "en");
  });

  test("is not looked for in a header without end", () => {
    expect(preferredLanguage(`${"x,".repeat(100_000)}de`)).toBe("en");
  });

  test("is that of whoever signs up", async () => {
    const email = fresh();
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

  test("comes with the sign-up and works once, for whoever has it", async () => {
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

  test("is not on disk in clear", async () => {
    const { token } = await joined();
    for (const table of ["auth_links", "jobs", "events"]) {
      const { rows } = await house.kernel.database.read(`SELECT * FROM ${table}`);
      expect(JSON.stringify(rows)).not.toContain(token);
    }
  });

  test("of twenty uses at once works for one", async () => {
    const { token } = await joined();
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify(token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 400, "INVALID_LINK");
  });

  test("says nothing about an address that the account has no more", async () => {
    const { ada, token } = await joined();
    const { id } = await settings(ada);
    await house.kernel.database.write([house.app.accounts.users.updateStatement(id, { email: fresh() })]);
    expectRefusal(await verify(token), 400, "INVALID_LINK");
    expect((await settings(ada)).emailVerified).toBe(false);
  });

  test("can be had again: then the older one is dead", async () => {
    const { ada, email, token } = await joined();
    expect((await ada.post("/api/auth/verify-email/resend")).status).toBe(200);
    const second = await mailbox.token(email, "verify-email", 2);
    expectRefusal(await verify(token), 400, "INVALID_LINK");
    expect((await verify(second)).status).toBe(200);
    const again = await ada.post<{ message: string }>("/api/auth/verify-email/resend");
    expect(again).toMatchObject({ status: 200, body: { message: expect.stringMatching(/already/) } });
    expect(mailbox.of(email)).toHaveLength(2);
  });

  test("is sent again to its owner alone, so often, and not to a wallet", async () => {
    expectRefusal(await client().post("/api/auth/verify-email/resend"), 401, "UNAUTHORIZED");
    const { ada } = await joined();
    const { id } = await settings(ada);
    const update = house.app.accounts.users.updateStatement(id, { email: `0x${id}@wallet.invalid` });
    await house.kernel.database.write([update]);
    expectRefusal(await ada.post("/api/auth/verify-email/resend"), 400, "NO_EMAIL_ADDRESS");
    await using strict = await openHouse({ env: { RATE_LIMITS: '{"forgot-password":"2/m"}' } });
    const bob = createClient(strict.web);
    await bob.join();
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) statuses.push((await bob.post("/api/auth/verify-email/resend")).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  test.each(["", "x", "x".repeat(43), "x".repeat(201), 1, null, undefined, {}])("%j is none", async (token) => {
    expectRefusal(await verify(token), 400);
  });

  describe("of an account that a stranger could go on entering", () => {
    const sql = (text: string, ...args: string[]) => house.kernel.database.write([{ sql: text, args }]);

    test.each<[string, (eve: Client, id: string) => Promise<unknown>]>([
      ["a wallet", (_, id) => sql("INSERT INTO linked_accounts VALUES ('wallet', ?1, ?1, 0)", id)],
      ["an API key", (eve) => eve.post("/api/keys", { name: "back door" })],
      [
        "a second factor",
        (_, id) => sql("INSERT INTO two_factor (user_id, secret, confirmed_at, created_at) VALUES (?, 'x', 1, 0)", id),
      ],
    ])("with %s is for that account's session alone", async (_, arm) => {
      const { ada: eve, token } = await joined();
      const { id } = await settings(eve);
      await arm(eve, id);
      const other = client();
      await other.join();
      for (const who of [client(), other]) {
        const answer = await who.post("/api/auth/verify-email", { token });
        expectRefusal(answer, 403, "SIGN_IN_FIRST");
      }
      expect((await settings(eve)).emailVerified).toBe(false);
      expect((await eve.post("/api/auth/verify-email", { token })).status).toBe(200);
    });
  });

  test("makes an address of ADMIN_EMAILS count from afar, at once", async () => {
    const far = { headers: { "x-forwarded-for": "203.0.113.7" } };
    await using ours = await openHouse({ env: { ADMIN_EMAILS: "root@example.com", SMTP_URL: mailbox.url } });
    await ours.kernel.jobs.start();
    const root = createClient(ours.web);
    await root.join({ email: "root@example.com" });
    expect((await root.get("/api/settings", far)).body).toMatchObject({ isAdmin: false });
    const token = await mailbox.token("root@example.com", "verify-email");
    expect((await root.post("/api/auth/verify-email", { token })).status).toBe(200);
    expect((await root.get("/api/settings", far)).body).toMatchObject({ isAdmin: true, emailVerified: true });
    await ours.kernel.jobs.stop();
  });

  describe("to an address of ADMIN_EMAILS", () => {
    const far = { headers: { "x-forwarded-for": "203.0.113.7" } };
    let ours: House;
    beforeAll(async () => {
      const names = ["captain", "boss"].map((name) => `${name}@example.com`).join();
      ours = await openHouse({ env: { ADMIN_EMAILS: names, SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1" } });
      await ours.kernel.jobs.start();
    });
    afterAll(async () => {
      await ours?.kernel.jobs.stop();
      await ours?.[Symbol.asyncDispose]();
    });
    const visitor = () => createClient(ours.web);
    const click = (by: Client, token: string, headers: Record<string, string> = {}) =>
      by.post("/api/auth/verify-email", { token }, { headers });
    const expectPowerless = async (who: Client) =>
      expect((await who.get("/api/settings", far)).body).toMatchObject({ isAdmin: false, emailVerified: false });

    test("does not make an admin of a stranger who signed up with it, when its owner opens the link", async () => {
      const email = "captain@example.com";
      const eve = visitor();
      await eve.join({ email });
      const { key } = (await eve.post<{ key: string }>("/api/keys", { name: "back door" })).body;
      const token = await mailbox.token(email, "verify-email");
      const root = visitor();
      await root.join();
      for (const [who, headers] of [
        [visitor(), {}],
        [root, {}],
        [visitor(), { authorization: `Bearer ${key}` }],
        [eve, { authorization: `Bearer ${key}` }],
      ] as const) {
        expectRefusal(await click(who, token, headers), 403, "SIGN_IN_FIRST");
      }
      await expectPowerless(eve);

      // Its owner gets in by mail, and the stranger out; the address counts then.
      await root.post("/api/auth/forgot-password", { email });
      const reset = await mailbox.token(email, "reset-password");
      const fresh = "a new horse battery";
      expect((await root.post("/api/auth/reset-password", { token: reset, password: fresh })).status).toBe(200);
      expectRefusal(await eve.get("/api/settings"), 401, "UNAUTHORIZED");
      const answer = await root.post("/api/auth/callback/credentials", { email, password: fresh });
      expect(answer.status).toBe(200);
      expect((await root.get("/api/settings", far)).body).toMatchObject({ email, isAdmin: true });
      expectRefusal(await click(root, token), 400, "INVALID_LINK");
    });

    test("nor of one who moved an account there", async () => {
      const email = "boss@example.com";
      const eve = visitor();
      await eve.join();
      const own = await mailbox.token(eve.account.email, "verify-email");
      expect((await click(visitor(), own)).status).toBe(200);
      expect((await eve.post("/api/settings", { email })).status).toBe(200);
      expectRefusal(await click(visitor(), await mailbox.token(email, "verify-email")), 403, "SIGN_IN_FIRST");
      await expectPowerless(eve);
    });
  });
});

test("no mail goes to the first admin, who is verified", async () => {
  await using empty = await openHouse();
  const link = (await empty.app.accounts.createFirstAdminLink()) ?? "";
  const token = new URL(link).searchParams.get("token");
  const body = { token, email: "first@example.com", password };
  expect((await createClient(empty.web).post("/api/auth/first-admin", body)).status).toBe(201);
  const { rows } = await empty.kernel.database.read("SELECT 1 FROM jobs WHERE kind = 'mail'");
  expect(rows).toEqual([]);
});
