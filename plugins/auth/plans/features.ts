// What a plan includes or not, besides numbers.
import { AppError } from "../../../src/kernel/errors.ts";
import type { User } from "../users.ts";
import type { Feature, PlanTable } from "./plan-table.ts";

const WORDS: Readonly<Record<Feature, string>> = { apiKeys: "API keys", webhooks: "webhooks" };

/** Admins have everything. */
export const includesFeature = (
  plans: PlanTable,
  user: Pick<User, "isAdmin" | "subscription">,
  feature: Feature,
): boolean => user.isAdmin || plans.ofAccount(user).features.includes(feature);

/** Throws 402 `FEATURE_NOT_IN_PLAN` for a new one. What an account has from before stays. */
export function requireFeature(plans: PlanTable, user: Pick<User, "isAdmin" | "subscription">, feature: Feature): void {
  if (includesFeature(plans, user, feature)) return;
  throw new AppError(402, "FEATURE_NOT_IN_PLAN", `Your plan does not include ${WORDS[feature]}. Choose a larger plan.`);
}
