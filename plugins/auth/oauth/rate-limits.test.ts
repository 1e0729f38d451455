// How often one address may come back from a provider without success, and how many accounts it may make so.
import { afterAll, afterEach, beforeAll, beforeEach, expect, setSystemTime, test } from "bun:test";
import {
  expectFailure,
  expectSignedIn,
  leave,
  type OAuthHouse,
  openOAuthHouse,
  signInWith,
  stranger,
} from "../../../tests/support/providers.ts";

const HOUR = 3_600_000;
let house: OAuthHouse;
beforeAll(async () => {
  house = await openOAuthHouse({ RATE_LIMITS: '{"default":"100000/m","sign-up":"3/h","sign-in-ip":"4/20s"}' });
});
afterAll(() => house?.[Symbol.asyncDispose]());
beforeEach(() => house.calm());
afterEach(() => void setSystemTime());

let hours = 0;
/** Every test has its own hour, in which nothing was counted yet. */
beforeEach(() => setSystemTime(Date.now() + ++hours * HOUR));

/** Comes back with a code that the provider never gave. */
async function guess(client = house.browser()) {
  const url = new URL(await leave(client, "google"), "http://berth.example");
  url.searchParams.set("code", "guess");
  return client.get(url.pathname + url.search);
}
const users = async () => (await house.rows("SELECT id FROM users")).length;

test("new accounts are as many as by other sign-ups; who is known comes in", async () => {
  const before = await users();
  for (let n = 0; n < 3; n++) {
    house.atGoogle(stranger());
    expectSignedIn(await signInWith(house.browser(), "google"));
  }
  const known = house.google.person;
  for (let n = 0; n < 3; n++) {
    house.atGoogle(stranger());
    expectFailure(await signInWith(house.browser(), "google"), "RATE_LIMITED");
  }
  expect(await users()).toBe(before + 3);
  house.google.person = known;
  expectSignedIn(await signInWith(house.browser(), "google"));
});

test("failures are counted before anything is asked or written; successes are not, and nothing is used up", async () => {
  for (let n = 0; n < 6; n++) expectSignedIn(await signInWith(house.browser(), "google"));
  const client = house.browser();
  const back = await leave(client, "google");
  for (let n = 0; n < 4; n++) expectFailure(await guess(), "SIGN_IN_FAILED");
  const seen = async () => [
    house.google.asked.filter((path) => path === "/token").length,
    await house.rows("SELECT count(*) AS used FROM auth_used_once"),
  ];
  const before = await seen();
  expectFailure(await client.get(back), "RATE_LIMITED");
  expectFailure(await guess(), "RATE_LIMITED");
  expect(await seen()).toEqual(before);
  setSystemTime(Date.now() + 21_000);
  expectSignedIn(await client.get(back));
});

test("what belongs to no sign-in under way is not counted: a foreign page could send anybody here", async () => {
  for (let n = 0; n < 8; n++) {
    expectFailure(await house.browser().get("/api/auth/callback/google?code=x&state=y"), "STATE_INVALID");
  }
  expectSignedIn(await signInWith(house.browser(), "google"));
});
