// Sign-in with Google and GitHub through the whole service, and attacks on it.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Secret, TOTP } from "otpauth";
import { type Berth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { DENIED } from "./support/oidc.ts";
import {
  completeAtProvider,
  expectFailure,
  expectSignedIn,
  newGithubPerson,
  newGooglePerson,
  type Providers,
  settingsOf,
  signInWith,
  startProviders,
} from "./support/providers.ts";
import { expectRefusal } from "./support/refusal.ts";

let providers: Providers;
let berth: Berth;
beforeAll(async () => {
  providers = await startProviders();
  // Every test signs up a new person.
  berth = await startBerth({ env: { ...providers.env, LOG_LEVEL: "debug", RATE_LIMITS: '{"sign-up":"1000/m"}' } });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await providers?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  providers.google.person = newGooglePerson();
});
afterEach(() => {
  providers.google.trouble.clear();
});

const browser = () => createClient(berth);

/** The source of every mail so far. */
function mails(): string[] {
  const outbox = join(berth.dir, "data/outbox");
  return readdirSync(outbox).map((name) => readFileSync(join(outbox, name), "utf8"));
}

test("the same person through both providers is one account, with a mail about the second provider", async () => {
  const { google, github } = providers;
  const email = google.person?.email ?? "";
  const first = browser();
  expectSignedIn(await signInWith(first, "google", "?callbackUrl=/agents%23mine"), "/agents#mine");
  github.person = newGithubPerson(email);
  const second = browser();
  expectSignedIn(await signInWith(second, "github"));
  const user = await settingsOf(second);
  expect(user).toEqual(await settingsOf(first));
  expect(user).toMatchObject({ email, name: "Ada", emailVerified: true });
  await eventually(() => mails().find((mail) => mail.includes(email) && mail.includes("GitHub")));
});

describe("an account that another person made with the owner's address", () => {
  test("belongs to the owner only after the owner's sign-in", async () => {
    const email = providers.google.person?.email ?? "";
    const eve = browser();
    const id = await eve.join({ email });
    const { body } = await eve.post<{ key: string }>("/api/keys", { name: "back door" });
    const owner = browser();
    expectSignedIn(await signInWith(owner, "google"));
    expect(await settingsOf(owner)).toMatchObject({ id, email, emailVerified: true });
    expectRefusal(await eve.get("/api/settings"), 401, "UNAUTHORIZED");
    const headers = { authorization: `Bearer ${body.key}` };
    expectRefusal(await browser().get("/api/settings", { headers }), 401, "UNAUTHORIZED");
    const { password } = eve.account;
    expectRefusal(await browser().post("/api/auth/callback/credentials", { email, password }), 401, "BAD_CREDENTIALS");
  });

  test("stays unchanged if the provider has not verified the address", async () => {
    const { email } = newGooglePerson();
    const ada = browser();
    await ada.join({ email });
    providers.google.person = newGooglePerson({ email, email_verified: false });
    const eve = browser();
    expectFailure(await signInWith(eve, "google"), "EMAIL_NOT_VERIFIED");
    expectRefusal(await eve.get("/api/settings"), 401, "UNAUTHORIZED");
    expect((await settingsOf(ada)).email).toBe(email);
  });
});

test("an account with a second factor needs a code, which works once, also over a restart", async () => {
  const ada = browser();
  expectSignedIn(await signInWith(ada, "google"));
  const begun = await ada.post<{ secret: string; recoveryCodes: string[] }>("/api/settings/2fa", {});
  const { secret, recoveryCodes } = begun.body;
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  expect((await ada.post("/api/settings/2fa/confirm", { code })).status).toBe(200);

  const again = browser();
  const answer = await signInWith(again, "google", "?callbackUrl=/agents");
  expect([answer.status, answer.headers.get("location")]).toEqual([302, "/login?step=code"]);
  expectRefusal(await again.get("/api/settings"), 401, "UNAUTHORIZED");
  const headers = { cookie: again.cookie };
  await berth.restart();
  const wrong = await browser().post("/api/auth/two-factor", { totp: "0000-0000-0000-0000" }, { headers });
  expectRefusal(wrong, 401, "INVALID_TOTP");
  const entered = await again.post("/api/auth/two-factor", { totp: recoveryCodes[0] });
  expect(entered).toMatchObject({ status: 200, body: { ok: true, url: "/agents" } });
  expect(await settingsOf(again)).toEqual(await settingsOf(ada));
  await berth.restart();
  const replayed = await browser().post("/api/auth/two-factor", { totp: recoveryCodes[1] }, { headers });
  expectRefusal(replayed, 401, "SIGN_IN_OVER");
});

describe("a state", () => {
  test("that is missing or swapped is rejected", async () => {
    const [ada, eve] = [browser(), browser()];
    const [adas, eves] = [await completeAtProvider(ada, "google"), await completeAtProvider(eve, "google")];
    // Eve's callback address, opened in Ada's browser, would sign Ada in as Eve.
    expectFailure(await ada.get(eves), "STATE_INVALID");
    expectFailure(await browser().get(eves), "STATE_INVALID");
    expectFailure(await ada.get(adas.replace(/state=[^&]+/, "")), "STATE_INVALID");
    expectFailure(await ada.get(adas.replace("google", "github")), "STATE_INVALID");
    expectSignedIn(await ada.get(adas));
  });

  test("works once, also over a restart", async () => {
    const ada = browser();
    const way = await completeAtProvider(ada, "google");
    const headers = { cookie: ada.cookie };
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser().get(way, { headers })));
    expect(answers.filter((answer) => answer.headers.get("location") === "/")).toHaveLength(1);
    await berth.restart();
    expectFailure(await browser().get(way, { headers }), "STATE_INVALID");
  });
});

test.each([
  "https://evil.example",
  "//evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "/\t/evil.example",
  "/.//evil.example",
  "https:evil.example",
  "https:/evil.example",
  "https://berth.example@evil.example",
  "https://berth.example.evil.example",
  "http://berth.example:81/",
  "javascript:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,x",
  "/\r\nlocation: https://evil.example",
  "/%0d%0alocation:%20https://evil.example",
  "/%2f%2fevil.example",
  "%2f%2fevil.example",
  "/%5cevil.example",
])("after the sign-in the browser is not redirected to %j", async (wish) => {
  const ada = browser();
  const answer = await signInWith(ada, "google", `?callbackUrl=${encodeURIComponent(wish)}`);
  const location = answer.headers.get("location") ?? "";
  expectSignedIn(answer, location);
  expect(location).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/);
  expect(new URL(location, "http://berth.example").origin).toBe("http://berth.example");
  expect(answer.headers.get("set-cookie")).not.toContain("evil");
});

test("an address too long for a cookie is not kept", async () => {
  for (const wish of ["a".repeat(5000), "ü".repeat(2000)]) {
    expectSignedIn(await signInWith(browser(), "google", `?callbackUrl=/${encodeURIComponent(wish)}`));
  }
});

test("a provider that is down does not affect other sign-ins", async () => {
  const ada = browser();
  await ada.signUp();
  const { trouble, person } = providers.google;
  trouble.set("/token", "hang");
  const late = signInWith(browser(), "google");
  await ada.signIn();
  // A hanging provider is given up after three seconds.
  expect(await Promise.race([late.then(() => "given up"), Bun.sleep(0).then(() => "waits")])).toBe("waits");
  providers.github.person = newGithubPerson(person?.email ?? "");
  expectSignedIn(await signInWith(browser(), "github"));
  expect((await ada.get("/healthz")).status).toBe(200);
  expectFailure(await late, "PROVIDER_UNAVAILABLE");
  trouble.set("/token", "down");
  expectFailure(await signInWith(browser(), "google"), "PROVIDER_UNAVAILABLE");
});

test("no token, secret, code or text of a provider is in the log or on disk", async () => {
  const ada = browser();
  const way = await completeAtProvider(ada, "google");
  const [, code = "none"] = /code=([^&]+)/.exec(way) ?? [];
  const sealed = ada.cookie.split("=")[1] ?? "none";
  expectSignedIn(await ada.get(way));
  const { google, github } = providers;
  const secrets = [google.clientSecret, github.clientSecret, ...github.tokens, code, sealed, DENIED];
  expect(github.tokens.length).toBeGreaterThan(0);
  await berth.stop();
  const { stdout, stderr } = berth.output();
  const data = join(berth.dir, "data");
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const disk = files.map((file) => readFileSync(join(file.parentPath, file.name), "latin1"));
  for (const secret of secrets) {
    expect(stdout + stderr).not.toContain(secret);
    expect(disk.some((text) => text.includes(secret))).toBe(false);
  }
});
