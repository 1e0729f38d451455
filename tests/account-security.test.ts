// The HTTP interface of account security on the compiled binary: passwords, two-factor, API keys and sessions.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { expectInvalid, isoTime, newEmail, PASSWORD, settingsOf, statusAndBody, uuid } from "./support/accounts.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { type Mailbox, openMailbox } from "./support/mailbox.ts";
import { expectRefusal } from "./support/refusal.ts";
import { createWallet, siweMessage } from "./support/wallets.ts";

const NEW_PASSWORD = "a better horse battery";

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
const joined = async () => {
  const client = visitor();
  await client.join();
  return client;
};
/** Signs up a user and verifies the address with the mailed link. */
const verified = async () => {
  const client = await joined();
  const token = await mailbox.token(client.account.email, "verify-email");
  expect((await client.post("/api/auth/verify-email", { token })).status).toBe(200);
  return client;
};
const signIn = (email: string, password: string, totp?: string, client = visitor()) =>
  client.post("/api/auth/callback/credentials", { email, password, totp });
const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const texts = (email: string) => mailbox.of(email).map(({ parsed }) => parsed.text ?? "");

/** Signs in a user with a wallet and without a password. */
async function walletOwner(): Promise<Client> {
  const client = visitor();
  const wallet = createWallet();
  const message = siweMessage(berth.web.replace("127.0.0.1", "localhost"), wallet);
  const { status } = await client.post("/api/auth/callback/wallet", { message, signature: await wallet.sign(message) });
  expect(status).toBe(302);
  return client;
}

describe("POST /api/settings/password", () => {
  const change = (client: Client, body: unknown) => client.post("/api/settings/password", body);

  test("200: the caller stays signed in, with a new cookie; the owner gets a mail", async () => {
    const ada = await verified();
    const { email } = ada.account;
    const { cookie } = ada;
    const answer = await change(ada, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD });
    expect(statusAndBody(answer)).toEqual({ status: 200, body: { success: true, message: expect.any(String) } });
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^berth_session=[^;]+; Max-Age=2592000;/)]);
    expect(ada.cookie).not.toBe(cookie);
    expect((await ada.get("/api/settings")).status).toBe(200);
    expectRefusal(await signIn(email, PASSWORD), 401, "BAD_CREDENTIALS");
    expect((await signIn(email, NEW_PASSWORD)).status).toBe(200);
    await eventually(() => texts(email).length === 2);
    expect(texts(email)[1]).not.toMatch(/token=|horse/);
  });

  test.each<[object, string, string]>([
    [{ currentPassword: PASSWORD }, "newPassword", "INVALID_INPUT"],
    [{ currentPassword: PASSWORD, newPassword: 12345678 }, "newPassword", "INVALID_INPUT"],
    [{ currentPassword: 1, newPassword: NEW_PASSWORD }, "currentPassword", "INVALID_INPUT"],
    [{ newPassword: NEW_PASSWORD }, "currentPassword", "INVALID_INPUT"],
    [{ currentPassword: "", newPassword: NEW_PASSWORD }, "currentPassword", "INVALID_INPUT"],
    [{ currentPassword: PASSWORD, newPassword: "1234567" }, "newPassword", "INVALID_PASSWORD"],
    [{ currentPassword: "wrong", newPassword: "1234567" }, "newPassword", "INVALID_PASSWORD"],
    [{ currentPassword: PASSWORD, newPassword: "x".repeat(1025) }, "newPassword", "INVALID_PASSWORD"],
  ])("400 for %j, and the old one stays", async (body, field, code) => {
    const ada = await joined();
    expectInvalid(await change(ada, body), [field], code);
    expect((await signIn(ada.account.email, PASSWORD)).status).toBe(200);
  });

  test("401 without a session, and for a wrong current password", async () => {
    const ada = await joined();
    const good = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
    expectRefusal(await change(visitor(), good), 401, "UNAUTHORIZED");
    const { cookie } = ada;
    expectRefusal(await change(ada, { ...good, currentPassword: NEW_PASSWORD }), 401, "BAD_CREDENTIALS");
    expect(ada.cookie).toBe(cookie);
    expect((await signIn(ada.account.email, PASSWORD)).status).toBe(200);
  });

  test("a wallet user sets the account's first password", async () => {
    const owner = await walletOwner();
    const email = newEmail();
    await owner.post("/api/settings", { email });
    expectInvalid(await change(owner, { newPassword: "short" }), ["newPassword"], "INVALID_PASSWORD");
    expect((await change(owner, { newPassword: NEW_PASSWORD })).status).toBe(200);
    expectInvalid(await change(owner, { newPassword: PASSWORD }), ["currentPassword"]);
    expect((await signIn(email, NEW_PASSWORD)).status).toBe(200);
  });
});

describe("POST /api/auth/forgot-password", () => {
  const forgot = (body: unknown, headers = {}) => visitor().post("/api/auth/forgot-password", body, { headers });

  test.each<[object, string]>([
    [{}, "INVALID_INPUT"],
    [{ email: 1 }, "INVALID_INPUT"],
    [{ email: null }, "INVALID_INPUT"],
    [{ email: "" }, "INVALID_EMAIL"],
    [{ email: "ada" }, "INVALID_EMAIL"],
    [{ email: "ada@example" }, "INVALID_EMAIL"],
    [{ email: "a@example.com, b@example.com" }, "INVALID_EMAIL"],
    [{ email: "a@example.com\r\nBcc: b@example.com" }, "INVALID_EMAIL"],
    [{ email: `${"a".repeat(243)}@example.com` }, "INVALID_EMAIL"],
  ])("400 for %j", async (body, code) => {
    expectInvalid(await forgot(body), ["email"], code);
  });

  test("403 for robots", async () => {
    const email = newEmail();
    expectRefusal(await forgot({ email }, { "user-agent": "Googlebot/2.1" }), 403, "BOT_DETECTED");
    expectRefusal(await forgot({ email, website: "x" }), 403, "BOT_DETECTED");
  });

  test("200, the same for every address; a mail only for an account with a mailbox", async () => {
    const ada = await joined();
    const { email } = ada.account;
    const owner = await walletOwner();
    const unknownEmail = newEmail();
    const { email: wallets } = await settingsOf(owner);
    const answers = [];
    for (const one of [email, unknownEmail, wallets, ` ${email.toUpperCase()} `])
      answers.push(statusAndBody(await forgot({ email: one })));
    expect(answers).toEqual(Array(4).fill({ status: 200, body: { message: expect.any(String) } }));
    await mailbox.token(email, "reset-password", 2);
    expect([mailbox.of(unknownEmail), mailbox.of(wallets)]).toEqual([[], []]);
    const link = /https?:\/\/\S+/.exec(texts(email)[1] ?? "")?.[0];
    expect(link).toMatch(/^http:\/\/localhost:\d+\/reset-password\?token=[\w-]{43}$/);
  });
});

describe("POST /api/auth/reset-password", () => {
  const reset = (body: unknown) => visitor().post("/api/auth/reset-password", body);
  const unknown = "x".repeat(43);

  test.each<[object, string[], string]>([
    [{}, ["password", "token"], "INVALID_INPUT"],
    [{ token: unknown }, ["password"], "INVALID_INPUT"],
    [{ password: NEW_PASSWORD }, ["token"], "INVALID_INPUT"],
    [{ token: "", password: NEW_PASSWORD }, ["token"], "INVALID_INPUT"],
    [{ token: 1, password: 123456 }, ["password", "token"], "INVALID_INPUT"],
    [{ token: unknown, password: "12345" }, ["password"], "INVALID_PASSWORD"],
    [{ token: unknown, password: "x".repeat(1025) }, ["password"], "INVALID_PASSWORD"],
  ])("400 for %j", async (body, fields, code) => {
    expectInvalid(await reset(body), fields, code);
  });

  test("200 with the link from the mail and 6 characters, once; it verifies the address", async () => {
    const ada = await joined();
    const { email } = ada.account;
    await visitor().post("/api/auth/forgot-password", { email });
    const token = await mailbox.token(email, "reset-password");
    expectInvalid(await reset({ token, password: "12345" }), ["password"], "INVALID_PASSWORD");
    expectRefusal(await reset({ token: unknown, password: "ahoy 6" }), 400, "INVALID_LINK");
    const answer = await reset({ token, password: "ahoy 6" });
    expect(statusAndBody(answer)).toEqual({ status: 200, body: { message: expect.any(String) } });
    expect(answer.headers.getSetCookie()).toEqual([]);
    const again = await reset({ token, password: "another one" });
    expect(Object.keys(expectRefusal(again, 400, "INVALID_LINK")).sort()).toEqual(["code", "error", "message"]);
    await signIn(email, "ahoy 6", undefined, ada);
    expect(await settingsOf(ada)).toMatchObject({ emailVerified: true });
  });

  test("404 after the user was deleted", async () => {
    const ada = await joined();
    const { email } = ada.account;
    await visitor().post("/api/auth/forgot-password", { email });
    const token = await mailbox.token(email, "reset-password");
    expect((await ada.delete("/api/settings", { password: PASSWORD })).status).toBe(200);
    expectRefusal(await reset({ token, password: NEW_PASSWORD }), 404, "USER_NOT_FOUND");
  });
});

describe("two-factor", () => {
  interface Enrolment {
    secret: string;
    otpauthUrl: string;
    recoveryCodes: string[];
  }
  const begin = (client: Client, body: unknown, headers = {}) =>
    client.post<Enrolment>("/api/settings/2fa", body, { headers });
  const confirm = (client: Client, code: unknown) => client.post("/api/settings/2fa/confirm", { code });
  const off = (client: Client, body: unknown) => client.delete("/api/settings/2fa", body);
  /** The TOTP code of now, or of `step` time steps later. */
  const codeOf = (secret: string, step = 0) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + step * 30_000 });
  const wrong = (secret: string) => String((Number(codeOf(secret)) + 1) % 1_000_000).padStart(6, "0");
  const on = async () => {
    const ada = await joined();
    const { body } = await begin(ada, { password: PASSWORD });
    expect((await confirm(ada, codeOf(body.secret, -1))).status).toBe(200);
    return { ada, email: ada.account.email, ...body };
  };

  test("starts with a secret and ten recovery codes, and is on after a first code", async () => {
    const ada = await verified();
    const { email } = ada.account;
    const begun = await begin(ada, { password: PASSWORD });
    expect(statusAndBody(begun)).toEqual({
      status: 200,
      body: {
        secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
        otpauthUrl: expect.stringContaining(`secret=${begun.body.secret}`),
        recoveryCodes: Array(10).fill(expect.stringMatching(/^[0-9a-z]{4}(?:-[0-9a-z]{4}){3}$/)),
      },
    });
    expect(new Set(begun.body.recoveryCodes).size).toBe(10);
    expect(URL.parse(begun.body.otpauthUrl)).toMatchObject({ protocol: "otpauth:", host: "totp" });
    expect(await settingsOf(ada)).toMatchObject({ twoFactorEnabled: false });
    expect((await signIn(email, PASSWORD)).status).toBe(200);

    expectRefusal(await confirm(ada, wrong(begun.body.secret)), 400, "INVALID_CODE");
    const answer = await confirm(ada, codeOf(begun.body.secret));
    expect(statusAndBody(answer)).toEqual({ status: 200, body: { success: true, twoFactorEnabled: true } });
    expect(await settingsOf(ada)).toMatchObject({ twoFactorEnabled: true });
    await eventually(() => texts(email).length === 2);
    expect(texts(email)[1]).not.toContain(begun.body.secret);
  });

  test("at sign-in: 401 without a code; each code works once, recovery codes too", async () => {
    const { email, secret, recoveryCodes } = await on();
    const [recovery = "", second = ""] = recoveryCodes;
    const needed = await signIn(email, PASSWORD);
    expect(Object.keys(expectRefusal(needed, 401, "TOTP_REQUIRED")).sort()).toEqual(["code", "error", "message"]);
    expect(needed.headers.getSetCookie()).toEqual([]);
    expectRefusal(await signIn(email, "wrong password", codeOf(secret)), 401, "BAD_CREDENTIALS");
    for (const code of [wrong(secret), "123", "abcd-efgh-jkmn-pqrs"]) {
      expectRefusal(await signIn(email, PASSWORD, code), 401, "INVALID_TOTP");
    }
    const code = codeOf(secret);
    const crowd = await Promise.all(Array.from({ length: 10 }, () => signIn(email, PASSWORD, code)));
    expect(crowd.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of crowd.filter(({ status }) => status !== 200)) expectRefusal(answer, 401, "INVALID_TOTP");
    expect((await signIn(email, PASSWORD, recovery)).status).toBe(200);
    expectRefusal(await signIn(email, PASSWORD, recovery), 401, "INVALID_TOTP");
    expect((await signIn(email, PASSWORD, ` ${second.toUpperCase().replaceAll("-", " ")}`)).status).toBe(200);
  });

  test("off: with password and code, or a recovery code", async () => {
    const { ada, email, secret, recoveryCodes } = await on();
    const [recovery = ""] = recoveryCodes;
    expectInvalid(await off(ada, { code: recovery }), ["password"]);
    expectInvalid(await off(ada, { password: PASSWORD }), ["code"]);
    expectRefusal(await off(ada, { password: "wrong password", code: recovery }), 401, "BAD_CREDENTIALS");
    expectRefusal(await off(ada, { password: PASSWORD, code: wrong(secret) }), 400, "INVALID_CODE");
    expect(await settingsOf(ada)).toMatchObject({ twoFactorEnabled: true });
    const answer = await off(ada, { password: PASSWORD, code: recovery });
    expect(statusAndBody(answer)).toEqual({ status: 200, body: { success: true, twoFactorEnabled: false } });
    expect(await settingsOf(ada)).toMatchObject({ twoFactorEnabled: false });
    expect((await signIn(email, PASSWORD)).status).toBe(200);
    expectRefusal(await off(ada, { password: PASSWORD, code: codeOf(secret) }), 400, "TWO_FACTOR_OFF");
  });

  test("400, 401 and 409 of its beginning", async () => {
    const ada = await joined();
    for (const answer of [await begin(visitor(), { password: PASSWORD }), await confirm(visitor(), "123456")]) {
      expectRefusal(answer, 401, "UNAUTHORIZED");
    }
    expectRefusal(await off(visitor(), { password: PASSWORD, code: "123456" }), 401, "UNAUTHORIZED");
    expectInvalid(await begin(ada, {}), ["password"]);
    expectInvalid(await begin(ada, { password: 1 }), ["password"]);
    expectRefusal(await begin(ada, { password: "wrong password" }), 401, "BAD_CREDENTIALS");
    expectRefusal(await confirm(ada, "123456"), 400, "TWO_FACTOR_NOT_BEGUN");
    for (const code of [undefined, "", 123456, "1".repeat(65)]) expectInvalid(await confirm(ada, code), ["code"]);
    const { ada: grace, secret } = await on();
    expectRefusal(await begin(grace, { password: PASSWORD }), 409, "TWO_FACTOR_ON");
    expectRefusal(await confirm(grace, codeOf(secret)), 409, "TWO_FACTOR_ON");
  });

  test("a replayed beginning shows no secret", async () => {
    const ada = await joined();
    const headers = { "idempotency-key": crypto.randomUUID() };
    const first = await begin(ada, { password: PASSWORD }, headers);
    const again = await begin(ada, { password: PASSWORD }, headers);
    expect(statusAndBody(again)).toEqual({
      status: 200,
      body: { secret: null, otpauthUrl: null, recoveryCodes: null },
    });
    expect((await confirm(ada, codeOf(first.body.secret))).status).toBe(200);
  });

  test("an account without a password needs none, right after its sign-in", async () => {
    const owner = await walletOwner();
    const { status, body } = await begin(owner, undefined);
    expect(status).toBe(200);
    expect((await confirm(owner, codeOf(body.secret))).status).toBe(200);
    expect((await off(owner, { code: body.recoveryCodes[0] })).status).toBe(200);
  });
});

describe("API keys", () => {
  interface Key {
    id: string;
    key: string;
    expiresAt: string | null;
  }
  const make = (client: Client, body: unknown, headers = {}) => client.post<Key>("/api/keys", body, { headers });
  const keysOf = async (client: Client) => (await client.get<{ keys: object[]; count: number }>("/api/keys")).body;

  test("201: shown this once; then in the list without itself, until it is ended", async () => {
    const ada = await verified();
    expect(statusAndBody(await ada.get("/api/keys"))).toEqual({ status: 200, body: { keys: [], count: 0 } });
    const made = await make(ada, { name: " CI " });
    const { id, key } = made.body;
    const item = { id: uuid, name: "CI", scopes: ["read", "write", "chat"], expiresAt: null, createdAt: isoTime };
    expect(statusAndBody(made)).toEqual({
      status: 201,
      body: { ...item, key: expect.stringMatching(/^bk_[\w-]{43}$/) },
    });
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const reader = await make(ada, { name: "reader", scopes: ["read", "read"], expiresAt });
    expect(reader.body).toMatchObject({ scopes: ["read"], expiresAt });

    const list = await keysOf(ada);
    expect(list).toEqual({
      keys: [
        { ...item, name: "reader", scopes: ["read"], expiresAt, prefix: expect.any(String), lastUsedAt: null },
        { ...item, id, prefix: expect.stringMatching(/^bk_[\w-]{2,9}$/), lastUsedAt: null },
      ],
      count: 2,
    });
    expect(key).toStartWith(Object.assign({ prefix: "none" }, list.keys[1]).prefix);
    expect(JSON.stringify(list)).not.toContain(key);
    await eventually(() => texts(ada.account.email).length === 3);
    expect(texts(ada.account.email).join()).not.toContain(key);

    expect((await visitor().get("/api/settings", withKey(key))).body).toEqual(await settingsOf(ada));
    // The time of use is written after a delay, or when the service stops.
    await berth.restart();
    expect((await keysOf(ada)).keys[1]).toMatchObject({ lastUsedAt: isoTime });
    expect((await visitor().get("/api/settings", withKey(key))).status).toBe(200);
    expect(statusAndBody(await ada.delete(`/api/keys/${id}`))).toEqual({ status: 200, body: { success: true, id } });
    expectRefusal(await visitor().get("/api/settings", withKey(key)), 401, "UNAUTHORIZED");
    expectRefusal(await ada.delete(`/api/keys/${id}`), 404, "KEY_NOT_FOUND");
    expect(await keysOf(ada)).toMatchObject({ count: 1 });
  });

  test.each<[object, string[]]>([
    [{}, ["name"]],
    [{ name: "" }, ["name"]],
    [{ name: 1 }, ["name"]],
    [{ name: "two\nlines" }, ["name"]],
    [{ name: "x".repeat(201) }, ["name"]],
    [{ name: "k", scopes: [] }, ["scopes"]],
    [{ name: "k", scopes: ["root"] }, ["scopes.0"]],
    [{ name: "k", expiresAt: "soon" }, ["expiresAt"]],
    [{ name: "k", expiresAt: "2020-01-01T00:00:00Z" }, ["expiresAt"]],
    [{ name: "k", expiresAt: 1 }, ["expiresAt"]],
  ])("400 for %j", async (body, fields) => {
    const ada = await joined();
    expectInvalid(await make(ada, body), fields);
    expect(await keysOf(ada)).toEqual({ keys: [], count: 0 });
  });

  test("revoking another user's key is 404", async () => {
    const [ada, eve] = [await joined(), await joined()];
    const { id, key } = (await make(ada, { name: "mine" })).body;
    expectRefusal(await eve.delete(`/api/keys/${id}`), 404, "KEY_NOT_FOUND");
    expect((await visitor().get("/api/settings", withKey(key))).status).toBe(200);
  });

  test("a replayed response has null in place of the key", async () => {
    const ada = await joined();
    const headers = { "idempotency-key": crypto.randomUUID() };
    const first = await make(ada, { name: "once" }, headers);
    const again = await make(ada, { name: "once" }, headers);
    expect(statusAndBody(again)).toEqual({ status: 201, body: { ...first.body, key: null } });
    expect(await keysOf(ada)).toMatchObject({ count: 1 });
    expectRefusal(await make(ada, { name: "other" }, headers), 409, "IDEMPOTENCY_MISMATCH");
  });

  test("a key stops working when it expires", async () => {
    const ada = await joined();
    const { key } = (await make(ada, { name: "short", expiresAt: new Date(Date.now() + 400).toISOString() })).body;
    expect((await visitor().get("/api/settings", withKey(key))).status).toBe(200);
    await eventually(async () => (await visitor().get("/api/settings", withKey(key))).status === 401);
    expect(await keysOf(ada)).toMatchObject({ count: 1 });
  });

  test("409 for the fifty-first key", async () => {
    const ada = await joined();
    const answers = await Promise.all(Array.from({ length: 55 }, (_, n) => make(ada, { name: `key ${n}` })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
    for (const answer of answers.filter(({ status }) => status !== 201)) expectRefusal(answer, 409, "TOO_MANY_KEYS");
  });

  test("each scope opens its own routes; none opens the security of the account", async () => {
    const ada = await joined();
    await ada.grant("pro");
    const keyFor = async (...scopes: string[]) => (await make(ada, { name: scopes.join(), scopes })).body.key;
    const [read, write, chat] = [await keyFor("read"), await keyFor("write"), await keyFor("chat")];
    const all = (await make(ada, { name: "all" })).body.key;
    const asks: [
      string,
      (key: string) => Promise<{ status: number; text: string; headers: Headers; body: unknown }>,
    ][] = [
      [read, (key) => visitor().get("/api/settings", withKey(key))],
      [write, (key) => visitor().post("/api/agents", { name: "By key" }, withKey(key))],
      [chat, (key) => visitor().post("/api/chat", { message: "Hello" }, withKey(key))],
    ];
    for (const [right, ask] of asks) {
      for (const other of [read, write, chat].filter((key) => key !== right)) {
        expectRefusal(await ask(other), 403, "MISSING_SCOPE");
      }
      for (const key of [right, all]) expect((await ask(key)).status).toBeLessThan(300);
    }
    const closed: [string, string, object?][] = [
      ["POST", "/api/settings/password", { currentPassword: PASSWORD, newPassword: NEW_PASSWORD }],
      ["POST", "/api/settings", { email: newEmail() }],
      ["DELETE", "/api/settings", { password: PASSWORD }],
      ["POST", "/api/settings/2fa", { password: PASSWORD }],
      ["POST", "/api/settings/2fa/confirm", { code: "123456" }],
      ["DELETE", "/api/settings/2fa", { password: PASSWORD, code: "123456" }],
      ["POST", "/api/keys", { name: "another" }],
      ["GET", "/api/keys"],
      ["DELETE", "/api/keys/x"],
      ["GET", "/api/auth/sessions"],
      ["DELETE", "/api/auth/sessions"],
      ["DELETE", "/api/auth/sessions/x"],
      ["POST", "/api/auth/verify-email/resend"],
    ];
    const before = await settingsOf(ada);
    for (const [method, path, body] of closed) {
      const headers = { authorization: `Bearer ${all}`, cookie: ada.cookie };
      const response = await visitor().fetch(method, path, body, { headers });
      const answer = { status: response.status, headers: response.headers, body: await response.text() };
      expectRefusal(answer, 403, "SESSION_REQUIRED");
    }
    expect(await settingsOf(ada)).toEqual(before);
    expect(statusAndBody(await visitor().get("/api/auth/session", withKey(all)))).toEqual({
      status: 200,
      body: { user: null, expires: null },
    });
  });
});

describe("sessions", () => {
  interface Item {
    id: string;
    current: boolean;
  }
  const sessionsOf = (client: Client) => client.get<{ sessions: Item[]; count: number }>("/api/auth/sessions");

  test("are listed, newest first, and ended one by one or all others at once", async () => {
    const first = await joined();
    const { email } = first.account;
    const [second, third] = [visitor(), visitor()];
    const headers = { "user-agent": "Mozilla/5.0 (elsewhere)" };
    for (const one of [second, third]) {
      await one.post("/api/auth/callback/credentials", { email, password: PASSWORD }, { headers });
    }
    const item = (current: boolean, userAgent: string) => ({
      id: uuid,
      current,
      createdAt: isoTime,
      lastUsedAt: isoTime,
      expiresAt: isoTime,
      address: "127.0.0.1",
      userAgent,
      label: "",
    });
    const list = await sessionsOf(first);
    const elsewhere = item(false, "Mozilla/5.0 (elsewhere)");
    expect(statusAndBody(list)).toEqual({
      status: 200,
      body: { sessions: [elsewhere, elsewhere, item(true, "berth-tests/1.0")], count: 3 },
    });

    const [newest, , own] = list.body.sessions;
    const ended = await first.delete(`/api/auth/sessions/${newest?.id}`);
    expect(statusAndBody(ended)).toEqual({ status: 200, body: { success: true, id: newest?.id, deleted: true } });
    expectRefusal(await third.get("/api/settings"), 401, "UNAUTHORIZED");
    expect((await second.get("/api/settings")).status).toBe(200);
    expectRefusal(await first.delete(`/api/auth/sessions/${newest?.id}`), 404, "SESSION_NOT_FOUND");

    const eve = await joined();
    expectRefusal(await eve.delete(`/api/auth/sessions/${own?.id}`), 404, "SESSION_NOT_FOUND");
    expect(statusAndBody(await eve.delete("/api/auth/sessions"))).toEqual({
      status: 200,
      body: { success: true, count: 0 },
    });
    expect(statusAndBody(await first.delete("/api/auth/sessions"))).toEqual({
      status: 200,
      body: { success: true, count: 1 },
    });
    expectRefusal(await second.get("/api/settings"), 401, "UNAUTHORIZED");

    const last = await first.delete(`/api/auth/sessions/${own?.id}`);
    expect(last.headers.getSetCookie()).toEqual(["berth_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"]);
    expect(first.cookie).toBe("");
  });

  test("401 without a session", async () => {
    expectRefusal(await sessionsOf(visitor()), 401, "UNAUTHORIZED");
    expectRefusal(await visitor().delete("/api/auth/sessions"), 401, "UNAUTHORIZED");
    expectRefusal(await visitor().delete("/api/auth/sessions/x"), 401, "UNAUTHORIZED");
  });
});

describe("DELETE /api/settings", () => {
  test("400 without the password, 401 for a wrong one or no session, and the account stays", async () => {
    const ada = await joined();
    const before = await settingsOf(ada);
    const remove = (client: Client, body?: unknown) => client.delete("/api/settings", body);
    expectInvalid(await remove(ada), ["password"]);
    expectInvalid(await remove(ada, { password: "" }), ["password"]);
    expectInvalid(await remove(ada, { password: 1 }), ["password"]);
    expectRefusal(await remove(ada, { password: "wrong password" }), 401, "BAD_CREDENTIALS");
    expectRefusal(await remove(visitor(), { password: PASSWORD }), 401, "UNAUTHORIZED");
    expect(await settingsOf(ada)).toEqual(before);
  });

  test("a wallet user needs no password right after the sign-in", async () => {
    const owner = await walletOwner();
    const answer = await owner.delete("/api/settings");
    expect(statusAndBody(answer)).toEqual({ status: 200, body: { success: true, message: expect.any(String) } });
    expect(owner.cookie).toBe("");
  });
});
