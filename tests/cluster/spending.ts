// Agents with a budget that callers try to exceed, all the time and through every takeover.
import { Database } from "bun:sqlite";
import { createClient } from "../support/client.ts";
import { provision } from "../support/members.ts";
import { replyTo } from "./load.ts";
import type { World } from "./world.ts";

/** Its turns are not those of the messages, which are counted one by one. */
export const SPENDER = "Spender";
/** So that it is spent after about half of the run, with some five calls a second in each cell: calls are refused in the other half. */
const BUDGET_USD_A_MINUTE = 0.09;
/** The model answers with so many tokens, which is less than it may: 0.0006 USD. */
export const SPENT_TOKENS = { prompt: 10, completion: 1_000 };
const SPENDING = "spend the budget";
export const isSpending = (text: string) => text.startsWith(SPENDING);
const spendingIn = (cell: number) => `${SPENDING} of cell ${cell}:`;
export const isSpendingIn = (text: string, cell: number) => text.startsWith(spendingIn(cell));
/** Of each budget: calls that are under way at once would exceed it if they were not reserved. */
export const CALLERS = 3;
const PACE_MS = 300;
const TIMEOUT_MS = 12_000;
/** The cell is on its way. */
const REPEATED = [0, 502, 503];
/** The turn was cut off by a move of its cell, and is made anew there. */
const CUT_OFF = ["ALREADY_SETTLED", "CANCELLED"];

export interface Spending {
  budgetUsd: number;
  /** How often each status came; 0: no answer in time. */
  statuses: Record<string, number>;
  /** Answers that a caller must never get. */
  wrong: string[];
  stop(): Promise<void>;
}

/** Makes an agent with a budget in each cell, and calls them until it is stopped. */
export async function startSpending({ cluster, accounts }: World, seconds: number): Promise<Spending> {
  const budgetUsd = Math.max(1, seconds / 60) * BUDGET_USD_A_MINUTE;
  const spending: Spending = { budgetUsd, statuses: {}, wrong: [], stop: async () => undefined };
  const { statuses, wrong } = spending;
  let isOver = false;
  const callers: Promise<void>[] = [];
  for (const [cell, account] of accounts) {
    const { id: agentId } = await provision(account, SPENDER, { budget: { usdPerMonth: budgetUsd } });
    for (let caller = 0; caller < CALLERS; caller++) {
      const { cookie } = account;
      const client = createClient(cluster);
      /** Again under its key until it is answered or refused. */
      const call = async (n: number) => {
        const message = `${spendingIn(cell)} ${caller} ${n}`;
        const headers = { cookie, "idempotency-key": `caller-${caller}-${n}` };
        for (let isRepeated = true; isRepeated && !isOver; ) {
          const signal = AbortSignal.timeout(TIMEOUT_MS);
          const { status, text } = await client
            .post("/api/chat", { message, agentId, topic: `caller ${caller}` }, { headers, signal })
            .catch((error: unknown) => ({ status: 0, text: String(error) }));
          statuses[status] = (statuses[status] ?? 0) + 1;
          isRepeated = REPEATED.includes(status) || CUT_OFF.some((code) => text.includes(`"${code}"`));
          const isRight = status === 200 ? text.includes(`"${replyTo(message)}"`) : isRepeated || status === 402;
          if (!isRight) wrong.push(`cell ${cell}: "${message}" got ${status} ${text}`);
          if (isRepeated) await Bun.sleep(PACE_MS);
        }
      };
      callers.push(
        (async () => {
          for (let n = 0; !isOver; n++) {
            await call(n);
            await Bun.sleep(PACE_MS);
          }
        })(),
      );
    }
  }
  spending.stop = async () => {
    isOver = true;
    await Promise.all(callers);
  };
  return spending;
}

/**
 * What the ledger of a cell says was spent of its agent's budget, in USD. Throws if it is more than the budget, and if a call that was
 * repeated under its key was answered twice.
 */
export function checkBudget(file: string, budgetUsd: number): number {
  using database = new Database(file, { readonly: true });
  const answeredTwice = `SELECT content FROM inbox WHERE status = 'done'
    AND agent_id IN (SELECT id FROM agents WHERE name = '${SPENDER}') GROUP BY content HAVING count(*) > 1`;
  const twice = database.query<{ content: string }, []>(answeredTwice).all();
  if (twice.length > 0) throw new Error(`${file}: answered twice: ${twice.map(({ content }) => content).join(", ")}`);
  const sql = `SELECT coalesce(sum(cost_micro_usd), 0) AS cost FROM usage
    WHERE agent_id IN (SELECT id FROM agents WHERE name = '${SPENDER}')`;
  const spent = (database.query<{ cost: number }, []>(sql).get()?.cost ?? 0) / 1e6;
  if (spent > budgetUsd) throw new Error(`${file}: an agent with a budget of ${budgetUsd} USD has spent ${spent}.`);
  return spent;
}
