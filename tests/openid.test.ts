// Several OpenID providers through the whole service: a start while one is down, admins by groups over a crash, a wrong secret.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { type Oidc, startOidc } from "./support/oidc.ts";
import { oidcEnv } from "./support/openid-pair.ts";
import { expectFailure, expectSignedIn, newGooglePerson, settingsOf, signInWith } from "./support/providers.ts";

const BASE_URL = "http://berth.example";
const callbackOf = (id: string) => [`${BASE_URL}/api/auth/callback/${id}`];

let berth: Berth;
let harbour: Oidc;
let marina: Oidc;
beforeAll(async () => {
  harbour = await startOidc(callbackOf("oidc"));
  marina = await startOidc(callbackOf("oidc_2"), { clientAuth: "client_secret_basic" });
  marina.trouble.set("/.well-known/openid-configuration", "hang");
  const env = {
    BASE_URL,
    ...oidcEnv("OIDC", harbour, "Harbour ID"),
    ...oidcEnv("OIDC_2", marina, "Marina"),
    OIDC_SCOPES: "openid email profile groups",
    OIDC_ADMIN_GROUPS: "captains",
  };
  berth = await startBerth({ env });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await harbour?.[Symbol.asyncDispose]();
  await marina?.[Symbol.asyncDispose]();
});

const browser = () => createClient(berth);
const offers = async (query = "") =>
  (await browser().get<{ providers: { id: string; reachable: boolean | null }[] }>(`/api/auth/providers${query}`)).body
    .providers;

test("a provider that hangs holds up neither the start nor the other one, and works once it is back", async () => {
  expect(marina.requestedPaths).toEqual([]);
  expect(await offers("?check=true")).toMatchObject([
    { id: "oidc", reachable: true },
    { id: "oidc_2", reachable: false },
  ]);
  expectFailure(await browser().get("/api/auth/oauth/oidc_2"), "PROVIDER_UNAVAILABLE");
  const person = newGooglePerson();
  harbour.person = person;
  marina.person = newGooglePerson({ email: person.email });
  const [one, two] = [browser(), browser()];
  expectSignedIn(await signInWith(one, "oidc"));
  marina.trouble.clear();
  expectSignedIn(await signInWith(two, "oidc_2"));
  expect((await settingsOf(two)).id).toBe((await settingsOf(one)).id);
  // A provider that hangs is given up after three seconds, here twice.
});

test("a group makes an admin, also after kill -9, until a sign-in without it", async () => {
  harbour.person = { ...newGooglePerson(), groups: ["captains"] };
  const ada = browser();
  expectSignedIn(await signInWith(ada, "oidc"));
  expect((await ada.get("/api/admin/users")).status).toBe(200);
  await berth.kill();
  await berth.restart();
  expect((await ada.get("/api/admin/users")).status).toBe(200);
  harbour.person = { ...harbour.person, groups: [] };
  expectSignedIn(await signInWith(browser(), "oidc"));
  expect((await ada.get("/api/admin/users")).status).toBe(403);
});

test("a wrong secret is named, and is in no log", async () => {
  harbour.person = newGooglePerson();
  await berth.restart({ env: { OIDC_CLIENT_SECRET: "canary-wrong-secret" } });
  expectFailure(await signInWith(browser(), "oidc"), "PROVIDER_MISCONFIGURED");
  await berth.stop();
  const { stdout, stderr } = berth.output();
  expect(stdout + stderr).toContain("PROVIDER_MISCONFIGURED");
  expect(stdout + stderr).not.toContain("canary-wrong-secret");
});
