// Creates accounts on a server in the test's process, and changes them as an operator would.

import type { auth } from "../../plugins/auth/index.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { type Client, createClient } from "./client.ts";
import type { TestServer } from "./server.ts";

interface WithAccounts {
  app: { accounts: Pick<ServiceOf<typeof auth>, "administration"> };
}

/** Marks the address as verified, as the link in the verification mail does. */
export async function verifyEmail({ app, kernel }: Pick<TestServer, "app" | "kernel">, email: string): Promise<void> {
  const { administration, users } = app.accounts;
  const { id } = await administration.byEmail(email);
  await kernel.database.write([users.updateStatement(id, { emailVerified: true })]);
}

/** Sets a subscription that starts now, as `berth user grant` does, but without an audit log entry. */
export async function subscribe({ app }: WithAccounts, email: string, plan: string, days = 30): Promise<void> {
  const { administration } = app.accounts;
  const { id } = await administration.byEmail(email);
  const subscription = { plan, status: "active" as const, currentPeriodEnd: Date.now() + days * DAY };
  await administration.setSubscription(id, subscription, () => ({ sql: "SELECT 1", args: [] }));
}

export interface MemberOptions {
  /** Default: a new address. */
  email?: string;
  /** Default: no subscription. */
  plan?: string;
  /** Whether the address is verified. Default: no. */
  verified?: boolean;
}

/** Signs up a user and signs in; returns the client with the user's id and address. */
export async function createMember(
  server: Pick<TestServer, "app" | "kernel" | "web">,
  { email, plan, verified = false }: MemberOptions = {},
): Promise<{ client: Client; id: string; email: string }> {
  const client = createClient(server.web);
  const id = await client.join(email === undefined ? {} : { email });
  const { account } = client;
  if (plan) await subscribe(server, account.email, plan);
  if (verified) await verifyEmail(server, account.email);
  return { client, id, email: account.email };
}

/** Makes the client the first admin by the link that a new server prints; throws unless 201. */
export async function becomeFirstAdmin(
  { app }: { app: { accounts: Pick<ServiceOf<typeof auth>, "createFirstAdminLink"> } },
  client: Client,
  email = "owner@example.com",
): Promise<void> {
  const link = (await app.accounts.createFirstAdminLink()) ?? "";
  const token = new URL(link).searchParams.get("token");
  const body = { token, email, name: "Ada", password: "correct horse battery" };
  const { status, text } = await client.post("/api/auth/first-admin", body);
  if (status !== 201) throw new Error(`first admin: ${status} ${text}`);
}
