// Who shows that an unverified account's address is theirs gets it alone: other capabilities are told, in the same write.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { guard, type Statement } from "../../src/kernel/database/database.ts";
import { createClient } from "../../tests/support/client.ts";
import { type House, openHouse } from "../../tests/support/house.ts";
import { expectRefusal } from "../../tests/support/scene.ts";
import { createOneTimeLinks } from "./one-time-links.ts";

let house: House;
/** Users whose account was taken over. */
let told: string[];
/** What the capability puts into the write. */
let leftovers: (userId: string) => Statement[];
beforeAll(async () => {
  house = await openHouse();
  house.app.accounts.onAccountReclaim((userId) => {
    told.push(userId);
    return leftovers(userId);
  });
});
afterAll(() => house?.[Symbol.asyncDispose]());
beforeEach(() => {
  told = [];
  leftovers = () => [];
});

async function member(emailVerified: boolean) {
  const client = createClient(house.web);
  const id = await client.join();
  const { email } = client.account;
  const { token, statements } = createOneTimeLinks(house.kernel.database).issue("reset-password", {
    userId: id,
    email,
    lifetimeMs: 60_000,
  });
  await house.kernel.database.write([house.app.accounts.users.updateStatement(id, { emailVerified }), ...statements]);
  return { client, id, email, token };
}
const reset = (token: string) =>
  createClient(house.web).post("/api/auth/reset-password", { token, password: "a new horse battery" });

test("a capability's leftovers of the first owner go with the takeover", async () => {
  const { id, token, client } = await member(false);
  await client.post("/api/keys", { name: "back door" });
  leftovers = (userId) => [{ sql: "UPDATE users SET name = 'asked' WHERE id = ?", args: [userId] }];
  expect((await reset(token)).status).toBe(200);
  expect(told).toEqual([id]);
  expect(await house.app.accounts.users.byId(id)).toMatchObject({ name: "asked", emailVerified: true });
  const { rows } = await house.kernel.database.read("SELECT 1 FROM api_keys WHERE user_id = ?", [id]);
  expect(rows).toEqual([]);
});

test("a verified account that gets a new password is not taken over", async () => {
  const { token } = await member(true);
  expect((await reset(token)).status).toBe(200);
  expect(told).toEqual([]);
});

test("what can't be cleared stops the takeover, and nothing has changed", async () => {
  const { client, id, token } = await member(false);
  leftovers = () => [{ sql: "UPDATE users SET name = 'x' WHERE id = 'nobody'", args: [] }, guard("leftovers")];
  expectRefusal(await reset(token), 400, "INVALID_LINK");
  expect((await client.get("/api/settings")).body).toMatchObject({ id, emailVerified: false });
  leftovers = () => [];
  expect((await reset(token)).status).toBe(200);
});

describe("the second factor", () => {
  async function turnedOn(emailVerified: boolean) {
    const found = await member(emailVerified);
    const { client } = found;
    const { password } = client.account;
    const { body } = await client.post<{ secret: string }>("/api/settings/2fa", { password });
    const code = new TOTP({ secret: Secret.fromBase32(body.secret) }).generate();
    expect((await client.post("/api/settings/2fa/confirm", { code })).status).toBe(200);
    return found;
  }
  const signIn = (email: string) =>
    createClient(house.web).post("/api/auth/callback/credentials", { email, password: "a new horse battery" });

  test("goes with a stranger who never showed that any address was theirs", async () => {
    const { email, token } = await turnedOn(false);
    expect((await reset(token)).status).toBe(200);
    expect((await signIn(email)).status).toBe(200);
  });

  test("stays where an address was ever verified: a new one, which nobody verified, does not get around it", async () => {
    const { id, email, token, client } = await turnedOn(true);
    await house.kernel.database.write([house.app.accounts.users.updateStatement(id, { emailVerified: false })]);
    await client.post("/api/keys", { name: "back door" });
    expect((await reset(token)).status).toBe(200);
    // Everything else is the stranger's who may have had this account.
    expect(told).toEqual([id]);
    const { rows } = await house.kernel.database.read("SELECT 1 FROM api_keys WHERE user_id = ?", [id]);
    expect(rows).toEqual([]);
    expectRefusal(await signIn(email), 401, "TOTP_REQUIRED");
    expect(await house.app.accounts.users.byId(id)).toMatchObject({ emailVerified: true, twoFactorEnabled: true });
  });
});

test("an address that is verified while its owner chooses a password is not taken over unawares", async () => {
  const { id, token } = await member(false);
  const sql = "CREATE TRIGGER meanwhile AFTER DELETE ON auth_links BEGIN UPDATE users SET email_verified = 1; END";
  await house.kernel.database.write([{ sql, args: [] }]);
  expectRefusal(await reset(token), 400, "INVALID_LINK");
  await house.kernel.database.write([{ sql: "DROP TRIGGER meanwhile", args: [] }]);
  expect(await house.app.accounts.users.byId(id)).toMatchObject({ emailVerified: false });
  expect((await reset(token)).status).toBe(200);
});
