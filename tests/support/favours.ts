// What the operator would do for an account, for tests with a house of their own: a verified address, a plan.
import type { auth, Plan } from "../../plugins/auth/index.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { House } from "./house.ts";

interface WithAccounts {
  app: { accounts: Pick<ServiceOf<typeof auth>, "administration"> };
}

const DAY = 86_400_000;

/** As after opening the link that was mailed there. */
export async function verify({ app, kernel }: Pick<House, "app" | "kernel">, email: string): Promise<void> {
  const { administration, users } = app.accounts;
  const { id } = await administration.byEmail(email);
  await kernel.database.write([users.updateStatement(id, { emailVerified: true })]);
}

/** A subscription from now on, as by `berth user grant`; nobody writes down who gave it. */
export async function subscribe({ app }: WithAccounts, email: string, plan: Plan, days = 30): Promise<void> {
  const { administration } = app.accounts;
  const { id } = await administration.byEmail(email);
  const subscription = { plan, status: "active" as const, currentPeriodEnd: Date.now() + days * DAY };
  await administration.setSubscription(id, subscription, () => ({ sql: "SELECT 1", args: [] }));
}
