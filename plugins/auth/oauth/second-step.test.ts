// Two-factor after a provider's sign-in: nobody is signed in, and nothing linked, before the right code, brought once and in time.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import type { Answer, Client } from "../../../tests/support/client.ts";
import type { Person } from "../../../tests/support/oidc.ts";
import {
  developer,
  expectSignedIn,
  leave,
  type OAuthHouse,
  openOAuthHouse,
  settingsOf,
  signInWith,
  stranger,
} from "../../../tests/support/providers.ts";
import { expectRefusal } from "../../../tests/support/scene.ts";

const MINUTE = 60_000;
const password = "correct horse battery";
let house: OAuthHouse;
beforeAll(async () => {
  house = await openOAuthHouse();
});
afterAll(() => house?.[Symbol.asyncDispose]());
beforeEach(() => house.calm());
afterEach(() => void setSystemTime());

interface Enrolment {
  secret: string;
  recoveryCodes: string[];
}

/** Turns two-factor on and gives what the owner keeps then. */
async function turnOn(client: Client, body: object = {}): Promise<Enrolment> {
  const begun = await client.post<Enrolment>("/api/settings/2fa", body);
  const { secret } = begun.body;
  expect((await client.post("/api/settings/2fa/confirm", { code: codeOf(secret) })).status).toBe(200);
  return begun.body;
}
const codeOf = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret) }).generate();
const send = (client: Client, totp?: string, headers: Record<string, string> = {}) =>
  client.post("/api/auth/two-factor", totp === undefined ? {} : { totp }, { headers });

/** Somebody without a password, linked to Google, with two-factor on. */
async function linked(at: OAuthHouse = house): Promise<{ id: string; email: string; person: Person } & Enrolment> {
  const person = at.atGoogle(stranger());
  const client = at.browser();
  expectSignedIn(await signInWith(client, "google"));
  return { ...(await settingsOf(client)), person, ...(await turnOn(client)) };
}

/** Somebody with a verified address and a password, with two-factor on, whom Google knows and Berth does not know of. */
async function unlinked(): Promise<{ id: string; email: string; local: Client } & Enrolment> {
  const { email } = house.atGoogle(stranger());
  const local = await house.member(email, true);
  return { id: (await settingsOf(local)).id, email, local, ...(await turnOn(local, { password })) };
}

/** Sent on to where the code is asked for, with a cookie for it and no session. */
function expectAsked(answer: Answer): void {
  expect([answer.status, answer.headers.get("location")]).toEqual([302, "/login?step=code"]);
  const [, cookie = "", ...more] = answer.headers.getSetCookie();
  expect(more).toEqual([]);
  expect(cookie).toMatch(
    /^berth_two_factor=[\w.-]{200,4000}; Max-Age=600; Path=\/api\/auth\/two-factor; HttpOnly; SameSite=Lax$/,
  );
}

/** A browser that came back from Google, and is asked for the code. */
async function waiting(query = ""): Promise<Client> {
  const client = house.browser();
  expectAsked(await signInWith(client, "google", query));
  expectRefusal(await client.get("/api/settings"), 401, "UNAUTHORIZED");
  return client;
}

/** Refused, and nobody is signed in. */
function expectRefused(answer: Answer, code: string): void {
  expectRefusal(answer, 401, code);
  expect(answer.headers.getSetCookie()).toEqual([]);
}

describe("an account whose address was verified once, but not the one it has now", () => {
  test("is its owner's by the provider's word, but entered with a code alone", async () => {
    const { id, local, email, recoveryCodes } = await unlinked();
    await house.write(id, "UPDATE users SET email_verified = 0 WHERE id = ?", id);
    const client = await waiting();
    expect(await house.rows("SELECT email_verified, password_hash FROM users WHERE id = ?", id)).toEqual([
      { email_verified: 1, password_hash: null },
    ]);
    expectRefusal(await local.get("/api/settings"), 401, "UNAUTHORIZED");
    expect((await send(client, recoveryCodes[0])).status).toBe(200);
    expect(await settingsOf(client)).toMatchObject({ id, email, twoFactorEnabled: true });
  });
});

describe("an account that is linked", () => {
  test("is entered with a recovery code, on to where the visitor was going", async () => {
    const { id, email, recoveryCodes } = await linked();
    const client = await waiting("?callbackUrl=/agents%3Fnew=1");
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

  test("is entered with a code of the app, although it has no password", async () => {
    const { id, secret } = await linked();
    setSystemTime(Date.now() + MINUTE);
    const client = await waiting();
    expect((await send(client, codeOf(secret))).status).toBe(200);
    expect((await settingsOf(client)).id).toBe(id);
  });

  test("is entered by GitHub likewise, and on https by a cookie that no other host can plant", async () => {
    await using secure = await openOAuthHouse({ BASE_URL: "https://berth.example" });
    const client = secure.browser();
    const person = secure.atGithub(developer(stranger().email));
    const answer = await signInWith(client, "github");
    expect(answer.headers.get("set-cookie")).toContain("__Host-berth_session=");
    const { recoveryCodes } = await turnOn(client);
    secure.atGithub(person);
    const again = secure.browser();
    const asked = await signInWith(again, "github");
    expect(asked.headers.getSetCookie()[1]).toMatch(
      /^__Host-berth_two_factor=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect((await send(again, recoveryCodes[0])).status).toBe(200);
    expect((await again.get("/api/settings")).status).toBe(200);
  });
});

describe("an account that has the address, but is not linked", () => {
  test("is linked by the right code, not before, and told", async () => {
    const { id, recoveryCodes } = await unlinked();
    const client = await waiting();
    expect(await house.linksOf(id)).toEqual([]);
    expectRefused(await send(client, "0000-0000-0000-0000"), "INVALID_TOTP");
    expect(await house.linksOf(id)).toEqual([]);
    expect((await send(client, recoveryCodes[0])).status).toBe(200);
    expect(await house.linksOf(id)).toEqual([{ provider: "google", subject: house.google.person?.sub }]);
    expect((await settingsOf(client)).id).toBe(id);
    expectAsked(await signInWith(house.browser(), "google"));
  });

  test("is not linked once its address has moved, or once Google's account is somebody else's", async () => {
    const ada = await unlinked();
    const client = await waiting();
    await house.write(ada.id, "UPDATE users SET email = ? WHERE id = ?", `moved-${ada.email}`, ada.id);
    expectRefused(await send(client, ada.recoveryCodes[0]), "SIGN_IN_OVER");
    const bob = await unlinked();
    const [first, second] = [await waiting(), await waiting()];
    expect((await send(first, bob.recoveryCodes[0])).status).toBe(200);
    expectRefused(await send(second, bob.recoveryCodes[1]), "SIGN_IN_OVER");
    expect(await house.linksOf(ada.id)).toEqual([]);
    expect(await house.linksOf(bob.id)).toHaveLength(1);
  });
});

describe("a code", () => {
  test("that is missing, wrong, used, or somebody else's gets nobody in; the right one still does", async () => {
    const eve = await linked();
    const ada = await linked();
    const client = await waiting();
    expectRefused(await send(client), "TOTP_REQUIRED");
    expectRefused(await send(client, ""), "TOTP_REQUIRED");
    for (const code of ["x", "000000", "1".repeat(64), eve.recoveryCodes[0]]) {
      expectRefused(await send(client, code), "INVALID_TOTP");
    }
    // The one that turned it on.
    expectRefused(await send(client, codeOf(ada.secret)), "INVALID_TOTP");
    for (const totp of [1, null, {}, "x".repeat(65)]) {
      expectRefusal(await client.post("/api/auth/two-factor", { totp }), 400, "INVALID_INPUT");
    }
    expectRefusal(await client.get("/api/settings"), 401, "UNAUTHORIZED");
    expect((await send(client, ada.recoveryCodes[0])).status).toBe(200);
  });

  test("is guessed ten times for an account and address, whatever the browser, and thirty times from an address", async () => {
    const limits = { RATE_LIMITS: '{"default":"100000/m"}', TRUSTED_PROXIES: "127.0.0.1" };
    await using limited = await openOAuthHouse(limits);
    const from = (address: string) => ({ "x-forwarded-for": address });
    const come = async () => {
      const client = limited.browser();
      expectAsked(await signInWith(client, "google"));
      return client;
    };
    const guess = async (address: string) => (await send(await come(), "000000", from(address))).status;
    const { recoveryCodes } = await linked(limited);
    const seen: number[] = [];
    for (let n = 0; n < 12; n++) seen.push(await guess("203.0.113.1"));
    expect(seen).toEqual([...Array(10).fill(401), 429, 429]);
    // The owner is kept out nowhere else, and with a recovery code not even there.
    expect(await guess("203.0.113.2")).toBe(401);
    expect((await send(await come(), recoveryCodes[0], from("203.0.113.1"))).status).toBe(200);

    // Asking without a code is no guess.
    await linked(limited);
    const client = await come();
    for (let n = 0; n < 40; n++) expectRefused(await send(client, undefined, from("198.51.100.1")), "TOTP_REQUIRED");
    const statuses: number[] = [];
    for (let person = 0; person < 4; person++) {
      await linked(limited);
      for (let n = 0; n < 9; n++) statuses.push(await guess("198.51.100.1"));
    }
    expect(statuses).toEqual([...Array(30).fill(401), ...Array(6).fill(429)]);
  });
});

describe("the cookie", () => {
  test("missing, tampered with, or made for something else is no sign-in, whatever the code", async () => {
    const { recoveryCodes } = await linked();
    const client = await waiting();
    const [, sealed = ""] = client.cookie.split("=");
    const other = house.browser();
    await leave(other, "google");
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
      expectRefused(await send(house.browser(), recoveryCodes[0], { cookie }), "SIGN_IN_OVER");
      expectRefused(await send(house.browser(), undefined, { cookie }), "SIGN_IN_OVER");
    }
    expectRefusal(await client.get("/api/settings", { headers: { cookie: `berth_session=${sealed}` } }), 401);
    const foreign = { origin: "https://evil.example" };
    expectRefusal(await send(client, recoveryCodes[0], foreign), 403, "FOREIGN_ORIGIN");
    expect((await send(client, recoveryCodes[0])).status).toBe(200);
  });

  test("is good once, of ten good codes at once too, which stay good but for one", async () => {
    const { id, recoveryCodes } = await linked();
    const client = await waiting();
    const { cookie } = client;
    const answers = await Promise.all(recoveryCodes.map((code) => send(house.browser(), code, { cookie })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(401)]);
    for (const answer of answers.filter(({ status }) => status === 401)) expectRefused(answer, "SIGN_IN_OVER");
    expect(await house.rows("SELECT 1 FROM recovery_codes WHERE user_id = ?", id)).toHaveLength(9);
    for (const code of recoveryCodes) {
      expect((await send(house.browser(), code, { cookie })).status).toBe(401);
    }
    expect(await house.rows("SELECT 1 FROM recovery_codes WHERE user_id = ?", id)).toHaveLength(9);
  });

  test("is too old after ten minutes", async () => {
    const { recoveryCodes } = await linked();
    const client = await waiting();
    setSystemTime(Date.now() + 10 * MINUTE);
    expectRefused(await send(client, recoveryCodes[0]), "SIGN_IN_OVER");
  });

  const off = ["DELETE FROM two_factor WHERE user_id = ?", "UPDATE users SET two_factor_enabled = 0 WHERE id = ?"];
  test.each([
    ["the password is another", ["UPDATE users SET password_hash = 'x' WHERE id = ?"]],
    ["the account is disabled", ["UPDATE users SET disabled_at = 1 WHERE id = ?"]],
    ["two-factor was turned off", off],
    [
      "two-factor was turned off and on again",
      ["UPDATE two_factor SET confirmed_at = confirmed_at + 1 WHERE user_id = ?"],
    ],
    ["the provider's account was taken off", ["DELETE FROM linked_accounts WHERE user_id = ?"]],
    ["the account is gone", ["DELETE FROM users WHERE id = ?"]],
  ])("is dead when %s", async (_, changes) => {
    const { id, recoveryCodes } = await linked();
    const client = await waiting();
    for (const change of changes) await house.write(id, change, id);
    expectRefused(await send(client, recoveryCodes[0]), "SIGN_IN_OVER");
    expectRefused(await send(client), "SIGN_IN_OVER");
    expect(await house.rows("SELECT 1 FROM auth_sessions WHERE user_id = ?", id)).toHaveLength(
      changes[0]?.includes("FROM users") ? 0 : 1,
    );
  });

  test("does not get in whom two-factor was turned on for by a stranger: that goes with the stranger", async () => {
    const { email } = house.atGoogle(stranger());
    const eve = await house.member(email, false);
    await turnOn(eve, { password });
    const owner = house.browser();
    expectSignedIn(await signInWith(owner, "google"));
    expect(await settingsOf(owner)).toMatchObject({ email, twoFactorEnabled: false });
    expectRefusal(await eve.get("/api/settings"), 401, "UNAUTHORIZED");
  });
});
