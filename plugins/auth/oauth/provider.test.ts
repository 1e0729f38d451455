// Providers that fail, are slow or send forged tokens; and identities from the API of GitHub.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createClient } from "../../../tests/support/client.ts";
import { DENIED, type IdToken, type Signer, type Trouble } from "../../../tests/support/oidc.ts";
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
import { openServer } from "../../../tests/support/server.ts";

let server: OAuthServer;
beforeAll(async () => {
  server = await openOAuthServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());
beforeEach(() => server.reset());

describe("a misbehaving provider", () => {
  const claims = (change: object) => (token: IdToken) => ({ ...token, claims: { ...token.claims, ...change } });
  const past = Math.floor(Date.now() / 1000) - 3600;
  test("is accepted while its tokens are valid", async () => {
    server.google.forge = (token) => ({ token, signer: "own" });
    expectSignedIn(await signInWith(server.browser(), "google"));
  });

  const forgeries: [string, (token: IdToken) => IdToken, Signer][] = [
    ["another nonce", claims({ nonce: "x".repeat(43) }), "own"],
    ["no nonce", claims({ nonce: undefined }), "own"],
    ["another audience", claims({ aud: "another-client" }), "own"],
    ["a second audience", claims({ aud: ["berth-client", "other"], azp: "other" }), "own"],
    ["another issuer", claims({ iss: "https://accounts.evil.example" }), "own"],
    ["an end in the past", claims({ iat: past - 60, exp: past }), "own"],
    ["no end", claims({ exp: undefined }), "own"],
    ["no subject", claims({ sub: undefined }), "own"],
    ["no signature", claims({}), "none"],
    ["the signature of another key", claims({}), "foreign"],
    ["a signature with the client's secret", claims({}), "secret"],
  ];
  test.each(forgeries)("is refused for an ID token with %s", async (_, change, signer) => {
    server.google.forge = (token) => ({ token: change(token), signer });
    const { email } = server.google.person ?? {};
    expectFailure(await signInWith(server.browser(), "google"), "SIGN_IN_FAILED");
    expect(await server.rows("SELECT id FROM users WHERE email = ?", email ?? "")).toEqual([]);
  });

  const troubles: Trouble[] = ["down", "html", "cut", "endless", "hang"];
  test.each(troubles)("is unavailable within ten seconds for the trouble %s at the token endpoint", async (trouble) => {
    server.google.trouble.set("/token", trouble);
    const started = Date.now();
    expectFailure(await signInWith(server.browser(), "google"), "PROVIDER_UNAVAILABLE");
    expect(Date.now() - started).toBeLessThan(10_000);
  });

  test("is unavailable if its keys can't be fetched", async () => {
    await using own = await openServer({ env: { ...server.env } });
    server.google.trouble.set("/jwks", "down");
    expectFailure(await signInWith(createClient(own.web), "google"), "PROVIDER_UNAVAILABLE");
    server.google.trouble.clear();
    expectSignedIn(await signInWith(createClient(own.web), "google"));
  });

  test("is reported by our error codes, without its own texts", async () => {
    for (const [error, code] of [
      ["access_denied", "ACCESS_DENIED"],
      ["temporarily_unavailable", "PROVIDER_UNAVAILABLE"],
      ["server_error", "PROVIDER_UNAVAILABLE"],
      ["<script>alert(1)</script>", "SIGN_IN_FAILED"],
      ["x\r\nset-cookie: a=b", "SIGN_IN_FAILED"],
    ] as const) {
      const client = server.browser();
      const callback = new URL(await completeAtProvider(client, "google"), "http://x");
      callback.searchParams.delete("code");
      callback.searchParams.set("error", error);
      callback.searchParams.set("error_description", DENIED);
      expectFailure(await client.get(callback.pathname + callback.search), code);
    }
  });
});

describe("GitHub", () => {
  const signIn = (client = server.browser()) => signInWith(client, "github");

  test("identifies users by numeric id, even if login and address change", async () => {
    const person = server.useGithubPerson(newGithubPerson(newGooglePerson().email));
    const before = server.browser();
    expectSignedIn(await signIn(before));
    const { id, name } = await settingsOf(before);
    expect(name).toBe(person.login);
    server.github.person = { ...person, login: "renamed", emails: [] };
    const after = server.browser();
    expectSignedIn(await signIn(after));
    expect((await settingsOf(after)).id).toBe(id);
    server.github.person = newGithubPerson(newGooglePerson().email, { login: person.login });
    const other = server.browser();
    expectSignedIn(await signIn(other));
    expect((await settingsOf(other)).id).not.toBe(id);
  });

  test("needs a primary address that is verified", async () => {
    const { email } = newGooglePerson();
    for (const emails of [
      [],
      [{ email, primary: true, verified: false }],
      [{ email, primary: false, verified: true }],
      [{ email, primary: true, verified: "true" }],
      [{ email: null, primary: true, verified: true }],
    ]) {
      server.github.person = newGithubPerson(email, { emails });
      expectFailure(await signIn(), "EMAIL_NOT_VERIFIED");
    }
  });

  test.each([0, -1, 1.5, "7", null, { toString: "7" }, 2 ** 60])("refuses the invalid id %p", async (id) => {
    server.github.person = newGithubPerson(newGooglePerson().email, { id });
    expectFailure(await signIn(), "PROVIDER_UNAVAILABLE");
  });

  test("is unavailable if its API fails, is slow, or sends invalid responses", async () => {
    server.github.person = newGithubPerson(newGooglePerson().email);
    const answers = [
      () => new Response(DENIED, { status: 500 }),
      () => Response.json({ message: DENIED }, { status: 401, headers: { "www-authenticate": 'Bearer error="x"' } }),
      () => Response.json({ message: DENIED }, { status: 403 }),
      () => new Response("<html>", { headers: { "content-type": "text/html" } }),
      () => Response.json("no list"),
      () => new Response(null, { status: 302, headers: { location: "http://127.0.0.1:1/" } }),
      () => new Promise<Response>(() => undefined),
    ];
    for (const [n, answer] of answers.entries()) {
      server.github.trouble.clear();
      server.github.trouble.set(n % 2 === 0 ? "/api/v3/user/emails" : "/api/v3/user", answer);
      expectFailure(await signIn(), "PROVIDER_UNAVAILABLE");
    }
  });

  test("may refuse a code with a response of status 200, which fails the sign-in", async () => {
    server.github.person = newGithubPerson(newGooglePerson().email);
    const client = server.browser();
    const callback = (await completeAtProvider(client, "github")).replace(/code=\w+/, "code=0123456789");
    expectFailure(await client.get(callback), "SIGN_IN_FAILED");
  });

  test("may omit the issuer, but not send another", async () => {
    server.github.person = newGithubPerson(newGooglePerson().email);
    server.github.issuer = undefined;
    expectSignedIn(await signIn());
    server.github.issuer = server.google.issuer;
    expectFailure(await signIn(), "STATE_INVALID");
  });
});
