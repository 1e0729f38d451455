// Admins by a group at their provider: given and taken at each sign-in, by that provider alone, and ended with its settings.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { startOidc, throughProvider } from "../../../tests/support/oidc.ts";
import { type OpenidPair, oidcEnv, openOpenidPair } from "../../../tests/support/openid-pair.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { expectSignedIn, newGooglePerson, settingsOf, signInWith } from "../../../tests/support/providers.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";

const RULES = { OIDC_ADMIN_GROUPS: "berth-admins, captains", OIDC_SCOPES: "openid email profile groups" };
const LISTED = "harbour.master@example.com";

let pair: OpenidPair;
beforeAll(async () => {
  pair = await openOpenidPair({ env: { ...RULES, ADMIN_EMAILS: LISTED, OIDC_2_SCOPES: RULES.OIDC_SCOPES } });
});
afterAll(() => pair?.[Symbol.asyncDispose]());
beforeEach(() => {
  pair.first.person = newGooglePerson();
  pair.second.person = newGooglePerson();
});

const isAdmin = async (client: Client) => {
  const { status } = await client.get("/api/admin/users");
  expect([200, 403]).toContain(status);
  return status === 200;
};
/** A browser in which this person has signed in. */
async function signedIn(groups: unknown, id: "oidc" | "oidc_2" = "oidc", client = pair.browser()): Promise<Client> {
  const provider = id === "oidc" ? pair.first : pair.second;
  provider.person = { ...newGooglePerson(), ...provider.person, groups };
  expectSignedIn(await signInWith(client, id));
  return client;
}
const auditOf = async (server: TestServer, userId: string) =>
  (
    await server.kernel.database.read(
      "SELECT action, actor_kind, details FROM audit_log WHERE target_id = ? AND action LIKE 'user.%mote' ORDER BY id",
      [userId],
    )
  ).rows.map(({ action, actor_kind: actor, details }) => ({ action, actor, details: JSON.parse(String(details)) }));

describe("a member of a group of OIDC_ADMIN_GROUPS", () => {
  test("is an admin from the sign-in on, and none after one without the group, in all sessions", async () => {
    const first = await signedIn(["berth-admins", "sailors"]);
    expect(await isAdmin(first)).toBe(true);
    const later = await signedIn(["sailors"]);
    expect(await isAdmin(later)).toBe(false);
    expect(await isAdmin(first)).toBe(false);
    await signedIn(["captains"]);
    expect(await isAdmin(first)).toBe(true);
    await signedIn(undefined);
    expect(await isAdmin(first)).toBe(false);
  });

  test("is recorded in the audit log as the rights come and go", async () => {
    const client = await signedIn(["captains", "berth-admins"]);
    await signedIn(["captains"]);
    await signedIn([]);
    const record = (isNow: boolean, groups: string[]) => ({
      action: isNow ? "user.promote" : "user.demote",
      actor: "user",
      details: { isAdmin: { from: !isNow, to: isNow }, provider: "Harbour ID", groups },
    });
    expect(await auditOf(pair.server, (await settingsOf(client)).id)).toEqual([
      record(true, ["berth-admins", "captains"]),
      record(false, []),
    ]);
  });

  test.each([
    ["a similar name", ["Berth-Admins", "berth-admins2", " berth-admins", "berth"]],
    ["a text with the name in it", "sailors,berth-admins"],
    ["objects and numbers", [{ name: "berth-admins" }, 1, null, true]],
    ["an object", { "berth-admins": true }],
    ["a list in a list", [["berth-admins"]]],
  ])("is not who has %s", async (_, groups) => {
    expect(await isAdmin(await signedIn(groups))).toBe(false);
  });

  test("may have the one group as a text", async () => {
    expect(await isAdmin(await signedIn("berth-admins"))).toBe(true);
  });
});

describe("another provider", () => {
  test("makes no admins by the same groups, nor takes away those of the first", async () => {
    const { email } = newGooglePerson();
    expect(await isAdmin(await signedIn(["berth-admins"], "oidc_2"))).toBe(false);
    pair.first.person = newGooglePerson({ email });
    pair.second.person = newGooglePerson({ email });
    const first = await signedIn(["berth-admins"]);
    const second = await signedIn([], "oidc_2");
    expect((await settingsOf(first)).id).toBe((await settingsOf(second)).id);
    expect(await isAdmin(second)).toBe(true);
    await signedIn([]);
    await signedIn(["berth-admins"], "oidc_2");
    expect(await isAdmin(second)).toBe(false);
  });
});

describe("an admin by other means", () => {
  test("stays one: an address of ADMIN_EMAILS", async () => {
    pair.first.person = newGooglePerson({ email: LISTED });
    expect(await isAdmin(await signedIn([]))).toBe(true);
    await signedIn(["berth-admins"]);
    expect(await isAdmin(await signedIn([]))).toBe(true);
  });

  test("stays one: an account that an admin has made one", async () => {
    const client = await signedIn([]);
    const { id } = await settingsOf(client);
    await pair.server.kernel.database.write([{ sql: "UPDATE users SET is_admin = 1 WHERE id = ?", args: [id] }]);
    pair.server.app.accounts.users.invalidate(id);
    await signedIn(["berth-admins"]);
    await signedIn([]);
    expect(await isAdmin(client)).toBe(true);
  });

  test("can't take the rights of a group away, since the next sign-in would give them again", async () => {
    pair.first.person = newGooglePerson({ email: LISTED });
    const admin = await signedIn([]);
    pair.first.person = newGooglePerson();
    const { id } = await settingsOf(await signedIn(["berth-admins"]));
    expectRefusal(await admin.patch(`/api/admin/users/${id}`, { isAdmin: false }), 409, "ADMIN_BY_GROUP");
    const listed = await admin.get<{ users: { id: string; isAdmin: boolean }[] }>("/api/admin/users?status=admin");
    expect(listed.body.users.find((user) => user.id === id)?.isAdmin).toBe(true);
  });
});

test("removing the sign-in ends the rights at once; linking it again in the settings brings them back", async () => {
  const client = await signedIn(["berth-admins"]);
  await client.post("/api/settings/password", { newPassword: "a password of one's own" });
  const listed = await client.get<{ signIns: { id: string }[] }>("/api/settings/sign-ins");
  const removed = await client.delete(`/api/settings/sign-ins/${listed.body.signIns[0]?.id}`, {});
  expect(removed.status).toBe(200);
  expect(await isAdmin(client)).toBe(false);
  const begun = await client.post<{ url: string }>("/api/settings/sign-ins", { provider: "oidc" });
  const linked = await client.get(await throughProvider(begun.body.url));
  expect(linked.headers.get("location")).toBe("/account/sign-ins?linked=oidc");
  expect(await isAdmin(client)).toBe(true);
});

test("with a second factor the rights come and go with the code, not before it", async () => {
  const client = await signedIn([]);
  const begun = await client.post<{ secret: string; recoveryCodes: string[] }>("/api/settings/2fa", {});
  const code = new TOTP({ secret: Secret.fromBase32(begun.body.secret) }).generate();
  expect((await client.post("/api/settings/2fa/confirm", { code })).status).toBe(200);
  const enter = async (groups: string[], totp: string | undefined) => {
    pair.first.person = { ...newGooglePerson(), ...pair.first.person, groups };
    const other = pair.browser();
    expect((await signInWith(other, "oidc")).headers.get("location")).toBe("/login?step=code");
    expect(await isAdmin(client)).toBe(groups.length === 0);
    expect((await other.post("/api/auth/two-factor", { totp })).status).toBe(200);
    expect(await isAdmin(client)).toBe(groups.length > 0);
  };
  await enter(["berth-admins"], begun.body.recoveryCodes[0]);
  await enter([], begun.body.recoveryCodes[1]);
});

describe("groups", () => {
  const run = async (rules: Record<string, string>, claims: object, onlyUserinfo = false) => {
    await using provider = await startOidc(["http://berth.example/api/auth/callback/oidc"], {
      hasOnlyUserinfo: onlyUserinfo,
    });
    provider.person = { ...newGooglePerson(), ...claims };
    const env = { BASE_URL: "http://berth.example", ...oidcEnv("OIDC", provider, "Marina"), ...rules };
    await using server = await openServer({ env });
    const client = createClient(server.web);
    expectSignedIn(await signInWith(client, "oidc"));
    return await isAdmin(client);
  };

  test("are found in a claim inside of another", async () => {
    const rules = { OIDC_GROUPS_CLAIM: "realm_access.roles", OIDC_ADMIN_GROUPS: "berth-admin" };
    expect(await run(rules, { realm_access: { roles: ["offline_access", "berth-admin"] } })).toBe(true);
    expect(await run(rules, { realm_access: ["berth-admin"] })).toBe(false);
  });

  test("are found at the userinfo endpoint", async () => {
    expect(await run(RULES, { groups: ["captains"] }, true)).toBe(true);
  });

  test("may have commas in their names, in a JSON list", async () => {
    const name = "cn=admins,ou=groups,dc=harbour";
    expect(await run({ ...RULES, OIDC_ADMIN_GROUPS: JSON.stringify([name]) }, { groups: [name] })).toBe(true);
  });

  test("make no admins without OIDC_ADMIN_GROUPS", async () => {
    expect(await run({ OIDC_SCOPES: RULES.OIDC_SCOPES }, { groups: ["captains", ""] })).toBe(false);
  });
});

test("a start with other settings ends the rights that they no longer give, and records it", async () => {
  const folder = temporaryDir();
  await using provider = await startOidc(["http://berth.example/api/auth/callback/oidc"]);
  const base = { BASE_URL: "http://berth.example", OIDC_SCOPES: RULES.OIDC_SCOPES };
  provider.person = { ...newGooglePerson(), groups: ["berth-admins", "captains"] };
  let cookie = "";
  const at = async (env: Record<string, string>) => {
    await using server = await openServer({ dir: folder.path, env: { ...base, ...env } });
    await server.app.start();
    const client = createClient(server.web);
    if (!cookie) {
      expectSignedIn(await signInWith(client, "oidc"));
      ({ cookie } = client);
    }
    const { status, body } = await client.get<{ id: string }>("/api/settings", { headers: { cookie } });
    expect(status).toBe(200);
    const audit = await auditOf(server, body.id);
    return { isAdmin: (await client.get("/api/admin/users", { headers: { cookie } })).status === 200, audit };
  };
  const own = oidcEnv("OIDC", provider, "Marina");
  expect((await at({ ...own, OIDC_ADMIN_GROUPS: "berth-admins,captains" })).isAdmin).toBe(true);
  expect((await at({ ...own, OIDC_ADMIN_GROUPS: "captains" })).isAdmin).toBe(true);
  const ended = await at({ ...own, OIDC_ADMIN_GROUPS: "berth-admins" });
  expect(ended.isAdmin).toBe(false);
  expect(ended.audit.at(-1)).toMatchObject({ action: "user.demote", actor: "command" });
  expect((await at({ ...own, OIDC_ADMIN_GROUPS: "captains" })).isAdmin).toBe(false);
  folder.remove();
});
