// The plans that accounts can have: what each includes, and what it costs. The operator's file changes these defaults.

/** More than any account has; SQL and JavaScript both hold it exactly. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** What a plan may leave out. */
export const FEATURES = ["apiKeys", "webhooks"] as const;
export type Feature = (typeof FEATURES)[number];

/** How much an account may have; `UNLIMITED` for any number. */
export interface PlanLimits {
  agents: number;
  /** Of all agents together. */
  schedules: number;
  /** Live streams at a time. */
  streams: number;
  /** Connected bots of all agents together. */
  channels: number;
  skills: number;
  /** Bytes of the skills' texts, in all their versions. */
  skillBytes: number;
  /** Bytes of the files that people send to agents. */
  fileBytes: number;
  /** Files that one agent knows. */
  knowledgeFiles: number;
  /** Bytes of the files that one agent knows. */
  knowledgeBytes: number;
  /** Passages of these files that are searched. */
  knowledgePassages: number;
}

export interface Plan extends PlanLimits {
  id: string;
  /** For people; undefined for the name that the console has in its languages. */
  name: string | undefined;
  /** A month, in the smallest unit of the currency; undefined: it is not for sale. */
  price: { minorUnits: number; currency: string } | undefined;
  /** The price object at Stripe, by which the plan is sold. */
  stripePrice: string | undefined;
  /** Days before the first payment. */
  trialDays: number;
  /** Whole micro-USD of the operator's keys a month; undefined: as AI_PLAN_BUDGETS_USD_PER_MONTH says. */
  modelMicroUsd: number | undefined;
  /** Whole micro-USD a month beyond that, which Stripe's meter bills. */
  overageMicroUsd: number;
  /** The metered price at Stripe, by which that is billed. */
  stripeMeterPrice: string | undefined;
  features: readonly Feature[];
  /** Not offered any more; accounts that have it keep it. */
  hidden: boolean;
}

/** What decides which plan is in force. */
export interface PlanSubscription {
  plan: string;
  status: string;
  /** Epoch ms. */
  currentPeriodEnd: number;
}

export interface PlanTable {
  /** In the order in which people see them, the free one first. */
  readonly plans: readonly Plan[];
  find(id: string): Plan | undefined;
  /** A plan that is not in the table has the limits of the free one. */
  of(id: string | undefined): Plan;
  /** The plan in force: that of an active subscription, else the free one. */
  ofAccount(user: { subscription: PlanSubscription | null } | undefined): Plan;
  /** SQL that is the limit of the plan in the column `plan`; `other` is that of a plan that is not in the table. */
  limitSql(limit: keyof PlanLimits, other: number): string;
}

const MIB = 1024 * 1024;
const UNSOLD = {
  name: undefined,
  price: undefined,
  stripePrice: undefined,
  stripeMeterPrice: undefined,
  overageMicroUsd: 0,
  trialDays: 0,
  hidden: false,
};
const OPEN = { ...UNSOLD, modelMicroUsd: undefined, channels: UNLIMITED, features: FEATURES };

/** The plans of a service whose operator has no file. What one search answers within milliseconds limits the passages. */
export const DEFAULT_PLANS: readonly Plan[] = [
  {
    ...{ ...OPEN, id: "free", agents: 0, schedules: 10, streams: 1 },
    ...{ skills: 20, skillBytes: 20 * MIB, fileBytes: 100 * MIB },
    ...{ knowledgeFiles: 20, knowledgeBytes: 50 * MIB, knowledgePassages: 2_000 },
  },
  {
    ...{ ...OPEN, id: "starter", agents: 1, schedules: 25, streams: 1 },
    ...{ skills: 50, skillBytes: 100 * MIB, fileBytes: 1024 * MIB },
    ...{ knowledgeFiles: 100, knowledgeBytes: 250 * MIB, knowledgePassages: 5_000 },
  },
  {
    ...{ ...OPEN, id: "pro", agents: 3, schedules: 100, streams: 3 },
    ...{ skills: 200, skillBytes: 500 * MIB, fileBytes: 5 * 1024 * MIB },
    ...{ knowledgeFiles: 500, knowledgeBytes: 1024 * MIB, knowledgePassages: 10_000 },
  },
  {
    ...{ ...OPEN, id: "enterprise", agents: 100, schedules: 1_000, streams: 20 },
    ...{ skills: 1_000, skillBytes: 2048 * MIB, fileBytes: 20 * 1024 * MIB },
    ...{ knowledgeFiles: 2_000, knowledgeBytes: 5 * 1024 * MIB, knowledgePassages: 20_000 },
  },
];

/** Whether it is active or trialing, and not past its end. `now` is epoch ms. */
export const isActiveSubscription = (subscription: PlanSubscription | null, now = Date.now()) =>
  subscription !== null &&
  (subscription.status === "active" || subscription.status === "trialing") &&
  subscription.currentPeriodEnd > now;

/** `plans` includes the free one. */
export function createPlanTable(plans: readonly Plan[]): PlanTable {
  const byId = new Map(plans.map((plan) => [plan.id, plan]));
  const free = byId.get("free");
  if (!free) throw new Error("A table of plans needs the plan of accounts without a subscription, free.");
  const of = (id: string | undefined) => byId.get(id ?? "free") ?? free;
  return {
    plans,
    find: (id) => byId.get(id),
    of,
    ofAccount: (user) => of(user && isActiveSubscription(user.subscription) ? user.subscription?.plan : undefined),
    // Names of plans hold letters, digits and hyphens alone.
    limitSql: (limit, other) =>
      `CASE plan ${plans.map((plan) => `WHEN '${plan.id}' THEN ${plan[limit]}`).join(" ")} ELSE ${other} END`,
  };
}

export const DEFAULT_PLAN_TABLE = createPlanTable(DEFAULT_PLANS);
