// What plans include of the operator's keys each month.
import { type Config, isLoopbackUrl } from "../../src/config.ts";
import { isActive, type User } from "../auth/index.ts";

export interface Allowance {
  /** The plan in force: without an active subscription `free`. */
  plan: string;
  /** Whole micro-USD a month; Infinity: no limit. */
  micro: number;
}

type Settings = Pick<Config, "planBudgetsMicroUsd" | "adminEmails" | "baseUrl">;

/** Admins have no limit: the keys are theirs. */
export function allowanceOf(user: User | undefined, { planBudgetsMicroUsd: budgets, ...config }: Settings): Allowance {
  const subscription = user && isActive(user.subscription) ? user.subscription : undefined;
  const plan = subscription?.plan ?? "free";
  if (user && isAdmin(user, config)) return { plan, micro: Number.POSITIVE_INFINITY };
  return { plan, micro: isPlan(plan, budgets) ? budgets[plan] : budgets.free };
}

/** As for provisioning: an address in ADMIN_EMAILS counts once it is verified, and on the operator's own machine before. */
const isAdmin = (
  { isAdmin, email, emailVerified }: User,
  { adminEmails, baseUrl }: Omit<Settings, "planBudgetsMicroUsd">,
) => isAdmin || (adminEmails.includes(email) && (emailVerified || isLoopbackUrl(baseUrl)));

const isPlan = (plan: string, budgets: Settings["planBudgetsMicroUsd"]): plan is keyof typeof budgets =>
  Object.hasOwn(budgets, plan);
