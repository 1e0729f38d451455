// Account reclaim: a password reset of an unverified account revokes all other access, also what other plugins hold of
// it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { guard, type Statement } from "../../src/kernel/database/database.ts";
import { createClient } from "../../tests/support/client.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { createOneTimeLinks } from "./one-time-links.ts";

let server: TestServer;
/** The users for whom the hook was called. */
let reclaimed: string[];
/** The statements that the hook returns. */
let hookStatements: (userId: string) => Statement[];
beforeAll(async () => {
  server = await openServer();
  server.app.accounts.onAccountReclaim((userId) => {
    reclaimed.push(userId);
    return hookStatements(userId);
  });
});
afterAll(() => server?.[Symbol.asyncDispose]());
beforeEach(() => {
  reclaimed = [];
  hookStatements = () => [];
});

async function member(emailVerified: boolean) {
  const client = createClient(server.web);
  const id = await client.join();
  const { email } = client.account;
  const { token, statements } = createOneTimeLinks(server.kernel).issue("reset-password", {
    userId: id,
    email,
    lifetimeMs: 60_000,
  });
  await server.kernel.database.write([server.app.accounts.users.updateStatement(id, { emailVerified }), ...statements]);
  return { client, id, email, token };
}
const reset = (token: string) =>
  createClient(server.web).post("/api/auth/reset-password", { token, password: "a new horse battery" });

test("a reclaim deletes API keys and writes the statements of the hooks", async () => {
  const { id, token, client } = await member(false);
  await client.post("/api/keys", { name: "back door" });
  hookStatements = (userId) => [{ sql: "UPDATE users SET name = 'asked' WHERE id = ?", args: [userId] }];
  expect((await reset(token)).status).toBe(200);
  expect(reclaimed).toEqual([id]);
  expect(await server.app.accounts.users.byId(id)).toMatchObject({ name: "asked", emailVerified: true });
  const { rows } = await server.kernel.database.read("SELECT 1 FROM api_keys WHERE user_id = ?", [id]);
  expect(rows).toEqual([]);
});

test("a password reset of a verified account is not a reclaim", async () => {
  const { token } = await member(true);
  expect((await reset(token)).status).toBe(200);
  expect(reclaimed).toEqual([]);
});

test("a failing guard of a hook aborts the reclaim, and changes nothing", async () => {
  const { client, id, token } = await member(false);
  hookStatements = () => [{ sql: "UPDATE users SET name = 'x' WHERE id = 'nobody'", args: [] }, guard("leftovers")];
  expectRefusal(await reset(token), 400, "INVALID_LINK");
  expect((await client.get("/api/settings")).body).toMatchObject({ id, emailVerified: false });
  hookStatements = () => [];
  expect((await reset(token)).status).toBe(200);
});

describe("the second factor", () => {
  async function memberWithTwoFactor(emailVerified: boolean) {
    const account = await member(emailVerified);
    const { client } = account;
    const { password } = client.account;
    const { body } = await client.post<{ secret: string }>("/api/settings/2fa", { password });
    const code = new TOTP({ secret: Secret.fromBase32(body.secret) }).generate();
    expect((await client.post("/api/settings/2fa/confirm", { code })).status).toBe(200);
    return account;
  }
  const signIn = (email: string) =>
    createClient(server.web).post("/api/auth/callback/credentials", { email, password: "a new horse battery" });

  test("is removed if no address of the account was ever verified", async () => {
    const { email, token } = await memberWithTwoFactor(false);
    expect((await reset(token)).status).toBe(200);
    expect((await signIn(email)).status).toBe(200);
  });

  test("stays if an earlier address was verified: a new, unverified address does not bypass it", async () => {
    const { id, email, token, client } = await memberWithTwoFactor(true);
    await server.kernel.database.write([server.app.accounts.users.updateStatement(id, { emailVerified: false })]);
    await client.post("/api/keys", { name: "back door" });
    expect((await reset(token)).status).toBe(200);
    // All other access may be a stranger's.
    expect(reclaimed).toEqual([id]);
    const { rows } = await server.kernel.database.read("SELECT 1 FROM api_keys WHERE user_id = ?", [id]);
    expect(rows).toEqual([]);
    expectRefusal(await signIn(email), 401, "TOTP_REQUIRED");
    expect(await server.app.accounts.users.byId(id)).toMatchObject({ emailVerified: true, twoFactorEnabled: true });
  });
});

test("if the address becomes verified during the reset, the batch aborts instead of reclaiming the account", async () => {
  const { id, token } = await member(false);
  const sql =
    "CREATE TRIGGER verified_during_reset AFTER DELETE ON auth_links BEGIN UPDATE users SET email_verified = 1; END";
  await server.kernel.database.write([{ sql, args: [] }]);
  expectRefusal(await reset(token), 400, "INVALID_LINK");
  await server.kernel.database.write([{ sql: "DROP TRIGGER verified_during_reset", args: [] }]);
  expect(await server.app.accounts.users.byId(id)).toMatchObject({ emailVerified: false });
  expect((await reset(token)).status).toBe(200);
});
