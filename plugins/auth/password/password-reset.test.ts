// Password reset: the same response for every address, a link that works once, and the access that ends with it.
import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, spyOn, test } from "bun:test";
import { HOUR } from "../../../src/kernel/util/time.ts";
import { createMember } from "../../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { type Mailbox, openMailbox } from "../../../tests/support/mailbox.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { createOneTimeLinks } from "../one-time-links.ts";

const newPassword = "a new horse battery";

let mailbox: Mailbox;
let server: TestServer;
beforeAll(async () => {
  mailbox = await openMailbox();
  server = await openServer({ env: { SMTP_URL: mailbox.url } });
  await server.kernel.jobs.start();
});
afterEach(() => setSystemTime());
afterAll(async () => {
  await server?.kernel.jobs.stop();
  await server?.[Symbol.asyncDispose]();
  await mailbox?.[Symbol.asyncDispose]();
});

const client = () => createClient(server.web);
const forgot = (email: unknown, more: object = {}, headers: Record<string, string> = {}) =>
  client().post<{ message: string }>("/api/auth/forgot-password", { email, ...more }, { headers });
const reset = (token: unknown, password: unknown = newPassword) =>
  client().post("/api/auth/reset-password", { token, password });
const signIn = (email: string, password: string) =>
  client().post("/api/auth/callback/credentials", { email, password });
const users = () => server.app.accounts.users;
const sql = (text: string, args: string[] = []) => server.kernel.database.write([{ sql: text, args }]);
const mailsTo = (email: string) => mailbox.of(email).map(({ parsed }) => parsed.subject ?? "");
const jobsDone = () =>
  eventually(async () => {
    const { rows } = await server.kernel.database.read(
      "SELECT 1 FROM jobs WHERE kind IN ('auth.forgot-password', 'mail')",
    );
    return rows.length === 0;
  });

async function member(): Promise<{ ada: Client; id: string; email: string }> {
  const { client: ada, ...account } = await createMember(server);
  return { ada, ...account };
}

async function withLink() {
  const account = await member();
  await forgot(account.email);
  return { ...account, token: await mailbox.token(account.email, "reset-password") };
}

describe("requesting a link", () => {
  test("gets the same response for every address, and a mail only if there is an account", async () => {
    const { email } = await member();
    const stranger = `nobody-${crypto.randomUUID()}@example.com`;
    const wallet = `0x${"a".repeat(40)}@wallet.invalid`;
    const answers = [];
    for (const address of [email, stranger, wallet]) answers.push(await forgot(address));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.body).toEqual({ message: expect.any(String) });
    expect(await mailbox.token(email, "reset-password")).toMatch(/^[\w-]{43}$/);
    await jobsDone();
    expect(mailbox.of(stranger)).toEqual([]);
    expect(mailbox.of(wallet)).toEqual([]);
  });

  test("normalises the address", async () => {
    const { email } = await member();
    await forgot(` ${email.toUpperCase()}\n`);
    await mailbox.token(email, "reset-password");
  });

  test("stores neither the address nor the token in clear", async () => {
    const { email } = await member();
    await mailbox.token(email, "verify-email");
    await jobsDone();
    const onDisk = async (table: string) =>
      JSON.stringify((await server.kernel.database.read(`SELECT * FROM ${table}`)).rows);
    await forgot(email);
    const jobs = await onDisk("jobs");
    expect(jobs).toContain("auth.forgot-password");
    expect(jobs).not.toContain(email);
    const token = await mailbox.token(email, "reset-password");
    for (const table of ["jobs", "auth_links", "events"]) expect(await onDisk(table)).not.toContain(token);
  });

  test.each([
    [{}],
    [{ email: "" }],
    [{ email: "ada" }],
    [{ email: "ada@localhost" }],
    [{ email: 1 }],
    [{ email: null }],
    [{ email: ["ada@example.com"] }],
    [{ email: `${"a".repeat(400)}@example.com` }],
  ])("refuses %j with 400", async (body) => {
    const { issues } = expectRefusal(await client().post("/api/auth/forgot-password", body), 400);
    expect(issues?.map(({ path }) => path)).toEqual(["email"]);
  });

  test("refuses bots, whatever the body", async () => {
    const { email } = await member();
    for (const address of [email, "x", undefined]) {
      expectRefusal(await forgot(address, {}, { "user-agent": "Googlebot/2.1" }), 403, "BOT_DETECTED");
      expectRefusal(await forgot(address, { website: "https://spam.example" }), 403, "BOT_DETECTED");
    }
  });

  test("works for accounts without a password, and not for disabled ones", async () => {
    const [oauth, disabled] = [await member(), await member()];
    await server.kernel.database.write([
      users().updateStatement(oauth.id, { passwordHash: null }),
      users().updateStatement(disabled.id, { disabledAt: Date.now() }),
    ]);
    await Promise.all([forgot(oauth.email), forgot(disabled.email)]);
    const token = await mailbox.token(oauth.email, "reset-password");
    expect((await reset(token)).status).toBe(200);
    expect((await signIn(oauth.email, newPassword)).status).toBe(200);
    await jobsDone();
    expect(mailsTo(disabled.email)).toHaveLength(1);
  });

  test("mails in the language of the account", async () => {
    const { id, email } = await member();
    await server.kernel.database.write([users().updateStatement(id, { locale: "de" })]);
    await forgot(email);
    await mailbox.token(email, "reset-password");
    expect(mailbox.of(email).at(-1)?.parsed.html).toContain('lang="de"');
  });
});

describe("rate limits", () => {
  test("apply to requests and to attempts of one address", async () => {
    await using strict = await openServer({ env: { RATE_LIMITS: "on" } });
    const statuses = async (path: string, times: number, body: object) => {
      const all: number[] = [];
      for (let n = 0; n < times; n++) all.push((await createClient(strict.web).post(path, body)).status);
      return all;
    };
    const requests = await statuses("/api/auth/forgot-password", 6, { email: "ada@example.com" });
    expect(requests).toEqual([...Array(5).fill(200), 429]);
    const attempts = await statuses("/api/auth/reset-password", 11, { token: "x", password: newPassword });
    expect(attempts).toEqual([...Array(10).fill(400), 429]);
  });

  test("apply to the mails of one account, over all addresses", async () => {
    const env = { RATE_LIMITS: "on", TRUSTED_PROXIES: "127.0.0.1/32", SMTP_URL: mailbox.url };
    await using strict = await openServer({ env });
    const ada = createClient(strict.web);
    const { email } = await ada.signUp();
    for (let n = 0; n < 8; n++) {
      const headers = { "x-forwarded-for": `203.0.113.${n}` };
      expect((await ada.post("/api/auth/forgot-password", { email }, { headers })).status).toBe(200);
    }
    await strict.kernel.jobs.start();
    await eventually(
      async () =>
        (await strict.kernel.database.read("SELECT 1 FROM jobs WHERE kind IN ('auth.forgot-password', 'mail')")).rows
          .length === 0,
    );
    await strict.kernel.jobs.stop();
    expect(mailsTo(email).filter((subject) => /password/i.test(subject))).toHaveLength(5);
    // Strangers may have made those requests: the owner's own mails have limits of their own.
    await ada.signIn();
    expect((await ada.post("/api/auth/verify-email/resend")).status).toBe(200);
    expect((await ada.post("/api/settings", { email: `new-${email}` })).status).toBe(200);
  });
});

describe("the link", () => {
  test("sets a new password once, and the old one becomes invalid", async () => {
    const { ada, email, token } = await withLink();
    const answer = await reset(token);
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: { message: expect.any(String) },
    });
    expect(answer.headers.getSetCookie()).toEqual([]);
    expectRefusal(await signIn(email, ada.account.password), 401, "BAD_CREDENTIALS");
    expect((await signIn(email, newPassword)).status).toBe(200);
    expectRefusal(await reset(token, "yet another one"), 400, "INVALID_LINK");
    expect((await signIn(email, newPassword)).status).toBe(200);
  });

  test("works for one of twenty concurrent uses, whose password is set", async () => {
    const { email, token } = await withLink();
    const tries = Array.from({ length: 20 }, (_, n) => `password number ${n}`);
    const answers = await Promise.all(tries.map((password) => reset(token, password)));
    const winners = tries.filter((_, n) => answers[n]?.status === 200);
    expect(winners).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 400, "INVALID_LINK");
    expect((await signIn(email, winners[0] ?? "")).status).toBe(200);
  });

  test("is replaced by a newer one", async () => {
    const { email, token } = await withLink();
    await forgot(email);
    const second = await mailbox.token(email, "reset-password", 2);
    expectRefusal(await reset(token), 400, "INVALID_LINK");
    expect((await reset(second)).status).toBe(200);
  });

  test("expires after an hour, and with a change of the address", async () => {
    const { token } = await withLink();
    setSystemTime(Date.now() + HOUR);
    expectRefusal(await reset(token), 400, "INVALID_LINK");
    setSystemTime();
    const other = await withLink();
    await server.kernel.database.write([users().updateStatement(other.id, { email: `moved-${other.email}` })]);
    expectRefusal(await reset(other.token), 400, "INVALID_LINK");
    expect((await signIn(`moved-${other.email}`, other.ada.account.password)).status).toBe(200);
  });

  test("of a disabled account is invalid; of a deleted one it reports that", async () => {
    const disabled = await withLink();
    await server.kernel.database.write([users().updateStatement(disabled.id, { disabledAt: Date.now() })]);
    expectRefusal(await reset(disabled.token), 400, "INVALID_LINK");

    const deleted = await withLink();
    const deleteUser = { sql: "DELETE FROM users WHERE id = ?", args: [deleted.id] };
    await server.kernel.database.write([createOneTimeLinks(server.kernel).orphanStatement(deleted.id), deleteUser]);
    users().invalidate(deleted.id);
    expectRefusal(await reset(deleted.token), 404, "USER_NOT_FOUND");
  });

  test.each([
    [{}, ["token", "password"]],
    [{ token: "x" }, ["password"]],
    [{ password: newPassword }, ["token"]],
    [{ token: "", password: newPassword }, ["token"]],
    [{ token: 1, password: newPassword }, ["token"]],
    [{ token: "x", password: 1 }, ["password"]],
    [{ token: "x", password: "12345" }, ["password"]],
    [{ token: "x", password: "😀😀😀😀😀" }, ["password"]],
    [{ token: "x".repeat(201), password: newPassword }, ["token"]],
    [{ token: "x", password: "x".repeat(1_025) }, ["password"]],
  ])("is refused with 400 for the body %j", async (body, paths) => {
    const { issues } = expectRefusal(await client().post("/api/auth/reset-password", body), 400);
    expect(issues?.map(({ path }) => path)).toEqual(paths);
  });

  test("is not consumed by a password that is too short or too common; six characters are enough", async () => {
    const { email, token } = await withLink();
    expectRefusal(await reset(token, "12345"), 400, "INVALID_PASSWORD");
    for (const common of ["123456", "monkey", "aaaaaa", email.toUpperCase()])
      expectRefusal(await reset(token, common), 400, "PASSWORD_TOO_COMMON");
    expect((await reset(token, "ahoy 6")).status).toBe(200);
    expect((await signIn(email, "ahoy 6")).status).toBe(200);
  });

  test("with an unknown token costs no hashing", async () => {
    const token = "x".repeat(43);
    const hash = spyOn(Bun.password, "hash");
    for (let n = 0; n < 5; n++) expectRefusal(await reset(token), 400, "INVALID_LINK");
    expect(hash).not.toHaveBeenCalled();
    hash.mockRestore();
  });
});

describe("a reset ends", () => {
  test("every session and other links, verifies the address, and mails the owner", async () => {
    const { ada, email, token } = await withLink();
    const other = client();
    await other.post("/api/auth/callback/credentials", { email, password: ada.account.password });
    expect((await other.get("/api/settings")).body).toMatchObject({ emailVerified: false });
    await forgot(email);
    const second = await mailbox.token(email, "reset-password", 2);
    expect((await reset(second)).status).toBe(200);
    for (const caller of [ada, other]) expectRefusal(await caller.get("/api/settings"), 401, "UNAUTHORIZED");
    expectRefusal(await reset(token), 400, "INVALID_LINK");
    await ada.signIn({ password: newPassword });
    expect((await ada.get("/api/settings")).body).toMatchObject({ emailVerified: true });
    await jobsDone();
    expect(mailsTo(email)).toHaveLength(4);
    expect(mailsTo(email).filter((subject) => /changed/i.test(subject))).toHaveLength(1);
    for (const { raw } of mailbox.of(email)) expect(raw).not.toContain(newPassword);
  });

  test("every API key", async () => {
    const { ada, token } = await withLink();
    const { body } = await ada.post<{ key: string }>("/api/keys", { name: "laptop" });
    const headers = { authorization: `Bearer ${body.key}` };
    expect((await client().get("/api/settings", { headers })).status).toBe(200);
    expect((await reset(token)).status).toBe(200);
    expectRefusal(await client().get("/api/settings", { headers }), 401, "UNAUTHORIZED");
  });

  test("two-factor and linked accounts, but only if the address was never verified", async () => {
    const link = (id: string) =>
      sql("INSERT INTO linked_accounts (provider, subject, user_id, created_at) VALUES ('google', ?1, ?1, 0)", [id]);
    const links = async (id: string) =>
      (await server.kernel.database.read("SELECT 1 FROM linked_accounts WHERE user_id = ?", [id])).rows.length;
    const [eve, ada] = [await withLink(), await withLink()];
    for (const { id } of [eve, ada]) {
      await link(id);
      await server.kernel.database.write([users().updateStatement(id, { twoFactorEnabled: true })]);
    }
    await server.kernel.database.write([users().updateStatement(ada.id, { emailVerified: true })]);
    for (const { token } of [eve, ada]) expect((await reset(token)).status).toBe(200);
    expect(await users().byId(eve.id)).toMatchObject({ twoFactorEnabled: false, emailVerified: true });
    expect(await users().byId(ada.id)).toMatchObject({ twoFactorEnabled: true, emailVerified: true });
    expect([await links(eve.id), await links(ada.id)]).toEqual([0, 1]);
  });
});
