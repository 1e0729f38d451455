// Provider sign-ins with the address of an existing account: linking it, or reclaiming it if the address is unverified.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { Person } from "../../../tests/support/oidc.ts";
import {
  expectFailure,
  expectSignedIn,
  newGithubPerson,
  newGooglePerson,
  type OAuthServer,
  openOAuthServer,
  settingsOf,
  signInWith,
} from "../../../tests/support/providers.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";

let server: OAuthServer;
beforeAll(async () => {
  server = await openOAuthServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());
beforeEach(() => server.reset());

describe("an account with the same address", () => {
  test("that is verified is linked, keeps its password, and is notified", async () => {
    const { sub, email } = server.useGooglePerson(newGooglePerson());
    const local = await server.member(email, true);
    const { id } = await settingsOf(local);
    server.google.person = { ...server.google.person, email: email.toUpperCase() } as Person;
    const client = server.browser();
    expectSignedIn(await signInWith(client, "google"));
    expect((await settingsOf(client)).id).toBe(id);
    expect((await settingsOf(local)).id).toBe(id);
    server.github.person = newGithubPerson(email);
    expectSignedIn(await signInWith(server.browser(), "github"));
    expect(await server.linksOf(id)).toEqual([
      { provider: "github", subject: String(server.github.person.id) },
      { provider: "google", subject: sub },
    ]);
    await local.signIn();
    expect(await server.rows("SELECT count(*) AS mails FROM jobs WHERE kind LIKE 'mail%'")).toEqual([
      { mails: expect.any(Number) },
    ]);
  });

  test("that was never verified is reclaimed: password, sessions, keys, second factor and links end", async () => {
    const { sub, email } = server.useGooglePerson(newGooglePerson());
    const eve = await server.member(email, false);
    const { id } = await settingsOf(eve);
    const { body } = await eve.post<{ key: string }>("/api/keys", { name: "back door" });
    const now = Date.now();
    await server.write(
      id,
      "INSERT INTO two_factor (user_id, secret, confirmed_at, created_at) VALUES (?, 'x', ?, ?)",
      id,
      now,
      now,
    );
    await server.write(id, "INSERT INTO recovery_codes (user_id, code_hash) VALUES (?, 'x')", id);
    await server.write(id, "UPDATE users SET two_factor_enabled = 1 WHERE id = ?", id);
    await server.write(id, "INSERT INTO linked_accounts VALUES ('wallet', ?, ?, 0, NULL, NULL)", `0xeve-${id}`, id);
    for (const kind of ["verify-email", "reset-password"]) {
      await server.write(
        id,
        "INSERT INTO auth_links VALUES (?, ?, ?, ?, ?)",
        `${kind}-${id}`,
        kind,
        id,
        now + MINUTE,
        email,
      );
    }

    const owner = server.browser();
    expectSignedIn(await signInWith(owner, "google"));
    expect(await settingsOf(owner)).toMatchObject({ id, emailVerified: true, twoFactorEnabled: false });
    expect(await server.linksOf(id)).toEqual([{ provider: "google", subject: sub }]);
    expectRefusal(await eve.get("/api/settings"), 401, "UNAUTHORIZED");
    expectRefusal(
      await server.browser().get("/api/settings", { headers: { authorization: `Bearer ${body.key}` } }),
      401,
      "UNAUTHORIZED",
    );
    const { password } = eve.account;
    expectRefusal(
      await server.browser().post("/api/auth/callback/credentials", { email, password }),
      401,
      "BAD_CREDENTIALS",
    );
    for (const table of ["api_keys", "two_factor", "recovery_codes", "auth_links"]) {
      expect(await server.rows(`SELECT * FROM ${table} WHERE user_id = ?`, id)).toEqual([]);
    }
    expect(await server.rows("SELECT id FROM auth_sessions WHERE user_id = ?", id)).toHaveLength(1);
  });

  test("that is reclaimed before the session starts can't be entered by the earlier sign-in", async () => {
    const { email } = server.useGooglePerson(newGooglePerson());
    const { id } = await settingsOf(await server.member(email, true));
    const unlink = "DELETE FROM linked_accounts WHERE user_id = NEW.user_id";
    await server.write(id, `CREATE TRIGGER reclaimed AFTER INSERT ON linked_accounts BEGIN ${unlink}; END`);
    expectFailure(await signInWith(server.browser(), "google"), "SIGN_IN_FAILED");
    await server.write(id, "DROP TRIGGER reclaimed");
    expect(await server.rows("SELECT 1 FROM auth_sessions WHERE user_id = ?", id)).toHaveLength(1);
    expectSignedIn(await signInWith(server.browser(), "google"));
  });

  test.each([true, false])("that is disabled is refused, with a verified address: %p", async (verified) => {
    const { sub, email } = server.useGooglePerson(newGooglePerson());
    const { id } = await settingsOf(await server.member(email, verified));
    await server.write(id, "UPDATE users SET disabled_at = 1 WHERE id = ?", id);
    expectFailure(await signInWith(server.browser(), "google"), "ACCOUNT_DISABLED");
    expect(await server.linksOf(id)).toEqual([]);
    await server.write(id, "INSERT INTO linked_accounts VALUES ('google', ?, ?, 0, NULL, NULL)", sub, id);
    expectFailure(await signInWith(server.browser(), "google"), "ACCOUNT_DISABLED");
  });

  test("is not linked by an address that is unverified at the provider", async () => {
    const { email } = server.useGooglePerson(newGooglePerson({ email_verified: false }));
    for (const verified of [true, false]) {
      const local = await server.member(verified ? email : `x${email}`, verified);
      server.google.person = { ...server.google.person, email: local.account.email } as Person;
      expectFailure(await signInWith(server.browser(), "google"), "EMAIL_NOT_VERIFIED");
      expect((await settingsOf(local)).email).toBe(local.account.email);
    }
  });
});
