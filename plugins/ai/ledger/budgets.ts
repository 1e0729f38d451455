// Budgets, kept exactly however many calls come at once: what a call may cost is set aside before it, what it cost counts after.
import { AppError } from "../../../src/kernel/errors.ts";

/** A budget: whose, over which UTC period, and how much (whole micro-USD). */
export interface BudgetScope {
  readonly of: { agentId: string } | "public";
  readonly period: Period;
  readonly limit: number;
}

export type Period = "day" | "month";

/** Which budget, in the period that begins then (epoch ms). */
export interface BudgetPeriod extends Pick<BudgetScope, "of" | "period"> {
  readonly since: number;
}

/** A budget that refused a call. Money is whole micro-USD. */
export interface BudgetRefusal extends BudgetPeriod {
  readonly limit: number;
  readonly spent: number;
}

/** What is set aside for one call in all its budgets. */
export interface BudgetHold {
  /** Whole micro-USD it cost in the end; 0 for a call that was not made. Only the first call of this counts. */
  capture(cost: number): void;
}

export interface Budgets {
  /**
   * Sets `micro` aside in every scope, or throws 402 BUDGET_EXCEEDED and sets nothing aside. Answers at once unless a
   * scope has to be summed up first.
   */
  placeHold(scopes: readonly BudgetScope[], microUsd: number): BudgetHold | Promise<BudgetHold>;
  /** Whole micro-USD spent and set aside in the current period. */
  spentMicroUsd(scope: Pick<BudgetScope, "of" | "period">): Promise<number>;
}

interface Deps {
  /** Whole micro-USD spent there so far. */
  loadSpent(budgetPeriod: BudgetPeriod): Promise<number>;
  /** Told of each refusal. */
  refused?(refusal: BudgetRefusal): void;
  /** Epoch ms. */
  now?: () => number;
}

interface BudgetCounter extends BudgetPeriod {
  spent: number;
  reserved: number;
}

/** Accounts held in memory; those with nothing set aside go first, the oldest of them. */
const MAX_COUNTERS = 20_000;

export function createBudgets({ loadSpent, refused, now = Date.now }: Deps): Budgets {
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
    if (countersByKey.size >= MAX_COUNTERS) evict(countersByKey, MAX_COUNTERS / 10, ({ reserved }) => reserved === 0);
    countersByKey.set(key, counter);
    return counter;
  }

  function hold(scopes: readonly BudgetScope[], heldCounters: readonly BudgetCounter[], microUsd: number): BudgetHold {
    for (const [index, { limit }] of scopes.entries()) {
      const counter = heldCounters[index];
      if (!counter || counter.spent + counter.reserved + microUsd <= limit) continue;
      const refusal = { ...counter, limit };
      refused?.(refusal);
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

  return {
    placeHold(scopes, microUsd) {
      const known = scopes.map(currentCounter);
      const ready = known.filter((counter) => counter !== undefined);
      if (ready.length === scopes.length) return hold(scopes, ready, microUsd);
      return Promise.all(scopes.map((scope) => currentCounter(scope) ?? loadCounter(scope))).then((all) =>
        hold(scopes, all, microUsd),
      );
    },
    async spentMicroUsd(scope) {
      const { spent, reserved } = currentCounter(scope) ?? (await loadCounter(scope));
      return spent + reserved;
    },
  };
}

/** Drops up to so many that may go, the oldest first. */
export function evict<Value>(from: Map<string, Value>, count: number, isEvictable: (value: Value) => boolean): void {
  let left = count;
  for (const [key, value] of from) {
    if (!isEvictable(value)) continue;
    from.delete(key);
    if (--left <= 0) return;
  }
}

/** The beginning of the period that this moment is in, epoch ms. Days and months are UTC. */
export function periodStart(period: Period, at: number): number {
  if (period === "day") return at - (at % 86_400_000);
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

/** The beginning of the period after the one that this moment is in, epoch ms. */
export function periodEnd(period: Period, at: number): number {
  if (period === "day") return periodStart("day", at) + 86_400_000;
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

const keyOf = (of: BudgetScope["of"], period: Period) =>
  of === "public" ? `public ${period}` : `${of.agentId} ${period}`;

function budgetExceeded({ of, period, limit, spent, since }: BudgetRefusal): AppError {
  const subject = of === "public" ? "Public use of AI" : "This agent";
  const message = `${subject} has used up its budget for this ${period}.`;
  const resetsAt = new Date(periodEnd(period, since)).toISOString();
  return new AppError(402, "BUDGET_EXCEEDED", message, {
    period,
    limitUsd: limit / 1e6,
    spentUsd: spent / 1e6,
    resetsAt,
  });
}
