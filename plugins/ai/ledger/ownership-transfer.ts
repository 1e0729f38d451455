// Moves an agent's usage to its new owner, where it counts for the month as well.

import type { Statement } from "../../../src/kernel/database/database.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import type { AccountBalances } from "./account-balances.ts";
import { periodStart } from "./budgets.ts";
import type { LedgerCall } from "./ledger.ts";
import type { UsageSums } from "./usage-sums.ts";

const MOVE_DAYS_SQL = `UPDATE usage_days SET user_id = ?1 WHERE agent_id = ?2 AND user_id = ?3
  RETURNING day, own_key, cost_micro_usd - credit_micro_usd AS micro`;

/** Transferred agents that are remembered, for the turns that were running at their transfer. */
const MAX_REMEMBERED_TRANSFERS = 10_000;

export interface OwnershipTransfer {
  /**
   * Moves the usage in the batch that transfers the agent. It counts for the new owner from then on, so that a person can't
   * exceed their plan by transferring agents from abandoned accounts. Only the sums move: a single call keeps the account
   * that had the agent at the time, since finding an agent's calls would read those of all agents.
   */
  transferStatements(agentId: string, from: string, to: string): Statement[];
  /** Call it after a row was written: the row of a turn that began before the transfer counts for the new owner. */
  onPaid(call: Pick<LedgerCall, "kind" | "agentId" | "userId">, microUsd: number): void;
}

interface Deps {
  balances: Pick<AccountBalances, "addSpending">;
  sums: Pick<UsageSums, "addAllStatements">;
  /** Epoch ms. */
  now?: () => number;
}

export function createOwnershipTransfer({ balances, sums, now = Date.now }: Deps): OwnershipTransfer {
  const newOwners = new Map<string, string>();

  function rememberOwner(agentId: string, to: string): void {
    if (newOwners.size >= MAX_REMEMBERED_TRANSFERS) newOwners.delete(newOwners.keys().next().value ?? "");
    newOwners.set(agentId, to);
  }

  return {
    transferStatements: (agentId, from, to) => [
      // A row that is added later would count for the old owner.
      ...sums.addAllStatements(),
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
