// Two-factor after a provider sign-in: no session starts and nothing is linked before a correct code, sent in time.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { Answer, Client } from "../../../tests/support/client.ts";
import type { Person } from "../../../tests/support/oidc.ts";
import {
  completeAtProvider,
  expectSignedIn,
  newGithubPerson,
  newGooglePerson,
  type OAuthServer,
  openOAuthServer,
  settingsOf,
  signInWith,
} from "../../../tests/support/providers.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";

const password = "correct horse battery";
let server: OAuthServer;
beforeAll(async () => {
  server = await openOAuthServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());
beforeEach(() => server.reset());
afterEach(() => void setSystemTime());

interface Enrolment {
  secret: string;
  recoveryCodes: string[];
}

/** Turns two-factor on; returns the secret and the recovery codes. */
async function enableTwoFactor(client: Client, body: object = {}): Promise<Enrolment> {
  const started = await client.post<Enrolment>("/api/settings/2fa", body);
  const { secret } = started.body;
  expect((await client.post("/api/settings/2fa/confirm", { code: codeOf(secret) })).status).toBe(200);
  return started.body;
}
const codeOf = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret) }).generate();
const send = (client: Client, totp?: string, headers: Record<string, string> = {}) =>
  client.post("/api/auth/two-factor", totp === undefined ? {} : { totp }, { headers });

/** A user without a password, linked to Google, with two-factor on. */
async function linkedUser(
  at: OAuthServer = server,
): Promise<{ id: string; email: string; person: Person } & Enrolment> {
  const person = at.useGooglePerson(newGooglePerson());
  const client = at.browser();
  expectSignedIn(await signInWith(client, "google"));
  return { ...(await settingsOf(client)), person, ...(await enableTwoFactor(client)) };
}

/** A user with a verified address, a password and two-factor on, whose Google account is not linked. */
async function unlinkedUser(): Promise<{ id: string; email: string; local: Client } & Enrolment> {
  const { email } = server.useGooglePerson(newGooglePerson());
  const local = await server.member(email, true);
  return { id: (await settingsOf(local)).id, email, local, ...(await enableTwoFactor(local, { password })) };
}

/** Expects the redirect to the code page, with the cookie of the second step and no session. */
function expectCodePage(answer: Answer): void {
  expect([answer.status, answer.headers.get("location")]).toEqual([302, "/login?step=code"]);
  const [, cookie = "", ...more] = answer.headers.getSetCookie();
  expect(more).toEqual([]);
  expect(cookie).toMatch(
    /^berth_two_factor=[\w.-]{200,4000}; Max-Age=600; Path=\/api\/auth\/two-factor; HttpOnly; SameSite=Lax$/,
  );
}

/** A browser that returned from Google and still has to send the code. */
async function pendingBrowser(query = ""): Promise<Client> {
  const client = server.browser();
  expectCodePage(await signInWith(client, "google", query));
  expectRefusal(await client.get("/api/settings"), 401, "UNAUTHORIZED");
  return client;
}

/** Expects a refusal without any cookie. */
function expectRefused(answer: Answer, code: string): void {
  expectRefusal(answer, 401, code);
  expect(answer.headers.getSetCookie()).toEqual([]);
}

describe("an account with a new, unverified address after a verified one", () => {
  test("is reclaimed by the provider sign-in, but still requires a code", async () => {
    const { id, local, email, recoveryCodes } = await unlinkedUser();
    await server.write(id, "UPDATE users SET email_verified = 0 WHERE id = ?", id);
    const client = await pendingBrowser();
    expect(await server.rows("SELECT email_verified, password_hash FROM users WHERE id = ?", id)).toEqual([
      { email_verified: 1, password_hash: null },
    ]);
    expectRefusal(await local.get("/api/settings"), 401, "UNAUTHORIZED");
    expect((await send(client, recoveryCodes[0])).status).toBe(200);
    expect(await settingsOf(client)).toMatchObject({ id, email, twoFactorEnabled: true });
  });
});

describe("a linked account", () => {
  test("is signed in with a recovery code, and redirected to the callback address", async () => {
    const { id, email, recoveryCodes } = await linkedUser();
    const client = await pendingBrowser("?callbackUrl=/agents%3Fnew=1");
    const { status, body, headers } = await send(client, recoveryCodes[0]);
    expect({ status, body }).toEqual({
      status: 200,
      body: { ok: true, url: "/agents?new=1", user: { id, email, name: "Ada" } },
    });
    expect(headers.getSetCookie()).toEqual([
      "berth_two_factor=; Max-Age=0; Path=/api/auth/two-factor; HttpOnly; SameSite=Lax",
      expect.stringContaining("berth_session="),
    ]);
    expect((await settingsOf(client)).id).toBe(id);
  });

  test("is signed in with a code of the app, although it has no password", async () => {
    const { id, secret } = await linkedUser();
    setSystemTime(Date.now() + MINUTE);
    const client = await pendingBrowser();
    expect((await send(client, codeOf(secret))).status).toBe(200);
    expect((await settingsOf(client)).id).toBe(id);
  });

  test("works with GitHub too, and uses a cookie with the prefix __Host- on https", async () => {
    await using secure = await openOAuthServer({ BASE_URL: "https://berth.example" });
    const client = secure.browser();
    const person = secure.useGithubPerson(newGithubPerson(newGooglePerson().email));
    const answer = await signInWith(client, "github");
    expect(answer.headers.get("set-cookie")).toContain("__Host-berth_session=");
    const { recoveryCodes } = await enableTwoFactor(client);
    secure.useGithubPerson(person);
    const again = secure.browser();
    const redirect = await signInWith(again, "github");
    expect(redirect.headers.getSetCookie()[1]).toMatch(
      /^__Host-berth_two_factor=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect((await send(again, recoveryCodes[0])).status).toBe(200);
    expect((await again.get("/api/settings")).status).toBe(200);
  });
});

describe("an unlinked account with the same address", () => {
  test("is linked by a correct code, not before", async () => {
    const { id, recoveryCodes } = await unlinkedUser();
    const client = await pendingBrowser();
    expect(await server.linksOf(id)).toEqual([]);
    expectRefused(await send(client, "0000-0000-0000-0000"), "INVALID_TOTP");
    expect(await server.linksOf(id)).toEqual([]);
    expect((await send(client, recoveryCodes[0])).status).toBe(200);
    expect(await server.linksOf(id)).toEqual([{ provider: "google", subject: server.google.person?.sub }]);
    expect((await settingsOf(client)).id).toBe(id);
    expectCodePage(await signInWith(server.browser(), "google"));
  });

  test("is not linked if its address has changed, or if the Google account was linked in the meantime", async () => {
    const ada = await unlinkedUser();
    const client = await pendingBrowser();
    await server.write(ada.id, "UPDATE users SET email = ? WHERE id = ?", `moved-${ada.email}`, ada.id);
    expectRefused(await send(client, ada.recoveryCodes[0]), "SIGN_IN_OVER");
    const bob = await unlinkedUser();
    const [first, second] = [await pendingBrowser(), await pendingBrowser()];
    expect((await send(first, bob.recoveryCodes[0])).status).toBe(200);
    expectRefused(await send(second, bob.recoveryCodes[1]), "SIGN_IN_OVER");
    expect(await server.linksOf(ada.id)).toEqual([]);
    expect(await server.linksOf(bob.id)).toHaveLength(1);
  });
});

describe("a code", () => {
  test("that is missing, wrong, used or of another account is refused; the correct one still works", async () => {
    const eve = await linkedUser();
    const ada = await linkedUser();
    const client = await pendingBrowser();
    expectRefused(await send(client), "TOTP_REQUIRED");
    expectRefused(await send(client, ""), "TOTP_REQUIRED");
    for (const code of ["x", "000000", "1".repeat(64), eve.recoveryCodes[0]]) {
      expectRefused(await send(client, code), "INVALID_TOTP");
    }
    // The code that turned two-factor on is used.
    expectRefused(await send(client, codeOf(ada.secret)), "INVALID_TOTP");
    for (const totp of [1, null, {}, "x".repeat(65)]) {
      expectRefusal(await client.post("/api/auth/two-factor", { totp }), 400, "INVALID_INPUT");
    }
    expectRefusal(await client.get("/api/settings"), 401, "UNAUTHORIZED");
    expect((await send(client, ada.recoveryCodes[0])).status).toBe(200);
  });

  test("may be guessed ten times per account and address, in any browser, and thirty times per address", async () => {
    const limits = { RATE_LIMITS: '{"default":"100000/m"}', TRUSTED_PROXIES: "127.0.0.1" };
    await using limited = await openOAuthServer(limits);
    const from = (address: string) => ({ "x-forwarded-for": address });
    const arrive = async () => {
      const client = limited.browser();
      expectCodePage(await signInWith(client, "google"));
      return client;
    };
    const guess = async (address: string) => (await send(await arrive(), "000000", from(address))).status;
    const { recoveryCodes } = await linkedUser(limited);
    const guesses: number[] = [];
    for (let n = 0; n < 12; n++) guesses.push(await guess("203.0.113.1"));
    expect(guesses).toEqual([...Array(10).fill(401), 429, 429]);
    // The owner is not locked out at other addresses, nor here with a recovery code.
    expect(await guess("203.0.113.2")).toBe(401);
    expect((await send(await arrive(), recoveryCodes[0], from("203.0.113.1"))).status).toBe(200);

    // A request without a code is not a guess.
    await linkedUser(limited);
    const client = await arrive();
    for (let n = 0; n < 40; n++) expectRefused(await send(client, undefined, from("198.51.100.1")), "TOTP_REQUIRED");
    const statuses: number[] = [];
    for (let person = 0; person < 4; person++) {
      await linkedUser(limited);
      for (let n = 0; n < 9; n++) statuses.push(await guess("198.51.100.1"));
    }
    expect(statuses).toEqual([...Array(30).fill(401), ...Array(6).fill(429)]);
  });
});

describe("the cookie", () => {
  test("is refused if missing, tampered with, or sealed for another purpose, whatever the code", async () => {
    const { recoveryCodes } = await linkedUser();
    const client = await pendingBrowser();
    const [, sealed = ""] = client.cookie.split("=");
    const other = server.browser();
    await completeAtProvider(other, "google");
    const [, flow = ""] = other.cookie.split("=");
    const cookies = [
      "",
      "berth_two_factor=",
      "berth_two_factor=x",
      `berth_two_factor=${sealed.slice(0, -2)}`,
      `berth_two_factor=${sealed.slice(0, 30)}${sealed[30] === "A" ? "B" : "A"}${sealed.slice(31)}`,
      `berth_two_factor=${flow}`,
      `__Host-berth_two_factor=${sealed}`,
      `berth_session=${sealed}`,
    ];
    for (const cookie of cookies) {
      expectRefused(await send(server.browser(), recoveryCodes[0], { cookie }), "SIGN_IN_OVER");
      expectRefused(await send(server.browser(), undefined, { cookie }), "SIGN_IN_OVER");
    }
    expectRefusal(await client.get("/api/settings", { headers: { cookie: `berth_session=${sealed}` } }), 401);
    const foreign = { origin: "https://evil.example" };
    expectRefusal(await send(client, recoveryCodes[0], foreign), 403, "FOREIGN_ORIGIN");
    expect((await send(client, recoveryCodes[0])).status).toBe(200);
  });

  test("works once, also for ten concurrent valid codes, of which one is consumed", async () => {
    const { id, recoveryCodes } = await linkedUser();
    const client = await pendingBrowser();
    const { cookie } = client;
    const answers = await Promise.all(recoveryCodes.map((code) => send(server.browser(), code, { cookie })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(401)]);
    for (const answer of answers.filter(({ status }) => status === 401)) expectRefused(answer, "SIGN_IN_OVER");
    expect(await server.rows("SELECT 1 FROM recovery_codes WHERE user_id = ?", id)).toHaveLength(9);
    for (const code of recoveryCodes) {
      expect((await send(server.browser(), code, { cookie })).status).toBe(401);
    }
    expect(await server.rows("SELECT 1 FROM recovery_codes WHERE user_id = ?", id)).toHaveLength(9);
  });

  test("expires after ten minutes", async () => {
    const { recoveryCodes } = await linkedUser();
    const client = await pendingBrowser();
    setSystemTime(Date.now() + 10 * MINUTE);
    expectRefused(await send(client, recoveryCodes[0]), "SIGN_IN_OVER");
  });

  const off = ["DELETE FROM two_factor WHERE user_id = ?", "UPDATE users SET two_factor_enabled = 0 WHERE id = ?"];
  test.each([
    ["the password was changed", ["UPDATE users SET password_hash = 'x' WHERE id = ?"]],
    ["the account is disabled", ["UPDATE users SET disabled_at = 1 WHERE id = ?"]],
    ["two-factor was turned off", off],
    [
      "two-factor was turned off and on again",
      ["UPDATE two_factor SET confirmed_at = confirmed_at + 1 WHERE user_id = ?"],
    ],
    ["the provider account was unlinked", ["DELETE FROM linked_accounts WHERE user_id = ?"]],
    ["the account is gone", ["DELETE FROM users WHERE id = ?"]],
  ])("is invalid when %s", async (_, changes) => {
    const { id, recoveryCodes } = await linkedUser();
    const client = await pendingBrowser();
    for (const change of changes) await server.write(id, change, id);
    expectRefused(await send(client, recoveryCodes[0]), "SIGN_IN_OVER");
    expectRefused(await send(client), "SIGN_IN_OVER");
    expect(await server.rows("SELECT 1 FROM auth_sessions WHERE user_id = ?", id)).toHaveLength(
      changes[0]?.includes("FROM users") ? 0 : 1,
    );
  });

  test("is not needed if a stranger turned two-factor on for an unverified address: the reclaim removes it", async () => {
    const { email } = server.useGooglePerson(newGooglePerson());
    const eve = await server.member(email, false);
    await enableTwoFactor(eve, { password });
    const owner = server.browser();
    expectSignedIn(await signInWith(owner, "google"));
    expect(await settingsOf(owner)).toMatchObject({ email, twoFactorEnabled: false });
    expectRefusal(await eve.get("/api/settings"), 401, "UNAUTHORIZED");
  });
});
