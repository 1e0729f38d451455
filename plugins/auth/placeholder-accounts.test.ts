// Placeholder accounts: they count as no account for sign-in, mail, events and the first admin.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { plugin, type ServiceOf } from "../../src/kernel/plugin.ts";
import { createClient } from "../../tests/support/client.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { auth } from "./index.ts";

let server: TestServer;
let accounts: ServiceOf<typeof auth>;
beforeAll(async () => {
  const exposeAuth = plugin("expose-auth", (host) => {
    accounts = host.use(auth);
    return { service: undefined };
  });
  server = await openServer({ plugins: [exposeAuth] });
});
afterAll(() => server[Symbol.asyncDispose]());

const createPlaceholder = async () => {
  const { id, statements } = accounts.placeholderAccounts.createStatements("Unclaimed");
  await server.kernel.database.write(statements);
  const user = await accounts.users.byId(id);
  if (!user) throw new Error("The account was not created.");
  return user;
};

test("they don't invalidate the link of the first admin", async () => {
  await createPlaceholder();
  const link = await accounts.createFirstAdminLink();
  expect(link).toBeString();
  await createPlaceholder();
  const token = new URL(link ?? "").searchParams.get("token");
  const body = { token, email: "owner@example.com", name: "Ada", password: "correct horse battery" };
  expect((await createClient(server).post("/api/auth/first-admin", body)).status).toBe(201);
  expect(await accounts.createFirstAdminLink()).toBeUndefined();
});

test("they have the plan free, and record no events", async () => {
  const { id, email, plan, subscription, isAdmin } = await createPlaceholder();
  expect({ plan, subscription, isAdmin }).toEqual({ plan: "free", subscription: null, isAdmin: false });
  // API responses show the id, so it must not reveal the address.
  expect(email).not.toContain(id);
  await server.kernel.database.write([accounts.placeholderAccounts.deleteStatement(id)]);
  expect(await accounts.users.byId(id)).toBeUndefined();
  expect((await server.kernel.events.since(0)).filter(({ userId }) => userId === id)).toEqual([]);
});

test("sign-in, sign-up and password reset are impossible with such an address", async () => {
  const { email } = await createPlaceholder();
  const client = createClient(server);
  const password = "correct horse battery";
  expect((await client.post("/api/auth/callback/credentials", { email, password })).body).toMatchObject({
    code: "BAD_CREDENTIALS",
  });
  expect((await client.post("/api/register", { email: "me@unclaimed.invalid", password })).body).toMatchObject({
    code: "INVALID_EMAIL",
  });
  expect((await client.post("/api/auth/forgot-password", { email })).status).toBe(200);
  const { rows } = await server.kernel.database.read("SELECT 1 FROM auth_links WHERE email = ?", [email]);
  expect(rows).toEqual([]);
});

test("deleteStatement does not delete a regular account", async () => {
  const id = await createClient(server).join();
  await server.kernel.database.write([accounts.placeholderAccounts.deleteStatement(id)]);
  expect(await accounts.users.byId(id)).toBeDefined();
});
