// Sign-in with several OpenID providers at once: which identities belong to whom, and what providers may do differently.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { createClient } from "../../../tests/support/client.ts";
import { type Person, startOidc } from "../../../tests/support/oidc.ts";
import { type OpenidPair, oidcEnv, openOpenidPair } from "../../../tests/support/openid-pair.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import {
  completeAtProvider,
  expectFailure,
  expectSignedIn,
  newGooglePerson,
  settingsOf,
  signInWith,
} from "../../../tests/support/providers.ts";
import { openServer } from "../../../tests/support/server.ts";

let pair: OpenidPair;
beforeAll(async () => {
  pair = await openOpenidPair();
});
afterAll(async () => {
  await pair?.[Symbol.asyncDispose]();
  for (const folder of folders) folder.remove();
});
const folders: ReturnType<typeof temporaryDir>[] = [];
function newFolder(): string {
  const folder = temporaryDir();
  folders.push(folder);
  return folder.path;
}
beforeEach(() => {
  pair.first.person = newGooglePerson();
  pair.second.person = newGooglePerson();
});
afterEach(() => {
  setSystemTime();
  for (const provider of [pair.first, pair.second]) {
    provider.trouble.clear();
    provider.forge = undefined;
  }
});

interface Offer {
  id: string;
  name: string;
  url: string;
  reachable: boolean | null;
}
const offers = async (web: string, query = "") =>
  (await createClient(web).get<{ providers: Offer[] }>(`/api/auth/providers${query}`)).body.providers;
const signInsOf = async (client: ReturnType<typeof createClient>) =>
  (await client.get<{ signIns: { provider: string; name: string }[] }>("/api/settings/sign-ins")).body.signIns;

describe("two providers", () => {
  test("are offered with their names, in the order of their numbers", async () => {
    expect(await offers(pair.server.web)).toEqual([
      { id: "oidc", name: "Harbour ID", url: "/api/auth/oauth/oidc", reachable: null },
      { id: "oidc_2", name: "Marina", url: "/api/auth/oauth/oidc_2", reachable: null },
    ]);
    const page = (await pair.browser().get("/login")).text;
    expect(page).toMatch(/oauth\/oidc"[\s\S]*Continue with Harbour ID[\s\S]*oauth\/oidc_2"[\s\S]*Continue with Marina/);
  });

  test("with the same subject are two people", async () => {
    const { sub } = newGooglePerson();
    pair.first.person = newGooglePerson({ sub });
    pair.second.person = newGooglePerson({ sub });
    const [one, two] = [pair.browser(), pair.browser()];
    expectSignedIn(await signInWith(one, "oidc"));
    expectSignedIn(await signInWith(two, "oidc_2"));
    expect((await settingsOf(one)).id).not.toBe((await settingsOf(two)).id);
  });

  test("with the same verified address are one account, which lists both by name", async () => {
    const { email } = newGooglePerson();
    pair.first.person = newGooglePerson({ email });
    pair.second.person = newGooglePerson({ email });
    const [one, two] = [pair.browser(), pair.browser()];
    expectSignedIn(await signInWith(one, "oidc"));
    expectSignedIn(await signInWith(two, "oidc_2"));
    expect((await settingsOf(one)).id).toBe((await settingsOf(two)).id);
    expect(await signInsOf(one)).toMatchObject([
      { provider: "oidc", name: "Harbour ID" },
      { provider: "oidc_2", name: "Marina" },
    ]);
  });

  test("never take each other's answers", async () => {
    const client = pair.browser();
    const way = await completeAtProvider(client, "oidc");
    expectFailure(await client.get(way.replace("/oidc?", "/oidc_2?")), "STATE_INVALID");
    expectSignedIn(await client.get(way));

    const other = pair.browser();
    const mixed = new URL(await completeAtProvider(other, "oidc"), "http://x");
    mixed.searchParams.set("iss", pair.second.issuer);
    expectFailure(await other.get(mixed.pathname + mixed.search), "STATE_INVALID");
  });

  test("each check state, nonce and the token's issuer and key", async () => {
    for (const [id, provider, other] of [
      ["oidc", pair.first, pair.second],
      ["oidc_2", pair.second, pair.first],
    ] as const) {
      for (const claims of [{ nonce: "x".repeat(43) }, { iss: other.issuer }, { aud: "another-client" }]) {
        provider.forge = (token) => ({ token: { ...token, claims: { ...token.claims, ...claims } }, signer: "own" });
        expectFailure(await signInWith(pair.browser(), id), "SIGN_IN_FAILED");
      }
      provider.forge = (token) => ({ token, signer: "foreign" });
      expectFailure(await signInWith(pair.browser(), id), "SIGN_IN_FAILED");
      provider.forge = undefined;
      const client = pair.browser();
      const way = await completeAtProvider(client, id);
      expectFailure(await client.get(way.replace(/state=[^&]+/, "state=forged")), "STATE_INVALID");
      expectSignedIn(await client.get(way));
    }
  });

  test("each refuse a code without the verifier that belongs to it", async () => {
    // The codes of both browsers are swapped: the second has its own state and verifier with the first one's code.
    const [ada, eve] = [pair.browser(), pair.browser()];
    const code = /code=[^&]+/.exec(await completeAtProvider(ada, "oidc_2"))?.[0] ?? "none";
    const way = (await completeAtProvider(eve, "oidc_2")).replace(/code=[^&]+/, code);
    expectFailure(await eve.get(way), "SIGN_IN_FAILED");
  });

  test("may be given other numbers: people keep their accounts", async () => {
    const dir = newFolder();
    const callbacks = ["oidc_2", "oidc_7"].map((id) => `http://berth.example/api/auth/callback/${id}`);
    await using marina = await startOidc(callbacks);
    marina.person = newGooglePerson();
    const idAt = async (prefix: string, id: "oidc_2" | "oidc_7") => {
      const env = { BASE_URL: "http://berth.example", ...oidcEnv(prefix, marina, "Marina") };
      await using server = await openServer({ dir, env });
      const client = createClient(server.web);
      expectSignedIn(await signInWith(client, id));
      expect(await signInsOf(client)).toMatchObject([{ provider: id, name: "Marina" }]);
      return (await settingsOf(client)).id;
    };
    expect(await idAt("OIDC_2", "oidc_2")).toBe(await idAt("OIDC_7", "oidc_7"));
  });
});

describe("a provider that is no longer set up", () => {
  test("is listed by its host", async () => {
    const dir = newFolder();
    const path = "http://berth.example/api/auth/callback/oidc";
    await using marina = await startOidc([path]);
    marina.person = newGooglePerson();
    const env = { BASE_URL: "http://berth.example" };
    let cookie = "";
    {
      const all = { ...env, ...oidcEnv("OIDC", marina, "Marina") };
      await using server = await openServer({ dir, env: all });
      const client = createClient(server.web);
      expectSignedIn(await signInWith(client, "oidc"));
      ({ cookie } = client);
    }
    await using server = await openServer({ dir, env });
    const listed = await createClient(server.web).get<{ signIns: object[] }>("/api/settings/sign-ins", {
      headers: { cookie },
    });
    expect(listed.body.signIns).toMatchObject([{ provider: "oidc", name: new URL(marina.issuer).host }]);
  });
});

describe("a provider that does not answer", () => {
  test("holds up neither the start nor other sign-ins; pages learn of it, and of its return", async () => {
    // The address of a provider that has gone, at which it comes back later.
    const callbacks = ["http://berth.example/api/auth/callback/oidc_2"];
    const gone = await startOidc(callbacks);
    const { port } = new URL(gone.issuer);
    await gone[Symbol.asyncDispose]();
    await using server = await openServer({ env: { ...pair.env, ...oidcEnv("OIDC_2", gone, "Marina") } });
    expect((await offers(server.web)).map(({ reachable }) => reachable)).toEqual([null, null]);
    expect((await offers(server.web, "?check=true")).map(({ reachable }) => reachable)).toEqual([true, false]);
    expect((await offers(server.web)).map(({ reachable }) => reachable)).toEqual([true, false]);
    expectFailure(await createClient(server.web).get("/api/auth/oauth/oidc_2"), "PROVIDER_UNAVAILABLE");
    expectSignedIn(await signInWith(createClient(server.web), "oidc"));

    await using back = await startOidc(callbacks, { port: Number(port) });
    back.person = newGooglePerson();
    expectSignedIn(await signInWith(createClient(server.web), "oidc_2"));
    setSystemTime(Date.now() + 20 * SECOND);
    expect((await offers(server.web, "?check=true")).map(({ reachable }) => reachable)).toEqual([true, true]);
  });

  test("is asked once for many visitors, and not again within seconds", async () => {
    const path = "/.well-known/openid-configuration";
    await using server = await openServer({ env: pair.env });
    pair.second.trouble.set(path, "down");
    const asked = () => pair.second.requestedPaths.filter((each) => each === path).length;
    const before = asked();
    await Promise.all(Array.from({ length: 10 }, () => offers(server.web, "?check=true")));
    await offers(server.web, "?check=true");
    expect(asked() - before).toBe(1);
  });
});

describe("a provider that differs from others", () => {
  const callbacks = ["http://berth.example/api/auth/callback/oidc"];
  const withProvider = async (
    options: Parameters<typeof startOidc>[1],
    run: (
      browser: () => ReturnType<typeof createClient>,
      provider: Awaited<ReturnType<typeof startOidc>>,
    ) => Promise<void>,
    more: Record<string, string> = {},
  ) => {
    await using provider = await startOidc(callbacks, options);
    provider.person = newGooglePerson();
    const env = { BASE_URL: "http://berth.example", ...oidcEnv("OIDC", provider, "Marina"), ...more };
    await using server = await openServer({ env });
    await run(() => createClient(server.web), provider);
  };

  test.each<[string, Parameters<typeof startOidc>[1]]>([
    ["lies below a path", { path: "/realms/harbour" }],
    ["sends claims from its userinfo endpoint only", { hasOnlyUserinfo: true }],
    ["takes the secret in the header only", { clientAuth: "client_secret_basic" }],
    ["names no way to send the secret", { clientAuth: "client_secret_basic", namedClientAuth: undefined }],
    [
      "names two ways, of which it takes the second from this client",
      { clientAuth: "client_secret_basic", namedClientAuth: ["client_secret_post", "client_secret_basic"] },
    ],
    ["takes the first of two ways", { namedClientAuth: ["client_secret_basic", "client_secret_post"] }],
  ])("signs people in if it %s", async (_, options) => {
    await withProvider(options, async (browser) => {
      expectSignedIn(await signInWith(browser(), "oidc"));
      expectSignedIn(await signInWith(browser(), "oidc"));
    });
  });

  test("may have a slash at the end of its issuer; people keep their accounts and its name", async () => {
    const options = { path: "/application/o/berth", issuer: (own: string) => `${own}/` };
    await withProvider(options, async (browser) => {
      const [one, two] = [browser(), browser()];
      expectSignedIn(await signInWith(one, "oidc"));
      expectSignedIn(await signInWith(two, "oidc"));
      expect((await settingsOf(one)).id).toBe((await settingsOf(two)).id);
      expect(await signInsOf(one)).toMatchObject([{ provider: "oidc", name: "Marina" }]);
    });
  });

  test("is unavailable if its metadata names another issuer", async () => {
    await withProvider({ issuer: () => "http://127.0.0.1:1/another" }, async (browser) => {
      expectFailure(await browser().get("/api/auth/oauth/oidc"), "PROVIDER_UNAVAILABLE");
    });
  });

  test("is misconfigured, not unavailable, if it does not accept the client's secret", async () => {
    await withProvider(
      {},
      async (browser) => expectFailure(await signInWith(browser(), "oidc"), "PROVIDER_MISCONFIGURED"),
      { OIDC_CLIENT_SECRET: "another secret" },
    );
    await withProvider(
      { clientAuth: "client_secret_basic" },
      async (browser) => expectFailure(await signInWith(browser(), "oidc"), "PROVIDER_MISCONFIGURED"),
      { OIDC_CLIENT_SECRET: "another secret" },
    );
  });

  test("may change its key at any time", async () => {
    await withProvider({}, async (browser, provider) => {
      expectSignedIn(await signInWith(browser(), "oidc"));
      for (let rotation = 0; rotation < 3; rotation++) {
        provider.rotateKey();
        expectSignedIn(await signInWith(browser(), "oidc"));
      }
    });
  });

  test("that says nothing about addresses is trusted only if the operator says so", async () => {
    const { email_verified: _, ...person } = newGooglePerson();
    const silent = person as Person;
    await withProvider({}, async (browser, provider) => {
      provider.person = silent;
      expectFailure(await signInWith(browser(), "oidc"), "EMAIL_NOT_VERIFIED");
    });
    await withProvider(
      {},
      async (browser, provider) => {
        provider.person = silent;
        expectSignedIn(await signInWith(browser(), "oidc"));
        provider.person = newGooglePerson({ email_verified: false });
        expectFailure(await signInWith(browser(), "oidc"), "EMAIL_NOT_VERIFIED");
      },
      { OIDC_TRUST_EMAIL: "on" },
    );
  });
});
