// Accounts that hold what nobody has claimed yet: nobody's, in every respect.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { plugin, type ServiceOf } from "../../src/kernel/plugin.ts";
import { createClient } from "../../tests/support/client.ts";
import { type House, openHouse } from "../../tests/support/house.ts";
import { auth } from "./index.ts";

let house: House;
let accounts: ServiceOf<typeof auth>;
beforeAll(async () => {
  const window = plugin("window", (host) => {
    accounts = host.use(auth);
    return { service: undefined };
  });
  house = await openHouse({ plugins: [window] });
});
afterAll(() => house[Symbol.asyncDispose]());

const made = async () => {
  const { id, statements } = accounts.placeholderAccounts.createStatements("Unclaimed");
  await house.kernel.database.write(statements);
  const user = await accounts.users.byId(id);
  if (!user) throw new Error("not made");
  return user;
};

test("they leave the first admin's link as it is, and it still makes the first admin", async () => {
  await made();
  const link = await accounts.createFirstAdminLink();
  expect(link).toBeString();
  await made();
  const token = new URL(link ?? "").searchParams.get("token");
  const body = { token, email: "owner@example.com", name: "Ada", password: "correct horse battery" };
  expect((await createClient(house).post("/api/auth/first-admin", body)).status).toBe(201);
  expect(await accounts.createFirstAdminLink()).toBeUndefined();
});

test("they have the plan free, and are no news", async () => {
  const { id, email, plan, subscription, isAdmin } = await made();
  expect({ plan, subscription, isAdmin }).toEqual({ plan: "free", subscription: null, isAdmin: false });
  // Others get to see the id.
  expect(email).not.toContain(id);
  await house.kernel.database.write([accounts.placeholderAccounts.deleteStatement(id)]);
  expect(await accounts.users.byId(id)).toBeUndefined();
  expect((await house.kernel.events.since(0)).filter(({ userId }) => userId === id)).toEqual([]);
});

test("nobody signs in to one, signs up as one, or is mailed as one", async () => {
  const { email } = await made();
  const client = createClient(house);
  const password = "correct horse battery";
  expect((await client.post("/api/auth/callback/credentials", { email, password })).body).toMatchObject({
    code: "BAD_CREDENTIALS",
  });
  expect((await client.post("/api/register", { email: "me@unclaimed.invalid", password })).body).toMatchObject({
    code: "INVALID_EMAIL",
  });
  expect((await client.post("/api/auth/forgot-password", { email })).status).toBe(200);
  const { rows } = await house.kernel.database.read("SELECT 1 FROM auth_links WHERE email = ?", [email]);
  expect(rows).toEqual([]);
});

test("an account that is somebody's is not ended like one", async () => {
  const id = await createClient(house).join();
  await house.kernel.database.write([accounts.placeholderAccounts.deleteStatement(id)]);
  expect(await accounts.users.byId(id)).toBeDefined();
});
