// Sign-in with Google and GitHub: the redirect to the provider, and the accounts of new users.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createClient } from "../../../tests/support/client.ts";
import type { Person } from "../../../tests/support/oidc.ts";
import {
  completeAtProvider,
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
import { openServer } from "../../../tests/support/server.ts";

let server: OAuthServer;
beforeAll(async () => {
  server = await openOAuthServer({ SIGNUP_TRIAL: "starter:7d" });
});
afterAll(() => server?.[Symbol.asyncDispose]());
beforeEach(() => server.reset());

describe("the redirect to the provider", () => {
  test("has state, nonce and PKCE, and a redirect URI under BASE_URL whatever the Host header", async () => {
    const answer = await server.browser().get("/api/auth/oauth/google", { headers: { host: "evil.example" } });
    const url = new URL(answer.headers.get("location") ?? "");
    expect(url.origin).toBe(server.google.issuer);
    const random = expect.stringMatching(/^[\w-]{43}$/);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: server.google.clientId,
      redirect_uri: "http://berth.example/api/auth/callback/google",
      response_type: "code",
      scope: "openid email profile",
      state: random,
      nonce: random,
      code_challenge: random,
      code_challenge_method: "S256",
    });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const [cookie = "", ...more] = answer.headers.getSetCookie();
    expect(more).toEqual([]);
    const attributes = "Max-Age=600; Path=/api/auth/callback; HttpOnly; SameSite=Lax";
    expect(cookie).toMatch(new RegExp(`^berth_oauth=[\\w.-]{200,4000}; ${attributes}$`));
    expect(cookie).not.toContain(url.searchParams.get("state") ?? "none");
  });

  test("sets a cookie with the prefix __Host- on https", async () => {
    await using secure = await openServer({ env: { ...server.env, BASE_URL: "https://berth.example" } });
    const answer = await createClient(secure.web).get("/api/auth/oauth/github");
    expect(answer.headers.get("location")).toContain(
      encodeURIComponent("https://berth.example/api/auth/callback/github"),
    );
    expect(answer.headers.getSetCookie()[0]).toMatch(
      /^__Host-berth_oauth=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
  });

  test("is 404 for an unknown provider, or one that is not configured", async () => {
    await using bare = await openServer({ env: { GITHUB_CLIENT_ID: "half" } });
    const client = createClient(bare.web);
    for (const route of ["oauth", "callback"]) {
      expectRefusal(await client.get(`/api/auth/${route}/google`), 404, "PROVIDER_NOT_CONFIGURED");
      expectRefusal(await client.get(`/api/auth/${route}/github?error=x`), 404, "PROVIDER_NOT_CONFIGURED");
      for (const name of ["wallet", "credentials", "constructor", "Google", "%2e%2e"]) {
        expectRefusal(await client.get(`/api/auth/${route}/${name}`), 404, "NOT_FOUND");
      }
    }
  });

  test("fetches the metadata once for concurrent requests, and again after a failure", async () => {
    const path = "/.well-known/openid-configuration";
    await using own = await openServer({ env: { ...server.env } });
    const start = () => createClient(own.web).get("/api/auth/oauth/google");
    const countRequests = () => server.google.requestedPaths.filter((each) => each === path).length;
    server.google.trouble.set(path, "down");
    for (const answer of await Promise.all(Array.from({ length: 10 }, start))) {
      expectFailure(answer, "PROVIDER_UNAVAILABLE");
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    server.google.trouble.clear();
    const before = countRequests();
    const answers = await Promise.all(Array.from({ length: 10 }, start));
    expect(answers.every(({ headers }) => headers.get("location")?.startsWith(server.google.issuer))).toBe(true);
    expect(countRequests() - before).toBe(1);
  });
});

describe("a new user", () => {
  test("gets an account with a verified address, the trial, and no password", async () => {
    const { sub, email } = server.useGooglePerson(newGooglePerson({ name: "Ada\r\n\u202eLovelace" }));
    const client = server.browser();
    const headers = { "accept-language": "de-AT,de;q=0.9,en;q=0.5" };
    expectSignedIn(
      await client.get(await completeAtProvider(client, "google", "?callbackUrl=/agents%3Fnew=1"), { headers }),
      "/agents?new=1",
    );
    const user = await settingsOf(client);
    expect(user).toMatchObject({ email, name: "Ada Lovelace", emailVerified: true, plan: "starter" });
    expect(await server.rows("SELECT password_hash, locale FROM users WHERE id = ?", user.id)).toEqual([
      { password_hash: null, locale: "de" },
    ]);
    expect(await server.linksOf(user.id)).toEqual([{ provider: "google", subject: sub }]);
    const events = await server.rows("SELECT type FROM events WHERE user_id = ?", user.id);
    expect(events).toEqual([{ type: "user.created" }]);
    expectRefusal(
      await server.browser().post("/api/auth/callback/credentials", { email, password: "correct horse battery" }),
      401,
      "BAD_CREDENTIALS",
    );
  });

  test("gets the same account at the next sign-in, even if the address at the provider has changed", async () => {
    const before = server.browser();
    expectSignedIn(await signInWith(before, "google"));
    const { id, email } = await settingsOf(before);
    for (const change of [{ email: "moved@example.com" }, { email_verified: false }, { name: "" }]) {
      server.google.person = { ...server.google.person, ...change } as Person;
      const client = server.browser();
      expectSignedIn(await signInWith(client, "google"));
      expect(await settingsOf(client)).toMatchObject({ id, email, name: "Ada" });
    }
  });

  test("gets one account from ten concurrent sign-ins", async () => {
    const clients = Array.from({ length: 10 }, server.browser);
    const callbacks = await Promise.all(clients.map((client) => completeAtProvider(client, "google")));
    const answers = await Promise.all(clients.map((client, n) => client.get(callbacks[n] ?? "")));
    for (const answer of answers) expectSignedIn(answer);
    expect(new Set((await Promise.all(clients.map(settingsOf))).map(({ id }) => id)).size).toBe(1);
  });

  test("with an unverified address gets no account", async () => {
    const { email } = server.useGooglePerson(newGooglePerson({ email_verified: false }));
    expectFailure(await signInWith(server.browser(), "google"), "EMAIL_NOT_VERIFIED");
    server.google.forge = ({ header, claims }) => ({
      token: { header, claims: { ...claims, email_verified: "true" } },
      signer: "own",
    });
    expectFailure(await signInWith(server.browser(), "google"), "EMAIL_NOT_VERIFIED");
    expect(await server.rows("SELECT id FROM users WHERE email = ?", email)).toEqual([]);
  });

  test("is refused with the address of a wallet, or an invalid one", async () => {
    for (const email of [`0x${"a".repeat(40)}@wallet.invalid`, "root@localhost", "a b@example.com"]) {
      server.google.person = newGooglePerson({ email });
      expectFailure(await signInWith(server.browser(), "google"), "EMAIL_NOT_VERIFIED");
    }
  });

  test("gets their own account, also in a browser where another user is signed in", async () => {
    const eve = await server.member(newGooglePerson().email, true);
    const { cookie } = eve;
    const evesId = (await settingsOf(eve)).id;
    expectSignedIn(await signInWith(eve, "google"));
    expect((await settingsOf(eve)).id).not.toBe(evesId);
    expect(eve.cookie).not.toContain(cookie);
    expect(await server.linksOf(evesId)).toEqual([]);
  });
});

test("neither tokens nor secrets of providers are stored", async () => {
  server.github.person = newGithubPerson(newGooglePerson().email);
  expectSignedIn(await signInWith(server.browser(), "github"));
  const tables = await server.rows("SELECT name FROM sqlite_master WHERE type = 'table'");
  const names = tables.flatMap((row) => Object.values(row).map(String));
  const all = await Promise.all(names.map((name) => server.rows(`SELECT * FROM "${name}"`)));
  expect(JSON.stringify(all)).not.toMatch(/gho_canary|canary-g/);
});
