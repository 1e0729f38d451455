// Determines how much of the operator's keys a plan includes each month.

import type { SettingsOf } from "../../../src/kernel/config/config.ts";
import { isActiveSubscription, type Plan, type PlanTable, type Ramp, type User } from "../../auth/index.ts";
import type { budgetSettings } from "../settings.ts";
import type { Allowance } from "./account-balances.ts";

export interface PlanAllowance extends Allowance {
  /** The plan in force: without an active subscription `free`. */
  readonly plan: string;
}

type PlanBudgets = SettingsOf<typeof budgetSettings>["planMicroUsd"];

interface Deps {
  plans: PlanTable;
  budgets: PlanBudgets;
  /** Whether the account is an admin by itself: an unverified address of ADMIN_EMAILS does not count here. */
  isAdmin(user: User): boolean;
  /** How far a new account has come. */
  rampOf(user: User): Ramp | undefined;
}

/** Admins have no limit: the keys are theirs. */
export function allowanceOf(user: User | undefined, { plans, budgets, isAdmin, rampOf }: Deps): PlanAllowance {
  const subscription = user && isActiveSubscription(user.subscription) ? user.subscription : undefined;
  const plan = subscription?.plan ?? "free";
  if (user && isAdmin(user)) return { plan, microUsd: Number.POSITIVE_INFINITY, isPaid: true };
  // A trial has the allowance of its plan, but counts as unpaid.
  const isPaid = subscription?.status === "active";
  const row = plans.of(plan);
  const whole = budgetOf(row, budgets) + (isPaid ? row.overageMicroUsd : 0);
  const ramp = user && rampOf(user);
  return ramp ? { plan, microUsd: Math.floor(whole * ramp.share), isPaid, ramp } : { plan, microUsd: whole, isPaid };
}

/** Whole micro-USD a month. The table of plans goes before the setting; a plan of the operator's own has the free budget unless it names one. */
export const budgetOf = ({ id, modelMicroUsd }: Pick<Plan, "id" | "modelMicroUsd">, budgets: PlanBudgets): number =>
  modelMicroUsd ?? (isPlan(id, budgets) ? budgets[id] : budgets.free);

const isPlan = (plan: string, budgets: PlanBudgets): plan is keyof typeof budgets => Object.hasOwn(budgets, plan);
