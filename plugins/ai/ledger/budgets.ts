// Enforces budgets exactly under concurrent calls: each call holds its highest cost before it runs, and its actual cost counts after.

import { AppError } from "../../../src/kernel/errors.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { type BudgetShares, type CounterShare, enlarge, noShare, type SharedBudget } from "./shares/budget-shares.ts";

/**
 * A budget of an agent, of public use, or of the accounts that nobody pays for together, for a UTC day or month; `limit` in
 * whole micro-USD.
 */
export interface BudgetScope {
  readonly of: { agentId: string } | "public" | "unpaid";
  readonly period: Period;
  readonly limit: number;
}

export type Period = "day" | "month";

/** The budget in an agent's configuration, in USD. */
export interface AgentBudget {
  usdPerDay?: number;
  usdPerMonth?: number;
}

/** A budget in the period that begins at `since` (epoch ms). */
export interface BudgetPeriod extends Pick<BudgetScope, "of" | "period"> {
  readonly since: number;
}

/** A budget that refused a call. Money is whole micro-USD. */
export interface BudgetRefusal extends BudgetPeriod {
  readonly limit: number;
  readonly spent: number;
}

/** The amount that one call holds in all its budgets. */
export interface BudgetHold {
  /** Ends the hold with the actual cost in whole micro-USD; 0 if no call was made. Only the first call counts. */
  capture(cost: number): void;
}

export interface Budgets {
  /**
   * Holds the amount in every scope, or throws 402 BUDGET_EXCEEDED and holds nothing; an amount of 0 is never refused.
   * Returns a promise only if the spending of a scope has to be read first. `notify` replaces `onRefused`.
   */
  placeHold(
    scopes: readonly BudgetScope[],
    microUsd: number,
    notify?: (refusal: BudgetRefusal) => void,
  ): BudgetHold | Promise<BudgetHold>;
  /** Whole micro-USD spent and held in the current period. */
  spentMicroUsd(scope: Pick<BudgetScope, "of" | "period">): Promise<number>;
  /** Makes this cell's share of a common budget as small as what is spent and held, and returns that, in whole micro-USD. */
  giveBack(budget: SharedBudget): Promise<number>;
  /** The agent is another cell's: if it comes back, its rows say what it has spent. */
  forget(agentId: string): void;
}

interface Deps {
  /** Whole micro-USD spent in this period so far. */
  loadSpent(budgetPeriod: BudgetPeriod): Promise<number>;
  /** Called for each refusal. */
  onRefused?(refusal: BudgetRefusal): void;
  /** With several cells: how this one gets its share of the budgets that all accounts have in common. */
  shares?: BudgetShares | undefined;
  /** Epoch ms. */
  now?: () => number;
}

interface BudgetCounter extends BudgetPeriod {
  spent: number;
  reserved: number;
  /** Of a budget that all cells have together. */
  shared?: CounterShare;
}

/** Counters kept in memory; those without holds are evicted first, the oldest of them. */
const MAX_COUNTERS = 20_000;

export function createBudgets({ loadSpent, onRefused, shares, now = Date.now }: Deps): Budgets {
  const countersByKey = new Map<string, BudgetCounter>();
  const loading = new Map<string, Promise<BudgetCounter>>();

  function currentCounter({ of, period }: Pick<BudgetScope, "of" | "period">): BudgetCounter | undefined {
    const counter = countersByKey.get(keyOf(of, period));
    return counter?.since === periodStart(period, now()) ? counter : undefined;
  }

  function loadCounter({ of, period }: Pick<BudgetScope, "of" | "period">): Promise<BudgetCounter> {
    const since = periodStart(period, now());
    const key = keyOf(of, period);
    const loadKey = `${key} ${since}`;
    let loadingCounter = loading.get(loadKey);
    if (!loadingCounter) {
      loadingCounter = createCounter(key, { of, period, since }).finally(() => loading.delete(loadKey));
      loading.set(loadKey, loadingCounter);
    }
    return loadingCounter;
  }

  async function createCounter(key: string, budgetPeriod: BudgetPeriod): Promise<BudgetCounter> {
    const counter: BudgetCounter = { ...budgetPeriod, spent: await loadSpent(budgetPeriod), reserved: 0 };
    if (shares && typeof counter.of === "string") counter.shared = noShare();
    if (countersByKey.size >= MAX_COUNTERS) evict(countersByKey, MAX_COUNTERS / 10, ({ reserved }) => reserved === 0);
    countersByKey.set(key, counter);
    return counter;
  }

  function hold(
    scopes: readonly BudgetScope[],
    heldCounters: readonly BudgetCounter[],
    microUsd: number,
    notify: Deps["onRefused"],
  ): BudgetHold {
    for (const [index, { limit }] of scopes.entries()) {
      const counter = heldCounters[index];
      if (!counter || microUsd === 0 || isWithin(counter, limit, microUsd)) continue;
      const { of, period, since, spent, shared } = counter;
      const refusal = { of, period, since, limit, spent: spent + (shared?.elsewhere ?? 0) };
      notify?.(refusal);
      throw budgetExceeded(refusal);
    }
    for (const counter of heldCounters) counter.reserved += microUsd;
    let isOpen = true;
    return {
      capture(cost) {
        if (!isOpen) return;
        isOpen = false;
        for (const counter of heldCounters) {
          counter.reserved -= microUsd;
          counter.spent += cost;
        }
      },
    };
  }

  /** Asks for larger shares before the hold, which is made as soon as they are there. */
  async function holdShared(
    all: BudgetShares,
    scopes: readonly BudgetScope[],
    counters: readonly BudgetCounter[],
    microUsd: number,
    notify: Deps["onRefused"],
  ): Promise<BudgetHold> {
    for (const [index, { limit }] of scopes.entries()) {
      const counter = counters[index];
      if (!counter?.shared || typeof counter.of !== "string") continue;
      const budget = { budget: counter.of, since: counter.since, limit };
      const wanted = () => counter.spent + counter.reserved + microUsd;
      if (!(await enlarge(all, counter.shared, budget, wanted, now))) break;
    }
    // A day may have ended meanwhile, or a counter may have been evicted.
    if (scopes.some((scope, index) => currentCounter(scope) !== counters[index]))
      return place(scopes, microUsd, notify);
    return hold(scopes, counters, microUsd, notify);
  }

  function holdWithin(
    scopes: readonly BudgetScope[],
    counters: readonly BudgetCounter[],
    microUsd: number,
    notify: Deps["onRefused"],
  ): BudgetHold | Promise<BudgetHold> {
    const lacksShare = ({ shared, spent, reserved }: BudgetCounter) =>
      shared !== undefined && microUsd > 0 && spent + reserved + microUsd > shared.share;
    return shares && counters.some(lacksShare)
      ? holdShared(shares, scopes, counters, microUsd, notify)
      : hold(scopes, counters, microUsd, notify);
  }

  function place(
    scopes: readonly BudgetScope[],
    microUsd: number,
    notify: Deps["onRefused"],
  ): BudgetHold | Promise<BudgetHold> {
    const known = scopes.map(currentCounter);
    const ready = known.filter((counter) => counter !== undefined);
    if (ready.length === scopes.length) return holdWithin(scopes, ready, microUsd, notify);
    return Promise.all(scopes.map((scope) => currentCounter(scope) ?? loadCounter(scope))).then((all) =>
      holdWithin(scopes, all, microUsd, notify),
    );
  }

  return {
    forget(agentId) {
      for (const period of ["day", "month"] as const) countersByKey.delete(keyOf({ agentId }, period));
    },
    placeHold: (scopes, microUsd, notify = onRefused) => place(scopes, microUsd, notify),
    async spentMicroUsd(scope) {
      const { spent, reserved } = currentCounter(scope) ?? (await loadCounter(scope));
      return spent + reserved;
    },
    async giveBack({ budget, since }) {
      const scope = { of: budget, period: "day" as const };
      const counter = currentCounter(scope) ?? (await loadCounter(scope));
      // The day of the question is over, and its share with it.
      if (counter.since !== since || !counter.shared) return 0;
      counter.shared.share = counter.spent + counter.reserved;
      counter.shared.returns++;
      return counter.shared.share;
    },
  };
}

/** Whether the counter has room for this amount, in its share too. */
const isWithin = ({ spent, reserved, shared }: BudgetCounter, limit: number, microUsd: number) =>
  spent + reserved + microUsd <= Math.min(limit, shared?.share ?? limit);

/** The scopes of the budget in an agent's configuration. */
export function agentScopes(agentId: string, { usdPerDay, usdPerMonth }: AgentBudget = {}): BudgetScope[] {
  const of = { agentId };
  return [
    ...(usdPerDay === undefined ? [] : [{ of, period: "day" as const, limit: Math.round(usdPerDay * 1e6) }]),
    ...(usdPerMonth === undefined ? [] : [{ of, period: "month" as const, limit: Math.round(usdPerMonth * 1e6) }]),
  ];
}

/** Removes up to `count` evictable entries, the oldest first. */
export function evict<Value>(from: Map<string, Value>, count: number, isEvictable: (value: Value) => boolean): void {
  let left = count;
  for (const [key, value] of from) {
    if (!isEvictable(value)) continue;
    from.delete(key);
    if (--left <= 0) return;
  }
}

/** The beginning of the period that contains `at`, epoch ms. Days and months are UTC. */
export function periodStart(period: Period, at: number): number {
  if (period === "day") return at - (at % DAY);
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

/** The end of the period that contains `at`, epoch ms. */
export function periodEnd(period: Period, at: number): number {
  if (period === "day") return periodStart("day", at) + DAY;
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

const keyOf = (of: BudgetScope["of"], period: Period) => `${typeof of === "string" ? of : of.agentId} ${period}`;

function budgetExceeded({ of, period, limit, spent, since }: BudgetRefusal): AppError {
  const resetsAt = new Date(periodEnd(period, since)).toISOString();
  const isLeft = spent < limit;
  return new AppError(402, "BUDGET_EXCEEDED", refusalText(of, { period, isLeft, resetDate: resetsAt.slice(0, 10) }), {
    ...(of === "unpaid" && { budget: of }),
    period,
    limitUsd: limit / 1e6,
    spentUsd: spent / 1e6,
    resetsAt,
  });
}

interface RefusedPeriod {
  period: Period;
  /** Something is left of it, but less than the call may cost. */
  isLeft: boolean;
  resetDate: string;
}

function refusalText(of: BudgetScope["of"], { period, isLeft, resetDate }: RefusedPeriod): string {
  if (of === "unpaid") {
    return [
      "Unclaimed agents, trials and accounts without a paid subscription have together used up what this service spends on them in a day.",
      `Take a plan, get credits, set a provider key of your own, or wait until ${resetDate} (UTC).`,
    ].join(" ");
  }
  if (of === "public" && isLeft)
    return `This call may cost more than is left of the budget for public use for this ${period}. Ask for fewer tokens, or choose another model.`;
  if (of === "public") return `Public use of AI has used up its budget for this ${period}.`;
  return `This agent has used up its budget for this ${period}. Raise the budget, or wait until ${resetDate} (UTC).`;
}
