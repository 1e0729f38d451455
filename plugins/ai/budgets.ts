// Budgets, kept exactly however many calls come at once: what a call may cost is set aside before it, what it cost counts after.
import { AppError } from "../../src/errors.ts";

/** A budget: whose, over which UTC period, and how much (whole micro-USD). */
export interface Scope {
  readonly of: { agentId: string } | "public";
  readonly period: Period;
  readonly limit: number;
}

export type Period = "day" | "month";

/** Which budget, in the period that begins then (epoch ms). */
export interface Place extends Pick<Scope, "of" | "period"> {
  readonly since: number;
}

/** A budget that refused a call. Money is whole micro-USD. */
export interface Refusal extends Place {
  readonly limit: number;
  readonly spent: number;
}

/** What is set aside for one call in all its budgets. */
export interface Hold {
  /** Whole micro-USD it cost in the end; 0 for a call that was not made. Only the first call of this counts. */
  end(cost: number): void;
}

export interface Budgets {
  /**
   * Sets `micro` aside in every scope, or throws 402 BUDGET_EXCEEDED and sets nothing aside. Answers at once unless a
   * scope has to be summed up first.
   */
  take(scopes: readonly Scope[], micro: number): Hold | Promise<Hold>;
  /** Whole micro-USD spent and set aside in the current period. */
  spent(scope: Pick<Scope, "of" | "period">): Promise<number>;
}

interface Deps {
  /** Whole micro-USD spent there so far. */
  sum(place: Place): Promise<number>;
  /** Told of each refusal. */
  refused?(refusal: Refusal): void;
  /** Epoch ms. */
  now?: () => number;
}

interface Account extends Place {
  spent: number;
  reserved: number;
}

/** Accounts held in memory; those with nothing set aside go first, the oldest of them. */
const MAX_ACCOUNTS = 20_000;

export function createBudgets({ sum, refused, now = Date.now }: Deps): Budgets {
  const accounts = new Map<string, Account>();
  const loading = new Map<string, Promise<Account>>();

  function held({ of, period }: Pick<Scope, "of" | "period">): Account | undefined {
    const account = accounts.get(keyOf(of, period));
    return account?.since === periodStart(period, now()) ? account : undefined;
  }

  function load({ of, period }: Pick<Scope, "of" | "period">): Promise<Account> {
    const since = periodStart(period, now());
    const key = keyOf(of, period);
    const flight = `${key} ${since}`;
    let under = loading.get(flight);
    if (!under) {
      under = open(key, { of, period, since }).finally(() => loading.delete(flight));
      loading.set(flight, under);
    }
    return under;
  }

  async function open(key: string, place: Place): Promise<Account> {
    const account: Account = { ...place, spent: await sum(place), reserved: 0 };
    if (accounts.size >= MAX_ACCOUNTS) evict(accounts, MAX_ACCOUNTS / 10, ({ reserved }) => reserved === 0);
    accounts.set(key, account);
    return account;
  }

  function hold(scopes: readonly Scope[], of: readonly Account[], micro: number): Hold {
    for (const [index, { limit }] of scopes.entries()) {
      const account = of[index];
      if (!account || account.spent + account.reserved + micro <= limit) continue;
      const refusal = { ...account, limit };
      refused?.(refusal);
      throw exceeded(refusal);
    }
    for (const account of of) account.reserved += micro;
    let open = true;
    return {
      end(cost) {
        if (!open) return;
        open = false;
        for (const account of of) {
          account.reserved -= micro;
          account.spent += cost;
        }
      },
    };
  }

  return {
    take(scopes, micro) {
      const known = scopes.map(held);
      const ready = known.filter((account) => account !== undefined);
      if (ready.length === scopes.length) return hold(scopes, ready, micro);
      return Promise.all(scopes.map((scope) => held(scope) ?? load(scope))).then((all) => hold(scopes, all, micro));
    },
    async spent(scope) {
      const { spent, reserved } = held(scope) ?? (await load(scope));
      return spent + reserved;
    },
  };
}

/** Drops up to so many that may go, the oldest first. */
export function evict<Value>(from: Map<string, Value>, count: number, mayGo: (value: Value) => boolean): void {
  let left = count;
  for (const [key, value] of from) {
    if (!mayGo(value)) continue;
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

const keyOf = (of: Scope["of"], period: Period) => (of === "public" ? `public ${period}` : `${of.agentId} ${period}`);

function exceeded({ of, period, limit, spent, since }: Refusal): AppError {
  const whose = of === "public" ? "Public use of AI" : "This agent";
  const message = `${whose} has used up its budget for this ${period}.`;
  const resetsAt = new Date(periodEnd(period, since)).toISOString();
  return new AppError(402, "BUDGET_EXCEEDED", message, {
    period,
    limitUsd: limit / 1e6,
    spentUsd: spent / 1e6,
    resetsAt,
  });
}
