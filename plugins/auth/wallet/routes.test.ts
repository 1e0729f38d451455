// Wallet sign-in over HTTP: accounts of wallets, single use of messages, and the redirect.

import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { insertUser } from "../../../tests/support/records.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import {
  createWallet,
  foreignNonce,
  type SiweFields,
  siweMessage,
  type Wallet,
} from "../../../tests/support/wallets.ts";

const BASE_URL = "https://berth.example";
const json = { headers: { accept: "application/json" } };

let testServer: TestServer;
beforeAll(async () => {
  // Signatures of keys need no chain, so the RPC address may be dead.
  testServer = await openServer({
    env: { BASE_URL, MAINNET_RPC_URL: "http://127.0.0.1:1", SIGNUP_TRIAL: "starter:7d" },
  });
});
afterAll(() => testServer?.[Symbol.asyncDispose]());
afterEach(() => void setSystemTime());

const client = (of: TestServer = testServer) => createClient(of.web);
const signed = async (wallet: Wallet, fields?: SiweFields) => {
  const message = siweMessage(BASE_URL, wallet, fields);
  return { message, signature: await wallet.sign(message) };
};
const send = (body: unknown, options: object = json, from: Client = client()) =>
  from.post<SignedIn>("/api/auth/callback/wallet", body, options);
const count = async (table: string) =>
  Number((await testServer.kernel.database.read(`SELECT count(*) FROM ${table}`)).rows[0]?.[0]);

interface SignedIn {
  ok: true;
  url: string;
  user: { id: string; email: string; name: string };
}

describe("a new wallet", () => {
  test("gets an account without mailbox and password, with the sign-up trial", async () => {
    const wallet = createWallet();
    const ada = client();
    const { status, body } = await send(await signed(wallet), json, ada);
    const email = `${wallet.address.toLowerCase()}@wallet.invalid`;
    const name = `${wallet.address.slice(0, 6)}…${wallet.address.slice(-4)}`;
    expect({ status, body }).toEqual({
      status: 200,
      body: { ok: true, url: "/", user: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), email, name } },
    });
    expect((await ada.get("/api/auth/session")).body).toMatchObject({ user: { id: body.user.id } });
    expect((await ada.get("/api/settings")).body).toMatchObject({
      email,
      plan: "starter",
      emailVerified: false,
      isAdmin: false,
      subscription: { status: "trialing" },
    });
    const { rows } = await testServer.kernel.database.read("SELECT * FROM linked_accounts WHERE user_id = ?", [
      body.user.id,
    ]);
    expect(rows).toEqual([expect.objectContaining({ provider: "wallet", subject: wallet.address.toLowerCase() })]);
    const sql = "SELECT type FROM events WHERE user_id = ?";
    const events = await testServer.kernel.database.read(sql, [body.user.id]);
    expect(events.rows.map(({ type }) => type)).toEqual(["user.created"]);
    const refused = await ada.post("/api/auth/callback/credentials", { email, password: "correct horse battery" });
    expectRefusal(refused, 401, "BAD_CREDENTIALS");
  });

  test("gets mails in the language of the browser", async () => {
    const headers = { "accept-language": "de-AT,de;q=0.9,en;q=0.5", accept: "application/json" };
    const { user } = (await send(await signed(createWallet()), { headers })).body;
    const { rows } = await testServer.kernel.database.read("SELECT locale FROM users WHERE id = ?", [user.id]);
    expect(rows).toEqual([expect.objectContaining({ locale: "de" })]);
  });

  test("gets one account from concurrent sign-ins", async () => {
    const wallet = createWallet();
    const bodies = await Promise.all(Array.from({ length: 8 }, () => signed(wallet)));
    const answers = await Promise.all(bodies.map((body) => send(body)));
    expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.user.id)).size).toBe(1);
  });

  test("can't set fields of its account", async () => {
    const wish = {
      id: "mine",
      plan: "enterprise",
      credits: 9,
      isAdmin: true,
      emailVerified: true,
      email: "a@b.example",
    };
    const ada = client();
    await send({ ...wish, ...(await signed(createWallet())) }, json, ada);
    const { body } = await ada.get("/api/settings");
    expect(body).toMatchObject({ plan: "starter", credits: 0, isAdmin: false, emailVerified: false });
    expect(JSON.stringify(body)).not.toMatch(/mine|b\.example/);
  });
});

describe("a known wallet", () => {
  test("is signed in to its account, also after that has another email address", async () => {
    const wallet = createWallet();
    const ada = client();
    const { user } = (await send(await signed(wallet), json, ada)).body;
    const email = `ada-${foreignNonce()}@example.com`;
    expect((await ada.post("/api/settings", { email, name: "Ada" })).status).toBe(200);
    expect((await send(await signed(wallet))).body.user).toEqual({ id: user.id, email, name: "Ada" });
  });

  test("is linked to the account with its internal address", async () => {
    const wallet = createWallet();
    const email = `${wallet.address.toLowerCase()}@wallet.invalid`;
    const id = await insertUser(testServer.kernel.database, { email, name: "Old" });
    const bodies = await Promise.all([signed(wallet), signed(wallet)]);
    const answers = await Promise.all(bodies.map((body) => send(body)));
    expect(answers.map(({ status, body }) => [status, body.user?.id])).toEqual([
      [200, id],
      [200, id],
    ]);
    expect((await send(await signed(wallet))).body.user).toEqual({ id, email, name: "Old" });
  });

  test("is refused if its account is disabled", async () => {
    const wallet = createWallet();
    const { user } = (await send(await signed(wallet))).body;
    await testServer.kernel.database.write([{ sql: "UPDATE users SET disabled_at = 1 WHERE id = ?", args: [user.id] }]);
    testServer.app.accounts.users.invalidate(user.id);
    const answer = await send(await signed(wallet));
    expectRefusal(answer, 403, "ACCOUNT_DISABLED");
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test("is refused if it was unlinked during the sign-in", async () => {
    const wallet = createWallet();
    const { user } = (await send(await signed(wallet))).body;
    const sessions = await count("auth_sessions");
    // The account is reclaimed right after the signature was checked.
    const unlink = `DELETE FROM linked_accounts WHERE user_id = '${user.id}'`;
    const sql = `CREATE TRIGGER reclaimed AFTER INSERT ON auth_used_once BEGIN ${unlink}; END`;
    await testServer.kernel.database.write([{ sql, args: [] }]);
    const answer = await send(await signed(wallet));
    await testServer.kernel.database.write([{ sql: "DROP TRIGGER reclaimed", args: [] }]);
    expectRefusal(answer, 401, "UNAUTHORIZED");
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(await count("auth_sessions")).toBe(sessions);
  });

  test("needs a code if two-factor is on, and can send it with the same message", async () => {
    const wallet = createWallet();
    const ada = client();
    await send(await signed(wallet), json, ada);
    const started = await ada.post<{ secret: string; recoveryCodes: string[] }>("/api/settings/2fa", {});
    const { secret, recoveryCodes } = started.body;
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    expect((await ada.post("/api/settings/2fa/confirm", { code })).status).toBe(200);

    const proof = await signed(wallet);
    for (const totp of [undefined, "", 7]) {
      const answer = await send({ ...proof, totp });
      expectRefusal(answer, 401, "TOTP_REQUIRED");
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expectRefusal(await send({ ...proof, totp: "000000" }), 401, "INVALID_TOTP");
    expect((await send({ ...proof, totp: recoveryCodes[0] })).status).toBe(200);
    expectRefusal(await send({ ...proof, totp: recoveryCodes[1] }), 401, "INVALID_NONCE");
    expectRefusal(await send({ ...(await signed(wallet)), totp: recoveryCodes[0] }), 401, "INVALID_TOTP");
  });
});

describe("a message works for one sign-in", () => {
  const nonce = async () => (await client().get<{ nonce: string; expiresAt: string }>("/api/auth/nonce")).body;

  test("with an issued nonce, which is not stored before its use", async () => {
    const before = await count("auth_used_once");
    const now = Date.now();
    const answer = await client().get<{ nonce: string; expiresAt: string }>("/api/auth/nonce");
    expect(answer.status).toBe(200);
    expect(answer.body.nonce).toMatch(/^[a-zA-Z0-9]{8,64}$/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(Math.abs(Date.parse(answer.body.expiresAt) - now - 10 * MINUTE)).toBeLessThan(5_000);
    expect(await count("auth_used_once")).toBe(before);

    const wallet = createWallet();
    const proof = await signed(wallet, { nonce: answer.body.nonce });
    expect((await send(proof)).status).toBe(200);
    expectRefusal(await send(proof), 401, "INVALID_NONCE");
    expectRefusal(await send(await signed(wallet, { nonce: answer.body.nonce })), 401, "INVALID_NONCE");
    expectRefusal(await send(await signed(createWallet(), { nonce: answer.body.nonce })), 401, "INVALID_NONCE");
    expect(await count("auth_used_once")).toBe(before + 1);
  });

  test.each(["of the server", "of the client"])(
    "with a nonce %s, also for twenty concurrent requests",
    async (issuer) => {
      const wallet = createWallet();
      const fields = issuer === "of the server" ? { nonce: (await nonce()).nonce } : {};
      for (const known of [false, true]) {
        const before = await count("auth_sessions");
        const proof = await signed(wallet, known ? { nonce: (await nonce()).nonce } : fields);
        const answers = await Promise.all(Array.from({ length: 20 }, () => send(proof)));
        const good = answers.filter(({ status }) => status === 200);
        expect(good).toHaveLength(1);
        for (const answer of answers.filter((answer) => !good.includes(answer))) {
          expectRefusal(answer, 401, "INVALID_NONCE");
          expect(answer.headers.getSetCookie()).toEqual([]);
        }
        expect(await count("auth_sessions")).toBe(before + 1);
      }
    },
  );

  test("within ten minutes", async () => {
    const now = Date.now();
    const wallet = createWallet();
    const at = (ms: number) => new Date(now + ms).toISOString();
    const ours = await signed(wallet, { nonce: (await nonce()).nonce });
    const also = await signed(wallet, { nonce: (await nonce()).nonce, issuedAt: at(10 * MINUTE) });
    const foreign = await signed(wallet, { issuedAt: at(0) });
    const early = await signed(wallet, { issuedAt: at(2 * MINUTE) });
    expectRefusal(await send(early), 401, "INVALID_MESSAGE");
    setSystemTime(now + 9 * MINUTE);
    expect((await send(ours)).status).toBe(200);
    expect((await send(early)).status).toBe(200);
    setSystemTime(now + 10 * MINUTE + 5_000);
    for (const late of [ours, also, foreign]) expectRefusal(await send(late), 401, "INVALID_NONCE");
  });

  test("and is not consumed by an invalid signature", async () => {
    const before = await count("auth_used_once");
    const wallet = createWallet();
    const proof = await signed(wallet);
    const forged = { ...proof, signature: await createWallet().sign(proof.message) };
    // Only the chain could tell whether this is the signature of a contract.
    expectRefusal(await send(forged), 500, "CHAIN_UNAVAILABLE");
    expectRefusal(await send({ ...proof, signature: "0x" }), 401, "INVALID_SIGNATURE");
    expect(await count("auth_used_once")).toBe(before);
    expect((await send(proof)).status).toBe(200);
  });
});

describe("refused requests", () => {
  test.each<[string, (proof: { message: string; signature: string }) => object]>([
    ["nothing", () => ({})],
    ["no message", ({ signature }) => ({ signature })],
    ["no signature", ({ message }) => ({ message })],
    ["an empty message", ({ signature }) => ({ message: "", signature })],
    ["an empty signature", ({ message }) => ({ message, signature: "" })],
    ["null", ({ message }) => ({ message, signature: null })],
    ["a message that is not text", ({ message, signature }) => ({ message: [message], signature })],
    ["a signature that is not text", ({ message }) => ({ message, signature: 7 })],
  ])("%s: 401", async (_, change) => {
    const before = await count("auth_used_once");
    const answer = await send(change(await signed(createWallet())));
    expectRefusal(answer, 401, "SIGNATURE_REQUIRED");
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(await count("auth_used_once")).toBe(before);
  });

  test("wrong domain, chain or time, and a signature of 100 kB", async () => {
    const wallet = createWallet();
    expectRefusal(await send(await signed(wallet, { domain: "evil.example" })), 401, "INVALID_MESSAGE");
    expectRefusal(await send(await signed(wallet, { chainId: 1 })), 401, "INVALID_MESSAGE");
    const past = new Date(Date.now() - MINUTE).toISOString();
    expectRefusal(await send(await signed(wallet, { expirationTime: past })), 401, "INVALID_MESSAGE");
    const { message } = await signed(wallet);
    expectRefusal(await send({ message, signature: `0x${"12".repeat(100_000)}` }), 401, "INVALID_SIGNATURE");
  });

  test("form bodies, and pages of other sites", async () => {
    const proof = await signed(createWallet());
    const form = { headers: { "content-type": "application/x-www-form-urlencoded" } };
    expect((await send(proof, form)).status).toBe(415);
    expect((await send(proof, { headers: { origin: "https://evil.example" } })).status).toBe(403);
    expect((await send(proof, { headers: { origin: BASE_URL, ...json.headers } })).status).toBe(200);
  });

  test("past the limit of failures of one address; successes and other addresses do not count", async () => {
    await using limited = await openServer({
      env: {
        BASE_URL,
        MAINNET_RPC_URL: "http://127.0.0.1:1",
        RATE_LIMITS: '{"sign-in-ip":"3/m"}',
        TRUSTED_PROXIES: "127.0.0.1",
      },
    });
    const from = (address: string) => ({ headers: { "x-forwarded-for": address, ...json.headers } });
    const signInFrom = async (address: string) => send(await signed(createWallet()), from(address), client(limited));
    for (let i = 0; i < 5; i++) expect((await signInFrom("192.0.2.1")).status).toBe(200);
    const failures = await Promise.all(Array.from({ length: 8 }, () => send({}, from("192.0.2.1"), client(limited))));
    expect(failures.map(({ status }) => status).sort()).toEqual([401, 401, 401, 429, 429, 429, 429, 429]);
    expectRefusal(await signInFrom("192.0.2.1"), 429, "RATE_LIMITED");
    expect((await signInFrom("192.0.2.2")).status).toBe(200);
  });
});

test("new wallets count as sign-ups of their address; known wallets and other addresses still sign in", async () => {
  const env = { BASE_URL, RATE_LIMITS: '{"sign-up":"3/h","sign-in-ip":"9/h"}', TRUSTED_PROXIES: "127.0.0.1" };
  await using limited = await openServer({ env });
  const from = (address: string) => ({ headers: { "x-forwarded-for": address, ...json.headers } });
  const signInWith = async (wallet: Wallet, address = "192.0.2.1") =>
    (await send(await signed(wallet), from(address), client(limited))).status;
  const wallets = Array.from({ length: 9 }, createWallet);
  const statuses = await Promise.all(wallets.map((wallet) => signInWith(wallet)));
  expect(statuses.toSorted()).toEqual([200, 200, 200, 429, 429, 429, 429, 429, 429]);
  expect(Number((await limited.kernel.database.read("SELECT count(*) FROM users")).rows[0]?.[0])).toBe(3);
  const known = wallets[statuses.indexOf(200)] ?? createWallet();
  // The refused sign-ups did not count as failures either.
  expect(await Promise.all(wallets.map(() => signInWith(known)))).toEqual(wallets.map(() => 200));
  // A refused message is not consumed.
  const proof = await signed(createWallet());
  expect((await send(proof, from("192.0.2.1"), client(limited))).status).toBe(429);
  expect((await send(proof, from("192.0.2.2"), client(limited))).status).toBe(200);
});

describe("the redirect", () => {
  test.each([
    [undefined, "/"],
    ["/agents?new=1", "/agents?new=1"],
    [`${BASE_URL}/agents`, "/agents"],
    ["https://evil.example", "/"],
    ["//evil.example", "/"],
    ["/\\evil.example", "/"],
    ["/.//evil.example", "/"],
    ["javascript:alert(1)", "/"],
    [7, "/"],
  ])("callbackUrl %p leads to %p", async (callbackUrl, url) => {
    const ada = client();
    const answer = await send({ ...(await signed(createWallet())), callbackUrl }, {}, ada);
    expect({ status: answer.status, to: answer.headers.get("location"), text: answer.text }).toEqual({
      status: 302,
      to: url,
      text: "",
    });
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-berth_session=.*HttpOnly; SameSite=Lax/),
    ]);
    expect((await ada.get("/api/auth/session")).body).not.toMatchObject({ user: null });
    const inJson = await send({ ...(await signed(createWallet())), callbackUrl });
    expect(inJson).toMatchObject({ status: 200, body: { ok: true, url } });
  });

  test.each([
    ["application/json", 200],
    ["Application/JSON; q=0.9", 200],
    ["application/json, text/html", 302],
    ["application/json, */*", 302],
    ["text/html", 302],
    ["*/*", 302],
    ["", 302],
  ])("a request that accepts %p gets %p", async (accept, status) => {
    expect((await send(await signed(createWallet()), { headers: { accept } })).status).toBe(status);
  });

  test("a session of the request is not adopted", async () => {
    const ada = client();
    await send(await signed(createWallet()), json, ada);
    const before = ada.cookie;
    await send(await signed(createWallet()), json, ada);
    expect(ada.cookie).not.toBe(before);
  });
});

test.each([BASE_URL, "http://localhost:3000"])(
  "a wallet never becomes an admin by ADMIN_EMAILS, at %s, not even from this machine",
  async (baseUrl) => {
    const wallet = createWallet();
    const email = `${wallet.address.toLowerCase()}@wallet.invalid`;
    await using other = await openServer({ env: { BASE_URL: baseUrl, ADMIN_EMAILS: email } });
    const ada = client(other);
    const message = siweMessage(baseUrl, wallet);
    const { user } = (await send({ message, signature: await wallet.sign(message) }, json, ada)).body;
    expect(user.email).toBe(email);
    expect((await ada.get("/api/settings")).body).toMatchObject({ email, isAdmin: false });
    const { administration, users } = other.app.accounts;
    await other.kernel.database.write([users.updateStatement(user.id, { emailVerified: true })]);
    expect((await ada.get("/api/settings")).body).toMatchObject({ emailVerified: true, isAdmin: false });
    expect(administration.isAdmin(await administration.byId(user.id))).toBe(false);
    expect(await administration.list({ status: "admin", limit: 9, offset: 0 })).toEqual({ users: [], total: 0 });
  },
);

test("a nonce for an address comes with the whole message, which signs in", async () => {
  const wallet = createWallet();
  const path = (address: string) => `/api/auth/nonce?address=${encodeURIComponent(address)}`;
  const { body } = await client().get<{ message: string; nonce: string }>(path(wallet.address.toLowerCase()));
  expect(body.message).toStartWith("berth.example wants you to sign in with your Ethereum account:\n");
  for (const part of [wallet.address, body.nonce, "Chain ID: 8453", `URI: ${BASE_URL}`])
    expect(body.message).toContain(part);
  const signed = { message: body.message, signature: await wallet.sign(body.message) };
  expect((await send(signed)).status).toBe(200);
  expectRefusal(await send(signed), 401, "INVALID_NONCE");
  expectRefusal(await client().get(path("0x12")), 400, "INVALID_INPUT");
});
