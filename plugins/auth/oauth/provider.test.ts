// Providers that are down, slow or lie, and what GitHub says without an ID token.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createClient } from "../../../tests/support/client.ts";
import { openHouse } from "../../../tests/support/house.ts";
import { DENIED, type IdToken, type Signer, type Trouble } from "../../../tests/support/oidc.ts";
import {
  developer,
  expectFailure,
  expectSignedIn,
  leave,
  type OAuthHouse,
  openOAuthHouse,
  settingsOf,
  signInWith,
  stranger,
} from "../../../tests/support/providers.ts";

let house: OAuthHouse;
beforeAll(async () => {
  house = await openOAuthHouse();
});
afterAll(() => house?.[Symbol.asyncDispose]());
beforeEach(() => house.calm());

describe("a provider that does not behave", () => {
  const claims = (change: object) => (token: IdToken) => ({ ...token, claims: { ...token.claims, ...change } });
  const past = Math.floor(Date.now() / 1000) - 3600;
  test("is believed while it does", async () => {
    house.google.forge = (token) => ({ token, signer: "own" });
    expectSignedIn(await signInWith(house.browser(), "google"));
  });

  const lies: [string, (token: IdToken) => IdToken, Signer][] = [
    ["another nonce", claims({ nonce: "x".repeat(43) }), "own"],
    ["no nonce", claims({ nonce: undefined }), "own"],
    ["another audience", claims({ aud: "somebody-else" }), "own"],
    ["a second audience", claims({ aud: ["berth-client", "other"], azp: "other" }), "own"],
    ["another issuer", claims({ iss: "https://accounts.evil.example" }), "own"],
    ["an end in the past", claims({ iat: past - 60, exp: past }), "own"],
    ["no end", claims({ exp: undefined }), "own"],
    ["no subject", claims({ sub: undefined }), "own"],
    ["no signature", claims({}), "none"],
    ["the signature of another key", claims({}), "foreign"],
    ["a signature with the client's secret", claims({}), "secret"],
  ];
  test.each(lies)("an ID token with %s proves nothing", async (_, change, signer) => {
    house.google.forge = (token) => ({ token: change(token), signer });
    const { email } = house.google.person ?? {};
    expectFailure(await signInWith(house.browser(), "google"), "SIGN_IN_FAILED");
    expect(await house.rows("SELECT id FROM users WHERE email = ?", email ?? "")).toEqual([]);
  });

  const troubles: Trouble[] = ["down", "html", "cut", "endless", "hang"];
  test.each(troubles)("%s at the token endpoint: unavailable, within ten seconds", async (trouble) => {
    house.google.trouble.set("/token", trouble);
    const started = Date.now();
    expectFailure(await signInWith(house.browser(), "google"), "PROVIDER_UNAVAILABLE");
    expect(Date.now() - started).toBeLessThan(10_000);
  });

  test("keys that can't be had prove nothing either", async () => {
    await using own = await openHouse({ env: { ...house.env } });
    house.google.trouble.set("/jwks", "down");
    expectFailure(await signInWith(createClient(own.web), "google"), "PROVIDER_UNAVAILABLE");
    house.google.trouble.clear();
    expectSignedIn(await signInWith(createClient(own.web), "google"));
  });

  test("its error codes and words do not get through", async () => {
    for (const [error, code] of [
      ["access_denied", "ACCESS_DENIED"],
      ["temporarily_unavailable", "PROVIDER_UNAVAILABLE"],
      ["server_error", "PROVIDER_UNAVAILABLE"],
      ["<script>alert(1)</script>", "SIGN_IN_FAILED"],
      ["x\r\nset-cookie: a=b", "SIGN_IN_FAILED"],
    ] as const) {
      const client = house.browser();
      const way = new URL(await leave(client, "google"), "http://x");
      way.searchParams.delete("code");
      way.searchParams.set("error", error);
      way.searchParams.set("error_description", DENIED);
      expectFailure(await client.get(way.pathname + way.search), code);
    }
  });
});

describe("GitHub", () => {
  const signIn = (client = house.browser()) => signInWith(client, "github");

  test("signs in by its number, whatever login and address become", async () => {
    const person = house.atGithub(developer(stranger().email));
    const before = house.browser();
    expectSignedIn(await signIn(before));
    const { id, name } = await settingsOf(before);
    expect(name).toBe(person.login);
    house.github.person = { ...person, login: "renamed", emails: [] };
    const after = house.browser();
    expectSignedIn(await signIn(after));
    expect((await settingsOf(after)).id).toBe(id);
    house.github.person = developer(stranger().email, { login: person.login });
    const other = house.browser();
    expectSignedIn(await signIn(other));
    expect((await settingsOf(other)).id).not.toBe(id);
  });

  test("needs a primary address that is verified", async () => {
    const { email } = stranger();
    for (const emails of [
      [],
      [{ email, primary: true, verified: false }],
      [{ email, primary: false, verified: true }],
      [{ email, primary: true, verified: "true" }],
      [{ email: null, primary: true, verified: true }],
    ]) {
      house.github.person = developer(email, { emails });
      expectFailure(await signIn(), "EMAIL_NOT_VERIFIED");
    }
  });

  test.each([0, -1, 1.5, "7", null, { toString: "7" }, 2 ** 60])("an id that is none (%p) is nobody", async (id) => {
    house.github.person = developer(stranger().email, { id });
    expectFailure(await signIn(), "PROVIDER_UNAVAILABLE");
  });

  test("its API down, slow, lying or refusing is its trouble, not ours", async () => {
    house.github.person = developer(stranger().email);
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
      house.github.trouble.clear();
      house.github.trouble.set(n % 2 === 0 ? "/api/v3/user/emails" : "/api/v3/user", answer);
      expectFailure(await signIn(), "PROVIDER_UNAVAILABLE");
    }
  });

  test("a refused code is no sign-in, although the answer is a 200", async () => {
    house.github.person = developer(stranger().email);
    const client = house.browser();
    const way = (await leave(client, "github")).replace(/code=\w+/, "code=0123456789");
    expectFailure(await client.get(way), "SIGN_IN_FAILED");
  });

  test("may leave out its name, but not have another", async () => {
    house.github.person = developer(stranger().email);
    house.github.issuer = undefined;
    expectSignedIn(await signIn());
    house.github.issuer = house.google.issuer;
    expectFailure(await signIn(), "STATE_INVALID");
  });
});
