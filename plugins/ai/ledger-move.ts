// What an agent used goes with it to another account: its new owner sees all of it, and has it in the month's sum.
import type { Statement } from "../../src/database.ts";
import { periodStart } from "./budgets.ts";
import type { Purses } from "./credits.ts";
import type { CallOf } from "./ledger.ts";

const DAY = 86_400_000;

const CALLS = "UPDATE usage SET user_id = ?1 WHERE agent_id = ?2 AND user_id = ?3";
const DAYS = `UPDATE usage_days SET user_id = ?1 WHERE agent_id = ?2 AND user_id = ?3
  RETURNING day, own_key, cost_micro_usd - credit_micro_usd AS micro`;

/** Agents that are remembered to have gone to another account: turns that were under way then are soon over. */
const REMEMBERED = 10_000;

export interface LedgerMove {
  /**
   * For the batch that gives an agent to another account. What was used of the operator's keys counts for its new owner from
   * then on: nobody gets more than their plan by way of accounts that are left behind.
   */
  statements(agentId: string, from: string, to: string): Statement[];
  /** A row was written: of a turn that began before its agent's move, it counts for the new owner too. */
  paid(call: Pick<CallOf, "kind" | "agentId" | "userId">, micro: number): void;
}

export function createLedgerMove(purses: Pick<Purses, "added">, now: () => number = Date.now): LedgerMove {
  const owners = new Map<string, string>();

  function moved(agentId: string, to: string): void {
    if (owners.size >= REMEMBERED) owners.delete(owners.keys().next().value ?? "");
    owners.set(agentId, to);
  }

  return {
    statements: (agentId, from, to) => [
      { sql: CALLS, args: [to, agentId, from] },
      {
        sql: DAYS,
        args: [to, agentId, from],
        after({ rows }) {
          const since = periodStart("month", now()) / DAY;
          const counted = rows.filter(({ day, own_key }) => Number(day) >= since && own_key === 0);
          purses.added(
            to,
            counted.reduce((sum, { micro }) => sum + Number(micro), 0),
          );
          moved(agentId, to);
        },
      },
    ],
    paid({ kind, agentId = "", userId }, micro) {
      const owner = kind === "turn" ? owners.get(agentId) : undefined;
      if (owner !== undefined && owner !== userId) purses.added(owner, micro);
    },
  };
}
