// The HTTP interface of accounts on the compiled binary: sign-up, sign-in, sessions, settings and email verification.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  expectInvalid,
  expectLimited,
  isoTime,
  newEmail,
  PASSWORD,
  type Settings,
  settingsOf,
  statusAndBody,
  uuid,
} from "./support/accounts.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { type Mailbox, openMailbox } from "./support/mailbox.ts";
import { expectRefusal } from "./support/refusal.ts";
import { createWallet, siweMessage } from "./support/wallets.ts";

const DAY = 86_400_000;

let mailbox: Mailbox;
let berth: Berth;
beforeAll(async () => {
  mailbox = await openMailbox();
  berth = await startBerth({ env: { SMTP_URL: mailbox.url, RATE_LIMITS: "off" } });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await mailbox?.[Symbol.asyncDispose]();
});

const visitor = () => createClient(berth);
const joined = async (account = {}) => {
  const client = visitor();
  await client.join(account);
  return client;
};
const register = (body: unknown, headers: Record<string, string> = {}) =>
  visitor().post("/api/register", body, { headers });
const signIn = (body: unknown) => visitor().post("/api/auth/callback/credentials", body);

/** The settings of a new account. */
const freshUser = (more: Partial<Settings> = {}) => ({
  id: uuid,
  email: expect.any(String),
  name: "Ada",
  plan: "free",
  credits: 0,
  twoFactorEnabled: false,
  emailVerified: false,
  hasPassword: true,
  isAdmin: false,
  referralCode: expect.stringMatching(/^[a-z0-9-]{1,20}$/),
  frozen: null,
  subscription: null,
  notifications: { agent: true, billing: true, security: true, referral: true, system: true },
  createdAt: isoTime,
  ...more,
});

const badEmails = [
  "ada",
  "ada@",
  "@example.com",
  "ada@example",
  "a da@example.com",
  "ada@exa mple.com",
  "a@b@c.com",
  "",
];
const badNames = ["x".repeat(201), "two\nlines", "nul\u0000", "right\u202eto left"];

describe("POST /api/register", () => {
  test("201: id, email and name, and no session", async () => {
    const email = newEmail();
    const answer = await register({ email: ` ${email.toUpperCase()} `, password: PASSWORD, name: " Ada " });
    expect(statusAndBody(answer)).toEqual({ status: 201, body: { id: uuid, email, name: "Ada" } });
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test.each([undefined, "", "  "])("the name %j becomes the address", async (name) => {
    const email = newEmail();
    expect((await register({ email, password: PASSWORD, name })).body).toEqual({ id: uuid, email, name: email });
  });

  test("400 for an empty body", async () => {
    expectInvalid(await register({}), ["email", "password"]);
    expectInvalid(await register(undefined), ["email", "password"]);
  });

  test.each<[string, object, string, string]>([
    ["no email", { email: undefined }, "email", "INVALID_INPUT"],
    ["no password", { password: undefined }, "password", "INVALID_INPUT"],
    ...badEmails.map((email): [string, object, string, string] => [`"${email}"`, { email }, "email", "INVALID_EMAIL"]),
    ["an email of 255 characters", { email: `${"a".repeat(243)}@example.com` }, "email", "INVALID_EMAIL"],
    ["an email for wallets", { email: "ada@wallet.invalid" }, "email", "INVALID_EMAIL"],
    ["a password of 7 characters", { password: "1234567" }, "password", "INVALID_PASSWORD"],
    ["a password of 7 emoji", { password: "🔑".repeat(7) }, "password", "INVALID_PASSWORD"],
    ["a password of 1025 characters", { password: "x".repeat(1025) }, "password", "INVALID_PASSWORD"],
    ["a referral code of 21 characters", { referralCode: "x".repeat(21) }, "referralCode", "INVALID_REFERRAL_CODE"],
    ["a referral code with a space", { referralCode: "a b" }, "referralCode", "INVALID_REFERRAL_CODE"],
    ["an unknown referral code", { referralCode: "no-such-code" }, "referralCode", "INVALID_REFERRAL_CODE"],
    ["a referral code that is a number", { referralCode: 12 }, "referralCode", "INVALID_INPUT"],
  ])("400 for %s, and no account", async (_, change, field, code) => {
    const good = { email: newEmail(), password: PASSWORD };
    expectInvalid(await register({ ...good, ...change }), [field], code);
    expect((await register(good)).status).toBe(201);
  });

  test.each(badNames)("400 for the name %j", async (name) => {
    const answer = await register({ email: newEmail(), password: PASSWORD, name });
    expectInvalid(answer, ["name"], name.includes("\u0000") ? "INVALID_TEXT" : undefined);
  });

  test.each(["12345670", "🔑🚢".repeat(3) + "😀🔑", "horse".repeat(204) + "ship", " ä ö ü ß"])(
    "the password %j is accepted",
    async (password) => {
      const ada = visitor();
      await ada.join({ password });
      expectRefusal(await signIn({ email: ada.account.email, password: `${password}x` }), 401, "BAD_CREDENTIALS");
    },
  );

  test("403 for robots, and no account", async () => {
    const account = { email: newEmail(), password: PASSWORD };
    for (const name of ["Googlebot/2.1", "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/130.0.0.0", "PuppeteerBot"]) {
      expectRefusal(await register(account, { "user-agent": name }), 403, "BOT_DETECTED");
    }
    expectRefusal(await register({ ...account, website: "https://spam.example" }), 403, "BOT_DETECTED");
    const headers = { "content-type": "application/json" };
    const nameless = await visitor().raw({
      method: "POST",
      path: "/api/register",
      headers,
      body: JSON.stringify(account),
    });
    expectRefusal(nameless, 403, "BOT_DETECTED");
    expect((await register({ ...account, website: "" }, { "user-agent": "curl/8.5.0" })).status).toBe(201);
  });

  test("409 when the user exists, which stays unchanged", async () => {
    const ada = await joined();
    const before = await settingsOf(ada);
    const again = { email: ada.account.email.toUpperCase(), password: "another password", name: "Eve" };
    const body = expectRefusal(await register(again), 409, "USER_EXISTS");
    expect(Object.keys(body).sort()).toEqual(["code", "error", "message"]);
    expect(await settingsOf(ada)).toEqual(before);
    expectRefusal(await signIn(again), 401, "BAD_CREDENTIALS");
  });

  test("once per Idempotency-Key", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const account = { email: newEmail(), password: PASSWORD };
    const [first, second] = [await register(account, headers), await register(account, headers)];
    expect(statusAndBody(second)).toEqual(statusAndBody(first));
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expectRefusal(await register({ ...account, name: "Other" }, headers), 409, "IDEMPOTENCY_MISMATCH");
  });

  test("a referral code, in any case, gives both users ten credits once, and its owner a mail", async () => {
    const ada = await joined();
    const { referralCode, email } = await settingsOf(ada);
    await ada.post("/api/auth/verify-email", { token: await mailbox.token(email, "verify-email") });
    const [grace, other] = [visitor(), visitor()];
    for (const one of [grace, other]) {
      const account = { email: newEmail(), password: PASSWORD, referralCode: ` ${referralCode.toUpperCase()} ` };
      expect((await one.post("/api/register", account)).status).toBe(201);
      expectRefusal(await one.post("/api/register", account), 409, "USER_EXISTS");
      await one.post("/api/auth/callback/credentials", account);
      expect(await settingsOf(one)).toMatchObject({ credits: 10 });
    }
    expect(await settingsOf(ada)).toMatchObject({ credits: 20 });
    const links = /verify-email/;
    await eventually(() => mailbox.of(email).filter(({ parsed }) => !links.test(parsed.text ?? "")).length === 2);
  });

  test("a trial starts if the operator grants one", async () => {
    await using generous = await startBerth({ env: { SIGNUP_TRIAL: "starter:7d" } });
    const ada = createClient(generous);
    const before = Date.now();
    await ada.join();
    const subscription = { plan: "starter", status: "trialing", active: true, currentPeriodEnd: isoTime };
    const settings = await settingsOf(ada);
    expect(settings).toEqual(freshUser({ plan: "starter", subscription }));
    const lasts = Date.parse(settings.subscription?.currentPeriodEnd ?? "") - before;
    expect(lasts).toBeWithin(7 * DAY, 7 * DAY + 10_000);
    expect((await ada.post("/api/agents/provision", { name: "First" })).status).toBe(201);
  });
});

describe("POST /api/auth/callback/credentials", () => {
  test("200: the user, and a cookie that is HttpOnly and SameSite", async () => {
    const ada = visitor();
    const { id, email } = await ada.signUp();
    const answer = await signIn({ email: ` ${email.toUpperCase()}`, password: PASSWORD });
    expect(statusAndBody(answer)).toEqual({ status: 200, body: { ok: true, user: { id, email, name: "Ada" } } });
    const [cookie, ...more] = answer.headers.getSetCookie();
    expect(more).toEqual([]);
    expect(cookie).toMatch(/^berth_session=[\w-]+\.[\w-]+\.[\w-]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(answer.text).not.toContain(/=([^;]+)/.exec(cookie ?? "")?.[1] ?? "berth_session");
  });

  test("on https the cookie is bound to the host, and a cookie with the http name is ignored", async () => {
    await using secure = await startBerth({ env: { BASE_URL: "https://berth.example", RATE_LIMITS: "off" } });
    const ada = createClient(secure);
    await ada.signUp();
    const answer = await ada.post("/api/auth/callback/credentials", ada.account);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-berth_session=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax; Secure$/),
    ]);
    expect((await ada.get("/api/settings")).status).toBe(200);
    const headers = { cookie: ada.cookie.replace("__Host-", "") };
    expectRefusal(await createClient(secure).get("/api/settings", { headers }), 401, "UNAUTHORIZED");
    const out = await ada.post("/api/auth/signout");
    expect(out.headers.getSetCookie()).toEqual([
      "__Host-berth_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure",
    ]);
  });

  test.each<[object, string[]]>([
    [{}, ["email", "password"]],
    [{ email: "ada@example.com" }, ["password"]],
    [{ password: PASSWORD }, ["email"]],
    [{ email: "", password: "" }, ["email", "password"]],
    [{ email: 1, password: true }, ["email", "password"]],
    [{ email: "ada@example.com", password: PASSWORD, totp: 123456 }, ["totp"]],
  ])("400 for %j", async (body, fields) => {
    const answer = await signIn(body);
    expectInvalid(answer, fields);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test("401 for a wrong password and for unknown addresses", async () => {
    const ada = visitor();
    const { email } = await ada.signUp();
    for (const body of [
      { email, password: PASSWORD.toUpperCase() },
      { email, password: ` ${PASSWORD}` },
      { email: newEmail(), password: PASSWORD },
      { email: "not an address", password: PASSWORD },
      { email: `0x${"ab".repeat(20)}@wallet.invalid`, password: PASSWORD },
    ]) {
      const answer = await signIn(body);
      expect(Object.keys(expectRefusal(answer, 401, "BAD_CREDENTIALS")).sort()).toEqual(["code", "error", "message"]);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
  });
});

describe("the session", () => {
  test("is null without a cookie and with invalid ones", async () => {
    const signedOut = { status: 200, body: { user: null, expires: null } };
    expect(statusAndBody(await visitor().get("/api/auth/session"))).toEqual(signedOut);
    for (const cookie of ["berth_session=", "berth_session=a.b.c", "other=1; ;;="]) {
      expect(statusAndBody(await visitor().get("/api/auth/session", { headers: { cookie } }))).toEqual(signedOut);
    }
  });

  test("names the user and lasts 30 days", async () => {
    const ada = visitor();
    const { id, email, name } = await ada.signUp();
    const before = Date.now();
    await ada.signIn();
    const answer = await ada.get<{ expires: string }>("/api/auth/session");
    expect(statusAndBody(answer)).toEqual({ status: 200, body: { user: { id, email, name }, expires: isoTime } });
    expect(Date.parse(answer.body.expires) - before).toBeWithin(30 * DAY, 30 * DAY + 10_000);
  });

  test("ends with sign-out, which also succeeds without a session", async () => {
    const ada = await joined();
    const { cookie } = ada;
    const out = await ada.post("/api/auth/signout");
    expect(statusAndBody(out)).toEqual({ status: 200, body: { ok: true } });
    expect(out.headers.getSetCookie()).toEqual(["berth_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"]);
    expectRefusal(await visitor().get("/api/settings", { headers: { cookie } }), 401, "UNAUTHORIZED");
    expect(statusAndBody(await visitor().post("/api/auth/signout"))).toEqual({ status: 200, body: { ok: true } });
  });
});

describe("GET /api/auth/nonce", () => {
  test("200: a new nonce each time, valid for ten minutes", async () => {
    const before = Date.now();
    const ask = () => visitor().get<{ nonce: string; expiresAt: string }>("/api/auth/nonce");
    const [one, other] = [await ask(), await ask()];
    expect(statusAndBody(one)).toEqual({
      status: 200,
      body: { nonce: expect.stringMatching(/^[A-Za-z0-9]{8,}$/), expiresAt: isoTime },
    });
    expect(Date.parse(one.body.expiresAt) - before).toBeWithin(600_000, 610_000);
    expect(one.body.nonce).not.toBe(other.body.nonce);
  });
});

describe("OAuth", () => {
  test.each(["google", "github"])("404 for %s, which is not configured", async (provider) => {
    for (const path of [`oauth/${provider}`, `callback/${provider}?code=x&state=y`]) {
      expectRefusal(await visitor().get(`/api/auth/${path}`), 404, "PROVIDER_NOT_CONFIGURED");
    }
  });

  test("404 for an unknown provider", async () => {
    expectRefusal(await visitor().get("/api/auth/oauth/myspace"), 404);
  });
});

describe("GET /api/settings", () => {
  test("200: every field and no other", async () => {
    const ada = visitor();
    const id = await ada.join();
    const answer = await ada.get("/api/settings");
    expect(statusAndBody(answer)).toEqual({ status: 200, body: freshUser({ id, email: ada.account.email }) });
    await ada.grant("pro", "--days", "3");
    const subscription = { plan: "pro", status: "active", active: true, currentPeriodEnd: isoTime };
    expect(await settingsOf(ada)).toEqual(freshUser({ plan: "pro", subscription }));
  });

  test("401 without a session, and after the user was deleted", async () => {
    expectRefusal(await visitor().get("/api/settings"), 401, "UNAUTHORIZED");
    const ada = await joined();
    const { cookie } = ada;
    expect((await ada.delete("/api/settings", { password: PASSWORD })).status).toBe(200);
    expectRefusal(await visitor().get("/api/settings", { headers: { cookie } }), 401, "UNAUTHORIZED");
  });
});

describe("POST and PATCH /api/settings", () => {
  test("200: the changed user", async () => {
    const ada = await joined();
    const first = await settingsOf(ada);
    expect(statusAndBody(await ada.post("/api/settings", { name: " Ada L. " }))).toEqual({
      status: 200,
      body: { ...first, name: "Ada L." },
    });
    const patched = { ...first, name: "Countess", notifications: { ...first.notifications, agent: false } };
    const patch = { name: "Countess", notifications: { agent: false } };
    expect(statusAndBody(await ada.patch("/api/settings", patch))).toEqual({ status: 200, body: patched });
    const back = { ...patched, notifications: { ...first.notifications, billing: false } };
    const more = { notifications: { agent: true, billing: false } };
    expect(statusAndBody(await ada.patch("/api/settings", more))).toEqual({ status: 200, body: back });
    for (const nothing of [{}, undefined]) {
      expect((await ada.post("/api/settings", nothing)).body).toEqual(back);
      expect((await ada.patch("/api/settings", nothing)).body).toEqual(back);
    }
    expect((await ada.post("/api/settings", { name: "" })).body).toEqual({ ...back, name: first.email });
    expect(await settingsOf(ada)).toEqual({ ...back, name: first.email });
  });

  test("POST ignores notifications, PATCH ignores the email", async () => {
    const ada = await joined();
    const before = await settingsOf(ada);
    expect((await ada.post("/api/settings", { notifications: { agent: false } })).body).toEqual(before);
    expect((await ada.patch("/api/settings", { email: newEmail() })).body).toEqual(before);
  });

  test("a new email is unverified, both addresses get a mail, and links to the old one are invalid", async () => {
    const ada = await joined();
    const old = ada.account.email;
    const verified = await ada.post("/api/auth/verify-email", { token: await mailbox.token(old, "verify-email") });
    expect(statusAndBody(verified)).toEqual({ status: 200, body: { ok: true, email: old } });
    expect(await settingsOf(ada)).toMatchObject({ emailVerified: true });
    await visitor().post("/api/auth/forgot-password", { email: old });
    const reset = await mailbox.token(old, "reset-password");

    const email = newEmail("moved");
    const mails = mailbox.of(old).length;
    const moved = await ada.post<Settings>("/api/settings", { email: ` ${email.toUpperCase()} ` });
    expect(statusAndBody(moved)).toMatchObject({ status: 200, body: { email, emailVerified: false } });
    await eventually(() => mailbox.of(old).length > mails);
    const notice = mailbox.of(old).at(-1)?.parsed.text;
    expect(notice).toContain(email);
    expect(notice).not.toMatch(/token=/);
    expectRefusal(
      await visitor().post("/api/auth/reset-password", { token: reset, password: PASSWORD }),
      400,
      "INVALID_LINK",
    );
    expectRefusal(await signIn({ email: old, password: PASSWORD }), 401, "BAD_CREDENTIALS");
    expect((await signIn({ email, password: PASSWORD })).status).toBe(200);

    const token = await mailbox.token(email, "verify-email");
    expect(statusAndBody(await visitor().post("/api/auth/verify-email", { token }))).toEqual({
      status: 200,
      body: { ok: true, email },
    });
    expect(await settingsOf(ada)).toMatchObject({ email, emailVerified: true });
    expect((await register({ email: old, password: PASSWORD })).status).toBe(201);
  });

  test.each<["post" | "patch", object, string, string]>([
    ...badEmails.map((email): ["post", object, string, string] => ["post", { email }, "email", "INVALID_EMAIL"]),
    ["post", { email: `0x${"ab".repeat(20)}@wallet.invalid` }, "email", "INVALID_EMAIL"],
    ["post", { email: 1 }, "email", "INVALID_INPUT"],
    ["post", { name: 1 }, "name", "INVALID_INPUT"],
    ["post", { name: "two\nlines", email: "new@example.com" }, "name", "INVALID_INPUT"],
    ["patch", { name: "x".repeat(201) }, "name", "INVALID_INPUT"],
    ["patch", { notifications: null }, "notifications", "INVALID_INPUT"],
    ["patch", { notifications: { agent: "yes" } }, "notifications.agent", "INVALID_INPUT"],
    ["patch", { notifications: { agent: false, marketing: true } }, "notifications.marketing", "INVALID_INPUT"],
  ])("%s %j: 400, and nothing changes", async (method, body, field, code) => {
    const ada = await joined();
    const before = await settingsOf(ada);
    expectInvalid(await ada[method]("/api/settings", body), [field], code);
    expect(await settingsOf(ada)).toEqual(before);
  });

  test("401 without a session", async () => {
    expectRefusal(await visitor().post("/api/settings", { name: "Eve" }), 401, "UNAUTHORIZED");
    expectRefusal(await visitor().patch("/api/settings", { name: "Eve" }), 401, "UNAUTHORIZED");
  });

  test("409 for an email in use, also for one of two requests at once", async () => {
    const [ada, grace, eve] = [await joined(), await joined(), await joined()];
    const taken = { name: "Other", email: ada.account.email.toUpperCase() };
    const before = await settingsOf(grace);
    expectRefusal(await grace.post("/api/settings", taken), 409, "EMAIL_IN_USE");
    expect(await settingsOf(grace)).toEqual(before);
    const email = newEmail();
    const answers = await Promise.all([grace, eve].map((one) => one.post("/api/settings", { email })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test("switched-off mails are not sent, except those about the account itself", async () => {
    const ada = await joined();
    const { email } = ada.account;
    const token = await mailbox.token(email, "verify-email");
    // An unverified address gets no further mails: it may belong to someone else.
    expect((await ada.post("/api/keys", { name: "unproven" })).status).toBe(201);
    await ada.post("/api/auth/verify-email", { token });
    await ada.patch("/api/settings", { notifications: { security: false } });
    expect((await ada.post("/api/keys", { name: "unseen" })).status).toBe(201);
    await ada.patch("/api/settings", { notifications: { security: true } });
    expect((await ada.post("/api/keys", { name: "seen" })).status).toBe(201);
    await eventually(() => mailbox.of(email).length === 2);
    expect(mailbox.of(email)[1]?.parsed.text).toContain("seen");
    expect(mailbox.of(email)[1]?.parsed.text).not.toMatch(/unseen|unproven/);
  });
});

describe("email verification", () => {
  test.each<[object, string[]]>([
    [{}, ["token"]],
    [{ token: "" }, ["token"]],
    [{ token: 1 }, ["token"]],
    [{ token: "x".repeat(201) }, ["token"]],
  ])("400 for %j", async (body, fields) => {
    expectInvalid(await visitor().post("/api/auth/verify-email", body), fields);
  });

  test("400 for a link that is of another kind, unknown, used, or replaced", async () => {
    const ada = await joined();
    const { email } = ada.account;
    const verify = (token: string) => visitor().post("/api/auth/verify-email", { token });
    const first = await mailbox.token(email, "verify-email");
    const resent = await ada.post("/api/auth/verify-email/resend");
    expect(statusAndBody(resent)).toEqual({ status: 200, body: { message: expect.any(String) } });
    const second = await mailbox.token(email, "verify-email", 2);
    await visitor().post("/api/auth/forgot-password", { email });
    const other = await mailbox.token(email, "reset-password");
    for (const token of [first, other, "x".repeat(43)]) expectRefusal(await verify(token), 400, "INVALID_LINK");
    expect(await settingsOf(ada)).toMatchObject({ emailVerified: false });
    expect((await verify(second)).status).toBe(200);
    expectRefusal(await verify(second), 400, "INVALID_LINK");
    expect(await settingsOf(ada)).toMatchObject({ emailVerified: true });
  });

  test("resend: 401 without a session, 403 for a key, no mail for a verified address, 400 for a wallet's", async () => {
    const resend = "/api/auth/verify-email/resend";
    expectRefusal(await visitor().post(resend), 401, "UNAUTHORIZED");
    const ada = await joined();
    const { body } = await ada.post<{ key: string }>("/api/keys", { name: "k" });
    const headers = { authorization: `Bearer ${body.key}` };
    expectRefusal(await visitor().post(resend, undefined, { headers }), 403, "SESSION_REQUIRED");
    const { email } = ada.account;
    const token = await mailbox.token(email, "verify-email");
    // The link alone must not verify an account for which another person may hold an API key.
    expectRefusal(await visitor().post("/api/auth/verify-email", { token }), 403, "SIGN_IN_FIRST");
    expect((await ada.post("/api/auth/verify-email", { token })).status).toBe(200);
    expect(statusAndBody(await ada.post(resend))).toEqual({
      status: 200,
      body: { message: expect.stringMatching(/already/) },
    });

    const wallet = createWallet();
    const message = siweMessage(berth.web.replace("127.0.0.1", "localhost"), wallet);
    const owner = visitor();
    const accept = { headers: { accept: "application/json" } };
    const entered = await owner.post(
      "/api/auth/callback/wallet",
      { message, signature: await wallet.sign(message) },
      accept,
    );
    expect(statusAndBody(entered)).toEqual({
      status: 200,
      body: {
        ok: true,
        url: "/",
        user: { id: uuid, email: `${wallet.address.toLowerCase()}@wallet.invalid`, name: expect.any(String) },
      },
    });
    expectRefusal(await owner.post(resend), 400, "NO_EMAIL_ADDRESS");
    expect(mailbox.of(email).filter(({ parsed }) => parsed.text?.includes("verify-email"))).toHaveLength(1);
  });
});

test("429 on every route with its own rate limit, before the body is read", async () => {
  const rates = { "sign-up": "1/h", "sign-in": "1/h", "forgot-password": "1/h", "reset-password": "1/h" };
  await using strict = await startBerth({ env: { RATE_LIMITS: JSON.stringify(rates) } });
  const email = newEmail();
  for (const [path, body, first] of [
    ["/api/register", { email, password: PASSWORD }, 201],
    ["/api/auth/forgot-password", { email }, 200],
    ["/api/auth/reset-password", { token: "x".repeat(43), password: PASSWORD }, 400],
    ["/api/auth/callback/credentials", { email, password: "not the right one" }, 401],
  ] as const) {
    const client = createClient(strict);
    expect((await client.post(path, body)).status).toBe(first);
    expectLimited(await client.post(path, body));
    if (!path.endsWith("credentials")) expectLimited(await client.post(path, {}));
  }
});
