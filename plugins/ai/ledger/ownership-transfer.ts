// What an agent used goes with it to another account: its new owner sees all of it, and has it in the month's sum.
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { AccountBalances } from "./account-balances.ts";
import { periodStart } from "./budgets.ts";
import type { LedgerCall } from "./ledger.ts";

const DAY = 86_400_000;

const MOVE_CALLS_SQL = "UPDATE usage SET user_id = ?1 WHERE agent_id = ?2 AND user_id = ?3";
const MOVE_DAYS_SQL = `UPDATE usage_days SET user_id = ?1 WHERE agent_id = ?2 AND user_id = ?3
  RETURNING day, own_key, cost_micro_usd - credit_micro_usd AS micro`;

/** Agents that are remembered to have gone to another account: turns that were under way then are soon over. */
const MAX_REMEMBERED_TRANSFERS = 10_000;

export interface OwnershipTransfer {
  /**
   * For the batch that gives an agent to another account. What was used of the operator's keys counts for its new owner from
   * then on: nobody gets more than their plan by way of accounts that are left behind.
   */
  transferStatements(agentId: string, from: string, to: string): Statement[];
  /** A row was written: of a turn that began before its agent's move, it counts for the new owner too. */
  onPaid(call: Pick<LedgerCall, "kind" | "agentId" | "userId">, microUsd: number): void;
}

export function createOwnershipTransfer(
  balances: Pick<AccountBalances, "addSpending">,
  now: () => number = Date.now,
): OwnershipTransfer {
  const newOwners = new Map<string, string>();

  function rememberOwner(agentId: string, to: string): void {
    if (newOwners.size >= MAX_REMEMBERED_TRANSFERS) newOwners.delete(newOwners.keys().next().value ?? "");
    newOwners.set(agentId, to);
  }

  return {
    transferStatements: (agentId, from, to) => [
      { sql: MOVE_CALLS_SQL, args: [to, agentId, from] },
      {
        sql: MOVE_DAYS_SQL,
        args: [to, agentId, from],
        after({ rows }) {
          const since = periodStart("month", now()) / DAY;
          const counted = rows.filter(({ day, own_key }) => Number(day) >= since && own_key === 0);
          balances.addSpending(
            to,
            counted.reduce((sum, { micro }) => sum + Number(micro), 0),
          );
          rememberOwner(agentId, to);
        },
      },
    ],
    onPaid({ kind, agentId = "", userId }, microUsd) {
      const owner = kind === "turn" ? newOwners.get(agentId) : undefined;
      if (owner !== undefined && owner !== userId) balances.addSpending(owner, microUsd);
    },
  };
}
