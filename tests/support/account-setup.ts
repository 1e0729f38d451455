// Changes accounts of a service in the test's process as an operator would: verifies an address, grants a plan.
import type { auth, Plan } from "../../plugins/auth/index.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { TestServer } from "./server.ts";

interface WithAccounts {
  app: { accounts: Pick<ServiceOf<typeof auth>, "administration"> };
}

const DAY = 86_400_000;

/** Marks the address as verified, as the link in the verification mail does. */
export async function verifyEmail({ app, kernel }: Pick<TestServer, "app" | "kernel">, email: string): Promise<void> {
  const { administration, users } = app.accounts;
  const { id } = await administration.byEmail(email);
  await kernel.database.write([users.updateStatement(id, { emailVerified: true })]);
}

/** Sets a subscription that starts now, as `berth user grant` does, but without an audit log entry. */
export async function subscribe({ app }: WithAccounts, email: string, plan: Plan, days = 30): Promise<void> {
  const { administration } = app.accounts;
  const { id } = await administration.byEmail(email);
  const subscription = { plan, status: "active" as const, currentPeriodEnd: Date.now() + days * DAY };
  await administration.setSubscription(id, subscription, () => ({ sql: "SELECT 1", args: [] }));
}
