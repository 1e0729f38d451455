// What an account may use of the operator's keys: first what its plan includes each month, then its credits.
import type { Database } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { evict, periodEnd, periodStart } from "./budgets.ts";

/** A credit is one US cent of model use, at the prices of the catalogue. */
export const MICRO_USD_PER_CREDIT = 10_000;

/** What is set aside for one call. */
export interface BalanceHold {
  /** Of what is set aside, whole micro-USD that credits would pay. */
  readonly credit: number;
  /** The call has cost so much (0: it was not made); answers how much of that credits pay. Only the first call counts. */
  capture(cost: number): number;
  /** What `end` answered has been written, and so taken from the account. */
  markWritten(): void;
}

export interface AccountBalances {
  /** So much was written at once as spent by an account this month, beside its own calls. Whole micro-USD of the plan. */
  addSpending(userId: string, microUsd: number): void;
  /** Sets `micro` aside for an account; rejects with 402 BUDGET_EXCEEDED where plan and credits together don't cover it. */
  placeHold(userId: string, microUsd: number): Promise<BalanceHold>;
}

/** An account whose plan and credits were not enough. Money is whole micro-USD, of the plan. */
export interface BalanceRefusal {
  userId: string;
  /** Epoch ms: when the month began. */
  since: number;
  limit: number;
  spent: number;
}

interface Deps {
  database: Pick<Database, "read">;
  /** Whole micro-USD that an account may use in a month before its credits; Infinity: no limit. */
  allowanceOf(userId: string): number | Promise<number>;
  /** Credits of this account were taken. */
  onCreditsTaken?(userId: string): void;
  onRefused?(refusal: BalanceRefusal): void;
  /** Epoch ms. */
  now?: () => number;
}

/** Of the plan, in one month. Whole micro-USD. */
interface MonthlySpending {
  readonly since: number;
  spent: number;
  reserved: number;
}

interface AccountBalance {
  month: MonthlySpending | undefined;
  /** Whole micro-USD of credits that are set aside, or spent but not written. */
  credit: number;
  /** Grows with each write that takes credits: what was read before it no longer holds. */
  writes: number;
}

/** Purses held in memory; those with nothing set aside go first, the oldest of them. */
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

  /** The current month, summed up from the ledger where it isn't known. */
  async function currentMonth(userId: string, balance: AccountBalance): Promise<MonthlySpending> {
    const since = periodStart("month", now());
    if (balance.month?.since === since) return balance.month;
    const { rows } = await database.read(PLAN_SPENT_SQL, [userId, since / DAY]);
    // Another call may have been faster.
    if (balance.month?.since !== since) balance.month = { since, spent: Number(rows[0]?.[0] ?? 0), reserved: 0 };
    return balance.month;
  }

  async function readCreditLeft(userId: string): Promise<number> {
    const { rows } = await database.read(CREDIT_LEFT_SQL, [MICRO_USD_PER_CREDIT, userId]);
    return Math.max(0, Number(rows[0]?.[0] ?? 0));
  }

  function hold(
    userId: string,
    balance: AccountBalance,
    month: MonthlySpending,
    plan: number,
    credit: number,
  ): BalanceHold {
    month.reserved += plan;
    balance.credit += credit;
    let isOpen = true;
    let unwritten = 0;
    return {
      credit,
      capture(cost) {
        if (!isOpen) return unwritten;
        isOpen = false;
        // What goes beyond all that was set aside is the plan's: credits are never spent twice.
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
    addSpending(userId, microUsd) {
      const month = balances.get(userId)?.month;
      if (month) month.spent += microUsd;
    },

    async placeHold(userId, microUsd) {
      const balance = balanceOf(userId);
      const allowance = await allowanceOf(userId);
      let lastRead: { left: number; writes: number } | undefined;
      for (;;) {
        const month = await currentMonth(userId, balance);
        const allowanceLeft = Math.max(0, allowance - month.spent - month.reserved);
        const credit = Math.max(0, microUsd - allowanceLeft);
        if (credit === 0) return hold(userId, balance, month, microUsd, 0);
        if (lastRead?.writes === balance.writes) {
          if (credit + balance.credit <= lastRead.left) return hold(userId, balance, month, microUsd - credit, credit);
          onRefused?.({ userId, since: month.since, limit: allowance, spent: month.spent });
          throw balanceExceeded(month, allowance, lastRead.left);
        }
        const { writes } = balance;
        lastRead = { left: await readCreditLeft(userId), writes };
      }
    },
  };
}

const DAY = 86_400_000;
const isIdle = ({ month, credit }: AccountBalance) => credit === 0 && (month === undefined || month.reserved === 0);

const PLAN_SPENT_SQL = `SELECT coalesce(sum(cost_micro_usd - credit_micro_usd), 0) FROM usage_days
  WHERE user_id = ? AND day >= ? AND own_key = 0`;
const CREDIT_LEFT_SQL = `SELECT users.credits * ? - coalesce(credit_use.micro_usd, 0)
  FROM users LEFT JOIN credit_use ON credit_use.user_id = users.id WHERE users.id = ?`;

function balanceExceeded({ since, spent }: MonthlySpending, allowance: number, credit: number): AppError {
  const resetsAt = new Date(periodEnd("month", since)).toISOString();
  const message =
    "This account has used up the model use that its plan includes for this month, and its credits. " +
    `Take a larger plan, get credits, set a provider key of your own, or wait until ${resetsAt.slice(0, 10)}.`;
  return new AppError(402, "BUDGET_EXCEEDED", message, {
    period: "month",
    limitUsd: allowance / 1e6,
    spentUsd: spent / 1e6,
    credits: credit / MICRO_USD_PER_CREDIT,
    resetsAt,
  });
}
