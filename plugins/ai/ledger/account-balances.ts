// Charges an account's use of the operator's keys: first to the monthly allowance of its plan, then to its credits.

import type { Database } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { type Ramp, rampAdvice } from "../../auth/index.ts";
import { evict, periodEnd, periodStart } from "./budgets.ts";

/** A credit is one US cent of model use, at the prices of the catalogue. */
export const MICRO_USD_PER_CREDIT = 10_000;

/** What an account may use of the operator's keys. */
export interface Allowance {
  /** Whole micro-USD a month before its credits; Infinity: no limit. */
  readonly microUsd: number;
  /** It has an active subscription that is no trial, or is an admin. */
  readonly isPaid: boolean;
  /** Of a new account, whose allowance grows each day. */
  readonly ramp?: Ramp;
}

/** The amount held for one call. */
export interface BalanceHold {
  readonly isPaid: boolean;
  /** Whole micro-USD of the hold that credits would pay. */
  readonly credit: number;
  /** Ends the hold with the actual cost (0: no call was made); returns the part that credits pay. Only the first call counts. */
  capture(cost: number): number;
  /** Call it after the amount that `capture` returned is written to the database. */
  markWritten(): void;
}

export interface AccountBalances {
  /** Adds spending that did not come from a hold, such as that of a transferred agent. Whole micro-USD of the plan. */
  addSpending(userId: string, microUsd: number): void;
  /** Holds an amount for an account; rejects with 402 BUDGET_EXCEEDED if plan and credits together don't cover it. */
  placeHold(userId: string, microUsd: number): Promise<BalanceHold>;
  /** Holds an amount of the account's credits alone, whatever its plan has left; undefined if they don't cover it. */
  placeCreditHold(userId: string, microUsd: number): Promise<BalanceHold | undefined>;
  /** The account is another cell's: if it comes back, its rows say what it has spent. */
  forget(account: { userId: string }): void;
}

/** A refusal because plan and credits do not cover a call. `limit` and `spent` are whole micro-USD of the plan. */
export interface BalanceRefusal {
  userId: string;
  /** The beginning of the month, epoch ms. */
  since: number;
  limit: number;
  spent: number;
}

interface Deps {
  database: Pick<Database, "read">;
  allowanceOf(userId: string): Allowance | Promise<Allowance>;
  /** Called after credits of this account were spent. */
  onCreditsTaken?(userId: string): void;
  onRefused?(refusal: BalanceRefusal): void;
  /** Epoch ms. */
  now?: () => number;
}

/** Use of the plan in one month, whole micro-USD. */
interface MonthlySpending {
  readonly since: number;
  spent: number;
  reserved: number;
}

interface AccountBalance {
  month: MonthlySpending | undefined;
  /** Whole micro-USD of credits that are held, or spent but not written. */
  credit: number;
  /** Counts writes that spend credits: a balance that was read before the latest one is stale. */
  writes: number;
}

/** Balances kept in memory; those without holds are evicted first, the oldest of them. */
const MAX_BALANCES = 20_000;

export function createAccountBalances({
  database,
  allowanceOf,
  onCreditsTaken,
  onRefused,
  now = Date.now,
}: Deps): AccountBalances {
  const balances = new Map<string, AccountBalance>();

  function balanceOf(userId: string): AccountBalance {
    let balance = balances.get(userId);
    if (!balance) {
      balance = { month: undefined, credit: 0, writes: 0 };
      if (balances.size >= MAX_BALANCES) evict(balances, MAX_BALANCES / 10, isIdle);
      balances.set(userId, balance);
    }
    return balance;
  }

  /** The spending of the current month, read from the ledger if it is not in memory. */
  async function currentMonth(userId: string, balance: AccountBalance): Promise<MonthlySpending> {
    const since = periodStart("month", now());
    if (balance.month?.since === since) return balance.month;
    const { rows } = await database.read(PLAN_SPENT_SQL, [userId, since / DAY]);
    // A concurrent call may have stored it already.
    if (balance.month?.since !== since) balance.month = { since, spent: Number(rows[0]?.[0] ?? 0), reserved: 0 };
    return balance.month;
  }

  /** The credits in whole micro-USD, and the count of writes before they were read. */
  async function readCredit(userId: string, { writes }: AccountBalance): Promise<{ left: number; writes: number }> {
    const { rows } = await database.read(CREDIT_LEFT_SQL, [MICRO_USD_PER_CREDIT, userId]);
    return { left: Math.max(0, Number(rows[0]?.[0] ?? 0)), writes };
  }

  function hold(
    userId: string,
    balance: AccountBalance,
    month: MonthlySpending,
    { plan, credit, isPaid }: { plan: number; credit: number; isPaid: boolean },
  ): BalanceHold {
    month.reserved += plan;
    balance.credit += credit;
    let isOpen = true;
    let unwritten = 0;
    return {
      isPaid,
      credit,
      capture(cost) {
        if (!isOpen) return unwritten;
        isOpen = false;
        // A cost beyond the hold is charged to the plan, so that credits are never spent twice.
        unwritten = Math.min(credit, Math.max(0, cost - plan));
        month.reserved -= plan;
        month.spent += cost - unwritten;
        balance.credit -= credit - unwritten;
        return unwritten;
      },
      markWritten() {
        if (unwritten === 0) return;
        balance.credit -= unwritten;
        balance.writes++;
        unwritten = 0;
        onCreditsTaken?.(userId);
      },
    };
  }

  return {
    forget: ({ userId }) => void balances.delete(userId),
    addSpending(userId, microUsd) {
      const month = balances.get(userId)?.month;
      if (month) month.spent += microUsd;
    },

    async placeHold(userId, microUsd) {
      const balance = balanceOf(userId);
      const { microUsd: allowance, isPaid, ramp } = await allowanceOf(userId);
      let lastRead: { left: number; writes: number } | undefined;
      for (;;) {
        const month = await currentMonth(userId, balance);
        const allowanceLeft = Math.max(0, allowance - month.spent - month.reserved);
        const credit = Math.max(0, microUsd - allowanceLeft);
        const split = { plan: microUsd - credit, credit, isPaid };
        if (credit === 0) return hold(userId, balance, month, split);
        if (lastRead?.writes === balance.writes) {
          if (credit + balance.credit <= lastRead.left) return hold(userId, balance, month, split);
          onRefused?.({ userId, since: month.since, limit: allowance, spent: month.spent });
          throw balanceExceeded(month, allowance, lastRead.left, ramp);
        }
        lastRead = await readCredit(userId, balance);
      }
    },

    async placeCreditHold(userId, microUsd) {
      const balance = balanceOf(userId);
      for (;;) {
        const { left, writes } = await readCredit(userId, balance);
        const month = await currentMonth(userId, balance);
        if (writes !== balance.writes) continue;
        if (microUsd + balance.credit > left) return undefined;
        return hold(userId, balance, month, { plan: 0, credit: microUsd, isPaid: false });
      }
    },
  };
}

const isIdle = ({ month, credit }: AccountBalance) => credit === 0 && (month === undefined || month.reserved === 0);

/** The sums by day, and the rows that are not added to them yet. ?1: the account, ?2: the first day. */
const PLAN_SPENT_SQL = `SELECT coalesce(sum(cost_micro_usd - credit_micro_usd), 0) FROM (
  SELECT cost_micro_usd, credit_micro_usd FROM usage_account_days WHERE user_id = ?1 AND day >= ?2 AND own_key = 0
  UNION ALL SELECT cost_micro_usd, credit_micro_usd FROM usage_unsummed WHERE user_id = ?1 AND at >= ?2 * ${DAY} AND own_key = 0)`;
const CREDIT_LEFT_SQL = `SELECT users.credits * ? - coalesce(credit_use.micro_usd, 0)
  FROM users LEFT JOIN credit_use ON credit_use.user_id = users.id WHERE users.id = ?`;

function balanceExceeded({ since, spent }: MonthlySpending, allowance: number, credit: number, ramp?: Ramp): AppError {
  const resetsAt = new Date(periodEnd("month", since)).toISOString();
  // A call is refused by the most that it may cost.
  const isLeft = spent < allowance || credit > 0;
  const message = [
    ...(isLeft
      ? [
          "This call may cost more than this account has left of its plan and credits for this month.",
          "Ask for fewer tokens, or choose another model.",
        ]
      : ["This account has used up the model use that its plan includes for this month, and its credits."]),
    ramp
      ? `${rampAdvice(ramp)} Credits and a provider key of your own are not limited.`
      : `Take a larger plan, get credits, set a provider key of your own, or wait until ${resetsAt.slice(0, 10)}.`,
  ].join(" ");
  return new AppError(402, "BUDGET_EXCEEDED", message, {
    period: "month",
    limitUsd: allowance / 1e6,
    spentUsd: spent / 1e6,
    credits: credit / MICRO_USD_PER_CREDIT,
    resetsAt,
    ...(ramp && { risesAt: new Date(ramp.risesAt).toISOString(), endsAt: new Date(ramp.endsAt).toISOString() }),
  });
}
