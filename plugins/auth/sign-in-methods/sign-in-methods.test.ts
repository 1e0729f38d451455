// The sign-ins of an account: listing, linking and removing them, and what must not be possible.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { throughProvider } from "../../../tests/support/oidc.ts";
import {
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
import { createWallet, siweMessage, type Wallet } from "../../../tests/support/wallets.ts";

const BASE_URL = "http://berth.example";
const PATH = "/api/settings/sign-ins";

interface Method {
  id: string;
  provider: string;
  name: string;
  label: string | null;
  canRemove: boolean;
}

let server: OAuthServer;
beforeAll(async () => {
  server = await openOAuthServer({ MAINNET_RPC_URL: "http://127.0.0.1:1" });
});
afterAll(() => server?.[Symbol.asyncDispose]());
beforeEach(() => server.reset());
afterEach(() => void setSystemTime());

let made = 0;
const member = () => server.member(`ways-${++made}@example.com`, true);
const listOf = async (client: Client) =>
  (await client.get<{ hasPassword: boolean; signIns: Method[]; count: number }>(PATH)).body;
const link = async (client: Client, provider: string) => {
  const begun = await client.post<{ url: string }>(PATH, { provider });
  expect(begun.status).toBe(200);
  return throughProvider(begun.body.url);
};
const locationOf = async (client: Client, path: string) => (await client.get(path)).headers.get("location");
const proofOf = async (wallet: Wallet) => {
  const message = siweMessage(BASE_URL, wallet);
  return { message, signature: await wallet.sign(message) };
};

describe("the ways that the service offers", () => {
  test("are listed for everybody", async () => {
    expect((await server.browser().get("/api/auth/providers")).body).toEqual({
      providers: [
        { id: "google", name: "Google", url: "/api/auth/oauth/google", reachable: null },
        { id: "github", name: "GitHub", url: "/api/auth/oauth/github", reachable: null },
      ],
      wallet: { chainId: 8453 },
      signUp: "open",
      password: { minLength: 8 },
      sendsMail: false,
    });
  });

  test("say that sign-up is closed, and name another OpenID provider as the operator does", async () => {
    const env = { OIDC_ISSUER: server.google.issuer, OIDC_CLIENT_ID: "id", OIDC_CLIENT_SECRET: "s", OIDC_NAME: "Quay" };
    await using closed = await openServer({ env: { ...env, SIGN_UP: "invite" } });
    expect((await createClient(closed.web).get("/api/auth/providers")).body).toMatchObject({
      providers: [{ id: "oidc", name: "Quay", url: "/api/auth/oauth/oidc" }],
      signUp: "invite",
    });
  });
});

test("another OpenID provider signs in like Google, under a subject of its issuer", async () => {
  const { google } = server;
  await using other = await openServer({
    env: {
      BASE_URL,
      OIDC_ISSUER: google.issuer,
      OIDC_CLIENT_ID: google.clientId,
      OIDC_CLIENT_SECRET: google.clientSecret,
    },
  });
  const person = server.useGooglePerson(newGooglePerson());
  const client = createClient(other.web);
  expectSignedIn(await signInWith(client, "oidc"));
  expect((await settingsOf(client)).email).toBe(person.email);
  const { rows } = await other.kernel.database.read("SELECT provider, subject, label FROM linked_accounts");
  expect(rows).toEqual([
    expect.objectContaining({ provider: "oidc", subject: `${google.issuer}#${person.sub}`, label: person.email }),
  ]);
  // The last way in stays.
  const [only] = (await listOf(client)).signIns;
  expect(only).toMatchObject({ provider: "oidc", name: "single sign-on", canRemove: false });
  expectRefusal(await client.delete(`${PATH}/${only?.id}`, {}), 409, "LAST_SIGN_IN");
});

test("providers and wallets are linked, listed and removed; removing ends all other sessions", async () => {
  const ada = await member();
  const { id } = await settingsOf(ada);
  expect(await listOf(ada)).toEqual({ hasPassword: true, signIns: [], count: 0 });
  const person = server.useGooglePerson(newGooglePerson());
  expect(await locationOf(ada, await link(ada, "google"))).toBe("/account/sign-ins?linked=google");
  server.github.person = newGithubPerson("elsewhere@example.com");
  expect(await locationOf(ada, await link(ada, "github"))).toBe("/account/sign-ins?linked=github");
  // A repetition changes nothing.
  expect(await locationOf(ada, await link(ada, "github"))).toBe("/account/sign-ins?linked=github");
  const wallet = createWallet();
  expect((await ada.post(`${PATH}/wallet`, await proofOf(wallet))).status).toBe(201);
  expect((await ada.post(`${PATH}/wallet`, await proofOf(wallet))).status).toBe(201);
  const { signIns, count } = await listOf(ada);
  expect(count).toBe(3);
  expect(signIns).toMatchObject([
    { provider: "google", name: "Google", label: person.email, canRemove: true },
    { provider: "github", name: "GitHub", label: server.github.person.login, canRemove: true },
    { provider: "wallet", label: wallet.address.toLowerCase(), canRemove: true },
  ]);
  const phone = server.browser();
  expectSignedIn(await signInWith(phone, "google"));
  expect((await settingsOf(phone)).id).toBe(id);
  const mails = await server.rows("SELECT count(*) AS mails FROM jobs WHERE kind LIKE 'mail%'");
  for (const method of signIns) expect((await ada.delete(`${PATH}/${method.id}`, {})).status).toBe(200);
  expectRefusal(await phone.get("/api/settings"), 401, "UNAUTHORIZED");
  expect((await listOf(ada)).count).toBe(0);
  expect(await server.rows("SELECT count(*) AS mails FROM jobs WHERE kind LIKE 'mail%'")).not.toEqual(mails);
  expectRefusal(await ada.delete(`${PATH}/${signIns[0]?.id}`, {}), 404, "SIGN_IN_NOT_FOUND");
});

describe("linking is refused", () => {
  test("for an identity of another account, which keeps it", async () => {
    server.useGooglePerson(newGooglePerson());
    const owner = server.browser();
    expectSignedIn(await signInWith(owner, "google"));
    const eve = await member();
    expect(await locationOf(eve, await link(eve, "google"))).toBe("/account/sign-ins?error=ALREADY_LINKED");
    expect((await listOf(eve)).count).toBe(0);
    expect((await listOf(owner)).count).toBe(1);
    const wallet = createWallet();
    await server.browser().post("/api/auth/callback/wallet", await proofOf(wallet));
    expectRefusal(await eve.post(`${PATH}/wallet`, await proofOf(wallet)), 409, "ALREADY_LINKED");
  });

  test("in a browser that is not signed in to that session, or no longer", async () => {
    const ada = await member();
    const eve = await member();
    server.useGooglePerson(newGooglePerson());
    // Eve's response in Ada's browser, as if Eve had made it open her address.
    const address = await link(eve, "google");
    const failed = await ada.get(address);
    expect(failed.headers.get("location")).toBe("/login?error=STATE_INVALID");
    const again = await link(ada, "google");
    await ada.post("/api/auth/signout", {});
    expect(await locationOf(ada, again)).toBe("/account/sign-ins?error=SIGN_IN_AGAIN");
    expect(
      await server.rows("SELECT 1 FROM linked_accounts WHERE subject = ?", server.google.person?.sub ?? ""),
    ).toEqual([]);
  });

  test("for an old session without the password, an API key, a missing signature, and an unknown provider", async () => {
    const ada = await member();
    const { id } = await settingsOf(ada);
    const { body } = await ada.post<{ key: string }>("/api/keys", { name: "robot" });
    const bearer = { headers: { authorization: `Bearer ${body.key}` } };
    expectRefusal(await server.browser().post(PATH, { provider: "google" }, bearer), 403, "SESSION_REQUIRED");
    expectRefusal(await ada.post(PATH, { provider: "nobody" }), 404, "NOT_FOUND");
    expectRefusal(await ada.post(PATH, { provider: "oidc" }), 404, "PROVIDER_NOT_CONFIGURED");
    expectRefusal(await ada.post(`${PATH}/wallet`, { message: "" }), 401, "SIGNATURE_REQUIRED");
    expectRefusal(
      await ada.post(PATH, { provider: "google", currentPassword: "wrong password" }),
      401,
      "BAD_CREDENTIALS",
    );
    await server.write(id, "UPDATE users SET password_hash = NULL WHERE id = ?", id);
    setSystemTime(Date.now() + 11 * MINUTE);
    expectRefusal(await ada.post(PATH, { provider: "google" }), 403, "RECENT_SIGN_IN_REQUIRED");
  });

  test("beyond twenty", async () => {
    const ada = await member();
    const { id } = await settingsOf(ada);
    for (let each = 0; each < 20; each++)
      await server.write(
        id,
        "INSERT INTO linked_accounts VALUES ('wallet', ?, ?, 0, NULL, NULL)",
        `0x${id}${each}`,
        id,
      );
    expectRefusal(await ada.post(`${PATH}/wallet`, await proofOf(createWallet())), 409, "TOO_MANY_SIGN_INS");
    server.useGooglePerson(newGooglePerson());
    expect(await locationOf(ada, await link(ada, "google"))).toBe("/account/sign-ins?error=TOO_MANY_SIGN_INS");
  });

  test("while the provider can't be reached", async () => {
    const ada = await member();
    await using down = await openServer({
      env: { BASE_URL, OIDC_ISSUER: "http://127.0.0.1:1", OIDC_CLIENT_ID: "id", OIDC_CLIENT_SECRET: "s" },
    });
    const bob = createClient(down.web);
    await bob.join({ email: "bob@example.com" });
    expectRefusal(await bob.post(PATH, { provider: "oidc" }), 502, "PROVIDER_UNAVAILABLE");
    expect((await listOf(ada)).count).toBe(0);
  });
});

describe("removing is refused", () => {
  test("for the wallet that the account is named after, and for strangers", async () => {
    const wallet = createWallet();
    const ada = server.browser();
    await ada.post("/api/auth/callback/wallet", await proofOf(wallet));
    await ada.post(`${PATH}/wallet`, await proofOf(createWallet()));
    const [own, other] = (await listOf(ada)).signIns.sort((a) => (a.label === wallet.address.toLowerCase() ? -1 : 1));
    expect(own?.canRemove).toBe(false);
    expectRefusal(await ada.delete(`${PATH}/${own?.id}`, {}), 409, "SIGN_IN_IS_ADDRESS");
    expectRefusal(await (await member()).delete(`${PATH}/${other?.id}`, {}), 404, "SIGN_IN_NOT_FOUND");
    expect((await ada.delete(`${PATH}/${other?.id}`, {})).status).toBe(200);
  });

  test("for both of the last two at once: one stays", async () => {
    server.useGooglePerson(newGooglePerson());
    const ada = server.browser();
    expectSignedIn(await signInWith(ada, "google"));
    await ada.post(`${PATH}/wallet`, await proofOf(createWallet()));
    const { signIns } = await listOf(ada);
    const answers = await Promise.all(signIns.map(({ id }) => ada.delete(`${PATH}/${id}`, {})));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await listOf(ada)).count).toBe(1);
  });
});

test("a referral code tells who came with it; the second factor tells how many recovery codes are left", async () => {
  const ada = await member();
  const { body } = await ada.get<{ code: string; url: string }>("/api/settings/referral");
  expect(body).toEqual({
    code: expect.stringMatching(/^[a-z0-9-]+$/),
    url: `${BASE_URL}/register?ref=${body.code}`,
    joined: 0,
    creditsPerPerson: 10,
  } as never);
  const friend = { email: `friend-${made}@example.com`, password: "correct horse battery", referralCode: body.code };
  expect((await server.browser().post("/api/register", friend)).status).toBe(201);
  expect((await ada.get("/api/settings/referral")).body).toMatchObject({ joined: 1 });
  expect((await ada.get("/api/settings/2fa")).body).toEqual({ enabled: false, since: null, recoveryCodesLeft: 0 });
  expect((await ada.get("/api/settings")).body).toMatchObject({ hasPassword: true });
});
