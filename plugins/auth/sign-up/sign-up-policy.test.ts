// Tests who gets an account under each SIGN_UP: by email, provider and wallet, with an invitation, and from an admin.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { becomeFirstAdmin } from "../../../tests/support/account-setup.ts";
import type { Client } from "../../../tests/support/client.ts";
import {
  expectFailure,
  expectSignedIn,
  newGithubPerson,
  newGooglePerson,
  type OAuthServer,
  openOAuthServer,
  signInWith,
} from "../../../tests/support/providers.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { createWallet, siweMessage } from "../../../tests/support/wallets.ts";

const BASE_URL = "http://berth.example";
const password = "correct horse battery";
const newEmail = () => `person-${crypto.randomUUID()}@example.com`;

async function openWith(mode: string) {
  const server: OAuthServer = await openOAuthServer({ SIGN_UP: mode, BASE_URL, MAINNET_RPC_URL: "http://127.0.0.1:1" });
  const admin = server.browser();
  await becomeFirstAdmin(server, admin);
  const register = (body: object) => server.browser().post("/api/register", { password, ...body });
  const withWallet = async () => {
    const wallet = createWallet();
    const message = siweMessage(BASE_URL, wallet);
    const body = { message, signature: await wallet.sign(message) };
    return server.browser().post("/api/auth/callback/wallet", body, { headers: { accept: "application/json" } });
  };
  const accounts = async () => (await server.rows("SELECT id FROM users")).length;
  return { server, admin, register, withWallet, accounts };
}
type Opened = Awaited<ReturnType<typeof openWith>>;

/** Invites an address; returns the token of the link. */
async function invite(admin: Client, email: string): Promise<string> {
  const { status, body } = await admin.post<{ link: string; email: string }>("/api/admin/invitations", { email });
  expect({ status, email: body.email }).toEqual({ status: 201, email: email.toLowerCase() });
  const link = new URL(body.link);
  expect([link.origin, link.pathname, link.searchParams.get("email")]).toEqual([BASE_URL, "/register", body.email]);
  return link.searchParams.get("invitation") ?? "";
}

describe("SIGN_UP=closed", () => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openWith("closed");
  });
  afterAll(() => opened?.server[Symbol.asyncDispose]());

  test("refuses new accounts by email, provider and wallet, and creates none", async () => {
    const { server, register, withWallet, accounts } = opened;
    const before = await accounts();
    expectRefusal(await register({ email: newEmail() }), 403, "SIGN_UP_CLOSED");
    // The answer does not tell who has an account.
    expectRefusal(await register({ email: "owner@example.com" }), 403, "SIGN_UP_CLOSED");
    server.useGooglePerson(newGooglePerson());
    expectFailure(await signInWith(server.browser(), "google"), "SIGN_UP_CLOSED");
    expectRefusal(await withWallet(), 403, "SIGN_UP_CLOSED");
    expect(await accounts()).toBe(before);
  });

  test("lets admins create accounts, whose owners sign in, also with a provider", async () => {
    const { server, admin } = opened;
    const { email } = server.useGooglePerson(newGooglePerson());
    const made = await admin.post("/api/admin/users", { email, password, emailVerified: true });
    expect(made.status).toBe(201);
    expect((await server.browser().post("/api/auth/callback/credentials", { email, password })).status).toBe(200);
    expectSignedIn(await signInWith(server.browser(), "google"));
  });

  test("makes no invitations, which would admit nobody", async () => {
    expectRefusal(await opened.admin.post("/api/admin/invitations", { email: newEmail() }), 409, "SIGN_UP_CLOSED");
  });
});

describe("SIGN_UP=invite", () => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openWith("invite");
  });
  afterAll(() => opened?.server[Symbol.asyncDispose]());

  test("refuses people without an invitation, and every new wallet", async () => {
    const { server, register, withWallet, accounts } = opened;
    const before = await accounts();
    for (const invitation of [undefined, "", "x".repeat(43)]) {
      expectRefusal(await register({ email: newEmail(), invitation }), 403, "SIGN_UP_CLOSED");
    }
    server.github.person = newGithubPerson(newEmail());
    expectFailure(await signInWith(server.browser(), "github"), "SIGN_UP_CLOSED");
    expectRefusal(await withWallet(), 403, "SIGN_UP_CLOSED");
    expect(await accounts()).toBe(before);
  });

  test("an invitation makes one account, for its address only, also of concurrent uses", async () => {
    const { admin, register } = opened;
    const email = `Person-${crypto.randomUUID()}@Example.com`;
    const invitation = await invite(admin, email);
    expectRefusal(await register({ email: newEmail(), invitation }), 403, "SIGN_UP_CLOSED");
    const answers = await Promise.all(Array.from({ length: 5 }, () => register({ email, invitation })));
    expect(answers.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1);
    for (const { status } of answers) expect([201, 403, 409]).toContain(status);
    expectRefusal(await register({ email: newEmail(), invitation }), 403, "SIGN_UP_CLOSED");
    expectRefusal(await admin.post("/api/admin/invitations", { email }), 409, "USER_EXISTS");
  });

  test("a refused sign-up leaves the invitation valid; a later invitation replaces it; others stay", async () => {
    const { admin, register } = opened;
    const [email, other] = [newEmail(), newEmail()];
    const [first, theirs] = [await invite(admin, email), await invite(admin, other)];
    expectRefusal(await register({ email, invitation: first, password: "password" }), 400, "PASSWORD_TOO_COMMON");
    const second = await invite(admin, email);
    expectRefusal(await register({ email, invitation: first }), 403, "SIGN_UP_CLOSED");
    expect((await register({ email, invitation: second })).status).toBe(201);
    expect((await register({ email: other, invitation: theirs })).status).toBe(201);
  });

  test("an expired invitation is refused", async () => {
    const { server, admin, register } = opened;
    const email = newEmail();
    const invitation = await invite(admin, email);
    await server.write("", "UPDATE auth_links SET expires_at = 1 WHERE email = ?", email);
    expectRefusal(await register({ email, invitation }), 403, "SIGN_UP_CLOSED");
  });

  test("a provider that has verified the address needs no token, once", async () => {
    const { server, admin, register } = opened;
    const { email } = server.useGooglePerson(newGooglePerson());
    const invitation = await invite(admin, email);
    expectSignedIn(await signInWith(server.browser(), "google"));
    expectRefusal(await register({ email: newEmail(), invitation }), 403, "SIGN_UP_CLOSED");
  });

  test("invitations are made in an admin's session, are recorded without their link, and replays hide it", async () => {
    const { server, admin } = opened;
    const member = server.browser();
    const email = newEmail();
    const token = await invite(admin, email);
    await member.join({ email }).catch(() => undefined);
    expectRefusal(await server.browser().post("/api/admin/invitations", { email }), 401, "UNAUTHORIZED");
    const { body: key } = await admin.post<{ key: string }>("/api/keys", { name: "script" });
    const bearer = { headers: { authorization: `Bearer ${key.key}` } };
    expectRefusal(await server.browser().post("/api/admin/invitations", { email }, bearer), 403, "SESSION_REQUIRED");
    const audit = await admin.get<{ entries: object[] }>(`/api/admin/audit?user=${email}&action=user.invite`);
    expect(audit.body.entries).toMatchObject([{ action: "user.invite", target: { name: email } }]);
    expect(audit.text).not.toContain(token);
    const keyed = { headers: { "idempotency-key": crypto.randomUUID() } };
    const other = newEmail();
    const once = await admin.post("/api/admin/invitations", { email: other }, keyed);
    expect(await admin.post("/api/admin/invitations", { email: other }, keyed)).toMatchObject({
      status: 201,
      body: { ...(once.body as object), link: null },
    });
  });
});

describe("SIGN_UP=domains", () => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openWith("domains:harbour.example, Quay.example");
  });
  afterAll(() => opened?.server[Symbol.asyncDispose]());

  test("admits addresses of the domains, which sign in once they are proven", async () => {
    const { server, register } = opened;
    const email = `ada-${crypto.randomUUID()}@QUAY.example`;
    expect((await register({ email })).status).toBe(201);
    const signIn = () => server.browser().post("/api/auth/callback/credentials", { email, password });
    expectRefusal(await signIn(), 403, "EMAIL_NOT_VERIFIED");
    const { id } = (await server.app.accounts.administration.byEmail(email)) ?? {};
    await server.write(id, "UPDATE users SET email_verified = 1 WHERE id = ?", id);
    expect((await signIn()).status).toBe(200);
  });

  test.each([
    "ada@example.com",
    "ada@mail.harbour.example",
    "ada@notharbour.example",
    "ada@harbour.example.com",
    '"ada@harbour.example"@example.com',
  ])("refuses %s, and creates nothing", async (email) => {
    const { register, accounts } = opened;
    const before = await accounts();
    const { status } = await register({ email });
    expect([400, 403]).toContain(status);
    expect(await accounts()).toBe(before);
  });

  test("admits people of the domains by a provider, refuses others, and every new wallet", async () => {
    const { server, withWallet } = opened;
    server.useGooglePerson(newGooglePerson({ email: `bob-${crypto.randomUUID()}@harbour.example` }));
    expectSignedIn(await signInWith(server.browser(), "google"));
    server.useGooglePerson(newGooglePerson());
    expectFailure(await signInWith(server.browser(), "google"), "SIGN_UP_CLOSED");
    expectRefusal(await withWallet(), 403, "SIGN_UP_CLOSED");
  });

  test("admits invited people of any domain", async () => {
    const email = newEmail();
    const invitation = await invite(opened.admin, email);
    expect((await opened.register({ email, invitation })).status).toBe(201);
  });
});

test.each(["domains:", "domains:nodot", "domains:a.example,,", "domains:@a.example"])(
  "SIGN_UP=%s stops the start",
  async (text) => {
    await expect(openWith(text)).rejects.toThrow(/SIGN_UP/);
  },
);

test("SIGN_UP=open needs no invitation, and ignores one", async () => {
  const { server, register, withWallet } = await openWith("open");
  try {
    expect((await register({ email: newEmail() })).status).toBe(201);
    expect((await register({ email: newEmail(), invitation: "any" })).status).toBe(201);
    expect((await withWallet()).status).toBe(200);
  } finally {
    await server[Symbol.asyncDispose]();
  }
});
