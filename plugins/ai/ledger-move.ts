// What an agent used goes with it to another account: its new owner sees all of it, and has it in the month's sum.
import type { Statement } from "../../src/database.ts";
import { periodStart } from "./budgets.ts";
import type { Purses } from "./credits.ts";

const DAY = 86_400_000;

const CALLS = "UPDATE usage SET user_id = ?1 WHERE agent_id = ?2 AND user_id = ?3";
const DAYS = `UPDATE usage_days SET user_id = ?1 WHERE agent_id = ?2 AND user_id = ?3
  RETURNING day, own_key, cost_micro_usd - credit_micro_usd AS micro`;

/**
 * For the batch that gives an agent to another account. What was used of the operator's keys counts for its new owner from
 * then on: nobody gets more than their plan by way of accounts that are left behind.
 */
export function createLedgerMove(purses: Pick<Purses, "added">, now: () => number = Date.now) {
  return (agentId: string, from: string, to: string): Statement[] => [
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
      },
    },
  ];
}
