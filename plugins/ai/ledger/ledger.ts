// Records every model call as a row with its tokens and cost, and reserves its highest possible cost before the call.

import type { Database } from "../../../src/kernel/database/database.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { type CallUsage, costOfCall } from "../providers/token-usage.ts";
import type { AccountBalances, BalanceHold } from "./account-balances.ts";
import {
  type BudgetHold,
  type BudgetPeriod,
  type BudgetRefusal,
  type BudgetScope,
  type Budgets,
  createBudgets,
} from "./budgets.ts";
import type { Journal } from "./journal.ts";
import {
  type ExpectedTokens,
  type LedgerCall,
  type Reservation,
  type ServedModel,
  sanitizeUsage,
} from "./ledger-call.ts";
import { insertStatement, type LedgerRow, newRowId } from "./ledger-row.ts";
import { createRowWriter } from "./row-writer.ts";
import type { BudgetShares } from "./shares/budget-shares.ts";
import { readSpent } from "./spent-sums.ts";
import { createUsageSums, type UsageSums } from "./usage-sums.ts";

export type { BudgetScope } from "./budgets.ts";
export type { ExpectedTokens, LedgerCall, Reservation, ServedModel } from "./ledger-call.ts";

export interface Ledger {
  /**
   * Reserves `microUsd` in every scope and for the payer, or throws 402 BUDGET_EXCEEDED and reserves nothing. A free call
   * is never refused, and its reservation is returned at once; any other is returned when the journal holds the amount. A
   * call that a crash interrupts is in the ledger after the next start: with its usage if that was known, else with the
   * whole reserved amount (a free one is not).
   */
  reserve(
    call: LedgerCall,
    scopes: readonly BudgetScope[],
    microUsd: number,
    expected?: ExpectedTokens,
  ): Reservation | Promise<Reservation>;
  /** A reservation for a response from the cache, which costs nothing. */
  cachedReservation(call: LedgerCall): Reservation;
  /** Whole micro-USD spent and reserved in the current period of this scope. */
  spentMicroUsd(scope: Omit<BudgetScope, "limit">): Promise<number>;
  /** Gives back what is not used of this cell's share of a common budget: see `Budgets.giveBack`. */
  giveBack: Budgets["giveBack"];
  /** Writes the rows that `record` has not written yet. */
  flush(): Promise<void>;
  /** The same, and adds all rows to the sums by day, account and month. Call it before reading these. */
  addUp(): Promise<void>;
  /** See `Budgets.forget`. */
  forgetAgent: Budgets["forget"];
  /** Writes the rows that a crash left in the journal. */
  start(): Promise<void>;
  /** The same as `addUp`, for the last time. Never rejects. */
  close(): Promise<void>;
}

const NO_TOKENS: ExpectedTokens = { inputTokens: 0, outputTokens: 0 };

/** The holds that pay for a call. */
interface FundingSource {
  budgetHold?: BudgetHold | undefined;
  unpaidHold?: BudgetHold | undefined;
  balanceHold?: BalanceHold | undefined;
  cached?: boolean;
}

interface UnpaidBudget {
  /** Whole micro-USD a day. */
  readonly microUsd: number;
  /** The addresses of ADMIN_EMAILS, whose verified accounts do not count. */
  readonly adminEmails: readonly string[];
}

interface Deps {
  database: Pick<Database, "write" | "read">;
  log: Pick<Log, "error" | "warn" | "info">;
  /** The balances of accounts; without them only budgets limit calls. */
  balances?: AccountBalances;
  /** Limits what the accounts that nobody pays for may use together in a day; needs `balances`. */
  unpaidBudget?: UnpaidBudget;
  /** Default: the sums of the ledger alone. */
  sums?: Pick<UsageSums, "addUp" | "noteRow" | "stop">;
  /** Keeps running calls for whoever opens the database after a crash; without it they are not kept. */
  journal?: Journal;
  /** Called after the write of each row that a balance paid for, with the whole micro-USD that the plan paid. */
  onPaid?: (call: LedgerCall, microUsd: number) => void;
  /** Called once for each settled call, with the model that served it and its cost in whole micro-USD. */
  onSettled?: (served: ServedModel, usage: CallUsage, microUsd: number) => void;
  /** With several cells: how this one gets its share of the common budgets. */
  shares?: BudgetShares | undefined;
  /** Called for each refusal of a budget. */
  onRefused?: (refusal: BudgetRefusal) => void;
  /** Epoch ms. */
  now?: () => number;
}

export function createLedger({
  database,
  log,
  balances,
  unpaidBudget,
  sums = createUsageSums({ database, others: [] }),
  journal,
  onPaid,
  onSettled,
  onRefused,
  shares,
  now = Date.now,
}: Deps): Ledger {
  const budgets = createBudgets({ loadSpent, now, shares, ...(onRefused && { onRefused }) });
  const rowWriter = createRowWriter({ database, log, journal });
  let recovered = false;
  /** Ids of the journaled calls that have begun and not ended. */
  const underWay = new Set<string>();

  async function loadSpent(period: BudgetPeriod): Promise<number> {
    await flush();
    return readSpent(database, period, unpaidBudget?.adminEmails ?? [], now());
  }

  /**
   * Holds the amount in the balance of the account. Without a paid subscription, the part that no credits pay is held in the
   * common daily budget of such accounts, too. If that budget refuses, the credits pay for the whole call if they cover it.
   */
  async function placeAccountHolds(
    balances: AccountBalances,
    userId: string,
    microUsd: number,
  ): Promise<FundingSource> {
    const balanceHold = await balances.placeHold(userId, microUsd);
    if (balanceHold.isPaid || !unpaidBudget) return { balanceHold };
    const scopes: BudgetScope[] = [{ of: "unpaid", period: "day", limit: unpaidBudget.microUsd }];
    let refusal: BudgetRefusal | undefined;
    try {
      const notify = (refused: BudgetRefusal) => {
        refusal = refused;
      };
      return { balanceHold, unpaidHold: await budgets.placeHold(scopes, microUsd - balanceHold.credit, notify) };
    } catch (error) {
      balanceHold.capture(0);
      if (!refusal) throw error;
      // What the call costs beyond its reservation counts.
      const unpaidHold = await budgets.placeHold(scopes, 0);
      const creditHold = await balances.placeCreditHold(userId, microUsd);
      if (creditHold) return { balanceHold: creditHold, unpaidHold };
      onRefused?.(refusal);
      throw error;
    }
  }

  /** Queues the rows that an earlier process left in the journal, before any others. */
  function recover(): void {
    if (recovered) return;
    recovered = true;
    const rows = journal?.recover() ?? [];
    if (rows.length === 0) return;
    log.info("model calls that a crash interrupted are added to the ledger", { calls: rows.length });
    const onWritten = (id: string) => {
      sums.noteRow();
      journal?.remove(id, false);
    };
    rowWriter.queue(rows.map((row) => ({ row, onWritten: () => onWritten(row[0]) })));
  }

  /** Resolves when the journal holds the highest cost, so that no provider is called before. If it fails, nothing is held. */
  function openJournaled(
    call: LedgerCall,
    expected: ExpectedTokens,
    microUsd: number,
    funding: FundingSource,
  ): Reservation | Promise<Reservation> {
    try {
      const reservation = createReservation(call, expected, microUsd, funding);
      const kept = journal?.whenFlushed()?.then(
        () => reservation,
        (error: unknown) => {
          reservation.release();
          throw error;
        },
      );
      return kept ?? reservation;
    } catch (error) {
      for (const held of [funding.budgetHold, funding.unpaidHold, funding.balanceHold]) held?.capture(0);
      throw error;
    }
  }

  const putRow = (row: LedgerRow) => journal?.put(row, underWay.size <= 1);

  function createReservation(
    call: LedgerCall,
    expected: ExpectedTokens,
    microUsd: number,
    funding: FundingSource = {},
  ): Reservation {
    const { budgetHold, unpaidHold, balanceHold, cached } = funding;
    const id = newRowId(call.turnId);
    const at = now();
    let row: LedgerRow | undefined;
    /** Free calls are not journaled: a crash loses at most the last of them. */
    let isJournaled = microUsd > 0;
    if (isJournaled) {
      underWay.add(id);
      putRow(rowOf({ ...expected, estimated: true }, 0, call, microUsd, balanceHold?.credit ?? 0));
    }

    function rowOf(usage: CallUsage, latencyMs: number, served: ServedModel, cost: number, credit: number): LedgerRow {
      const { kind, userId = null, agentId = null, ownKey } = call;
      const { inputTokens, outputTokens, estimated } = usage;
      const used = [inputTokens, outputTokens, cost, Math.round(latencyMs), estimated ? 1 : 0] as const;
      return [
        id,
        at,
        kind,
        userId,
        agentId,
        served.provider,
        served.modelId,
        ...used,
        ownKey ? 1 : 0,
        credit,
        cached ? 1 : 0,
      ];
    }
    /** Returns the same row at each call, since a failed batch is tried again. */
    function settleRow(rawUsage: CallUsage, latencyMs: number, served: ServedModel = call): LedgerRow {
      if (row) return row;
      const usage = sanitizeUsage(rawUsage);
      const cost = costOfCall(served.pricing, usage);
      budgetHold?.capture(cost);
      const credit = balanceHold?.capture(cost) ?? 0;
      unpaidHold?.capture(cost - credit);
      row = rowOf(usage, latencyMs, served, cost, credit);
      onSettled?.(served, usage, cost);
      isJournaled ||= cost > 0;
      if (isJournaled) putRow(row);
      underWay.delete(id);
      return row;
    }
    function onWritten(): void {
      sums.noteRow();
      balanceHold?.markWritten();
      if (balanceHold && row) onPaid?.(call, row[9] - row[13]);
      journal?.remove(id, false);
    }
    return {
      settleStatement: (...args) => ({ ...insertStatement(settleRow(...args)), after: onWritten }),
      record(...args) {
        rowWriter.write({ row: settleRow(...args), onWritten });
        return isJournaled ? journal?.whenFlushed() : undefined;
      },
      release() {
        if (row) return;
        budgetHold?.capture(0);
        unpaidHold?.capture(0);
        balanceHold?.capture(0);
        underWay.delete(id);
        journal?.remove(id, true);
      },
    };
  }

  function flush(): Promise<void> {
    recover();
    return rowWriter.flush();
  }

  async function addUp(): Promise<void> {
    await flush();
    await sums.addUp();
  }

  return {
    reserve(call, scopes, microUsd, expected = NO_TOKENS) {
      recover();
      if (microUsd === 0) return createReservation(call, expected, 0);
      const payerId = call.ownKey || call.kind === "public" ? undefined : call.userId;
      const budgetHold = scopes.length === 0 ? undefined : budgets.placeHold(scopes, microUsd);
      if (!balances || payerId === undefined) {
        if (!(budgetHold instanceof Promise)) return openJournaled(call, expected, microUsd, { budgetHold });
        return budgetHold.then((placedHold) => openJournaled(call, expected, microUsd, { budgetHold: placedHold }));
      }
      return (async () => {
        const placedHold = await budgetHold;
        let holds: FundingSource;
        try {
          holds = await placeAccountHolds(balances, payerId, microUsd);
        } catch (error) {
          placedHold?.capture(0);
          throw error;
        }
        return openJournaled(call, expected, microUsd, { ...holds, budgetHold: placedHold });
      })();
    },
    cachedReservation: (call) => createReservation(call, NO_TOKENS, 0, { cached: true }),
    spentMicroUsd: budgets.spentMicroUsd,
    giveBack: budgets.giveBack,
    forgetAgent: budgets.forget,
    flush,
    addUp,
    async start() {
      await journal?.load?.();
      await addUp();
    },
    async close() {
      sums.stop();
      // The next start adds what can't be added now.
      if (recovered) await addUp().catch(() => undefined);
      await journal?.close();
    },
  };
}
