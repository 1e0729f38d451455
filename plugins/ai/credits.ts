// What an account may use of the operator's keys: first what its plan includes each month, then its credits.
import type { Database } from "../../src/database.ts";
import { AppError } from "../../src/errors.ts";
import { evict, periodEnd, periodStart } from "./budgets.ts";

/** A credit is one US cent of model use, at the prices of the catalogue. */
export const MICRO_USD_PER_CREDIT = 10_000;

/** What is set aside for one call. */
export interface PurseHold {
  /** Of what is set aside, whole micro-USD that credits would pay. */
  readonly credit: number;
  /** The call has cost so much (0: it was not made); answers how much of that credits pay. Only the first call counts. */
  end(cost: number): number;
  /** What `end` answered has been written, and so taken from the account. */
  written(): void;
}

export interface Purses {
  /** So much was written at once as spent by an account this month, beside its own calls. Whole micro-USD of the plan. */
  added(userId: string, micro: number): void;
  /** Sets `micro` aside for an account; rejects with 402 BUDGET_EXCEEDED where plan and credits together don't cover it. */
  take(userId: string, micro: number): Promise<PurseHold>;
}

/** An account whose plan and credits were not enough. Money is whole micro-USD, of the plan. */
export interface PurseRefusal {
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
  taken?(userId: string): void;
  refused?(refusal: PurseRefusal): void;
  /** Epoch ms. */
  now?: () => number;
}

/** Of the plan, in one month. Whole micro-USD. */
interface Month {
  readonly since: number;
  spent: number;
  reserved: number;
}

interface Purse {
  month: Month | undefined;
  /** Whole micro-USD of credits that are set aside, or spent but not written. */
  credit: number;
  /** Grows with each write that takes credits: what was read before it no longer holds. */
  writes: number;
}

/** Purses held in memory; those with nothing set aside go first, the oldest of them. */
const MAX_PURSES = 20_000;

export function createPurses({ database, allowanceOf, taken, refused, now = Date.now }: Deps): Purses {
  const purses = new Map<string, Purse>();

  function purseOf(userId: string): Purse {
    let purse = purses.get(userId);
    if (!purse) {
      purse = { month: undefined, credit: 0, writes: 0 };
      if (purses.size >= MAX_PURSES) evict(purses, MAX_PURSES / 10, isIdle);
      purses.set(userId, purse);
    }
    return purse;
  }

  /** The current month, summed up from the ledger where it isn't known. */
  async function monthOf(userId: string, purse: Purse): Promise<Month> {
    const since = periodStart("month", now());
    if (purse.month?.since === since) return purse.month;
    const { rows } = await database.read(SPENT, [userId, since / DAY]);
    // Another call may have been faster.
    if (purse.month?.since !== since) purse.month = { since, spent: Number(rows[0]?.[0] ?? 0), reserved: 0 };
    return purse.month;
  }

  async function creditLeft(userId: string): Promise<number> {
    const { rows } = await database.read(LEFT, [MICRO_USD_PER_CREDIT, userId]);
    return Math.max(0, Number(rows[0]?.[0] ?? 0));
  }

  function hold(userId: string, purse: Purse, month: Month, plan: number, credit: number): PurseHold {
    month.reserved += plan;
    purse.credit += credit;
    let open = true;
    let unwritten = 0;
    return {
      credit,
      end(cost) {
        if (!open) return unwritten;
        open = false;
        // What goes beyond all that was set aside is the plan's: credits are never spent twice.
        unwritten = Math.min(credit, Math.max(0, cost - plan));
        month.reserved -= plan;
        month.spent += cost - unwritten;
        purse.credit -= credit - unwritten;
        return unwritten;
      },
      written() {
        if (unwritten === 0) return;
        purse.credit -= unwritten;
        purse.writes++;
        unwritten = 0;
        taken?.(userId);
      },
    };
  }

  return {
    added(userId, micro) {
      const month = purses.get(userId)?.month;
      if (month) month.spent += micro;
    },

    async take(userId, micro) {
      const purse = purseOf(userId);
      const allowance = await allowanceOf(userId);
      let known: { left: number; writes: number } | undefined;
      for (;;) {
        const month = await monthOf(userId, purse);
        const room = Math.max(0, allowance - month.spent - month.reserved);
        const credit = Math.max(0, micro - room);
        if (credit === 0) return hold(userId, purse, month, micro, 0);
        if (known?.writes === purse.writes) {
          if (credit + purse.credit <= known.left) return hold(userId, purse, month, micro - credit, credit);
          refused?.({ userId, since: month.since, limit: allowance, spent: month.spent });
          throw exceeded(month, allowance, known.left);
        }
        const { writes } = purse;
        known = { left: await creditLeft(userId), writes };
      }
    },
  };
}

const DAY = 86_400_000;
const isIdle = ({ month, credit }: Purse) => credit === 0 && (month === undefined || month.reserved === 0);

const SPENT = `SELECT coalesce(sum(cost_micro_usd - credit_micro_usd), 0) FROM usage_days
  WHERE user_id = ? AND day >= ? AND own_key = 0`;
const LEFT = `SELECT users.credits * ? - coalesce(credit_use.micro_usd, 0)
  FROM users LEFT JOIN credit_use ON credit_use.user_id = users.id WHERE users.id = ?`;

function exceeded({ since, spent }: Month, allowance: number, credit: number): AppError {
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
