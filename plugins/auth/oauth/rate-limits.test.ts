// Rate limits of provider sign-ins: failures and new accounts per address.
import { afterAll, afterEach, beforeAll, beforeEach, expect, setSystemTime, test } from "bun:test";
import { HOUR } from "../../../src/kernel/util/time.ts";
import {
  completeAtProvider,
  expectFailure,
  expectSignedIn,
  newGooglePerson,
  type OAuthServer,
  openOAuthServer,
  signInWith,
} from "../../../tests/support/providers.ts";

let server: OAuthServer;
beforeAll(async () => {
  server = await openOAuthServer({ RATE_LIMITS: '{"default":"100000/m","sign-up":"3/h","sign-in-ip":"4/20s"}' });
});
afterAll(() => server?.[Symbol.asyncDispose]());
beforeEach(() => server.reset());
afterEach(() => void setSystemTime());

let hours = 0;
/** Each test runs in its own hour, with fresh limits. */
beforeEach(() => setSystemTime(Date.now() + ++hours * HOUR));

/** Returns from the provider with a forged code. */
async function guess(client = server.browser()) {
  const url = new URL(await completeAtProvider(client, "google"), "http://berth.example");
  url.searchParams.set("code", "guess");
  return client.get(url.pathname + url.search);
}
const users = async () => (await server.rows("SELECT id FROM users")).length;

test("new accounts count as sign-ups; existing ones can still sign in", async () => {
  const before = await users();
  for (let n = 0; n < 3; n++) {
    server.useGooglePerson(newGooglePerson());
    expectSignedIn(await signInWith(server.browser(), "google"));
  }
  const known = server.google.person;
  for (let n = 0; n < 3; n++) {
    server.useGooglePerson(newGooglePerson());
    expectFailure(await signInWith(server.browser(), "google"), "RATE_LIMITED");
  }
  expect(await users()).toBe(before + 3);
  server.google.person = known;
  expectSignedIn(await signInWith(server.browser(), "google"));
});

test("failures are limited before the provider is called; successes do not count, and a refused state stays valid", async () => {
  for (let n = 0; n < 6; n++) expectSignedIn(await signInWith(server.browser(), "google"));
  const client = server.browser();
  const callback = await completeAtProvider(client, "google");
  for (let n = 0; n < 4; n++) expectFailure(await guess(), "SIGN_IN_FAILED");
  const effects = async () => [
    server.google.requestedPaths.filter((path) => path === "/token").length,
    await server.rows("SELECT count(*) AS used FROM auth_used_once"),
  ];
  const before = await effects();
  expectFailure(await client.get(callback), "RATE_LIMITED");
  expectFailure(await guess(), "RATE_LIMITED");
  expect(await effects()).toEqual(before);
  setSystemTime(Date.now() + 21_000);
  expectSignedIn(await client.get(callback));
});

test("callbacks without an open sign-in are not counted, since another site could send any visitor here", async () => {
  for (let n = 0; n < 8; n++) {
    expectFailure(await server.browser().get("/api/auth/callback/google?code=x&state=y"), "STATE_INVALID");
  }
  expectSignedIn(await signInWith(server.browser(), "google"));
});
