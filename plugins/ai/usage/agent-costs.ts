// Sums what an account's agents have cost today, for lists of many agents.
import type { Database } from "../../../src/kernel/database/database.ts";
import { DAY } from "../../../src/kernel/util/time.ts";

export interface AgentCosts {
  /** What all agents of an account have cost since midnight UTC, in US dollars. */
  todayUsd(userId: string): Promise<number>;
  /** The same by agent, for these agents or for all; those without calls are left out. */
  todayUsdByAgent(userId: string, agentIds?: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

const TODAY = "FROM usage_days WHERE user_id = ?1 AND day = ?2 AND agent_id <> ''";
/** The account's sum is one row for each model; calls without an agent are taken off again. */
const SUM = `SELECT (SELECT coalesce(sum(cost_micro_usd), 0) FROM usage_account_days WHERE user_id = ?1 AND day = ?2)
  - (SELECT coalesce(sum(cost_micro_usd), 0) FROM usage_days WHERE user_id = ?1 AND day = ?2 AND agent_id = '') AS cost`;
const OF_ALL = `SELECT agent_id, sum(cost_micro_usd) AS cost ${TODAY} GROUP BY agent_id`;
const OF_SOME = `SELECT agent_id, sum(cost_micro_usd) AS cost ${TODAY}
  AND agent_id IN (SELECT value FROM json_each(?3)) GROUP BY agent_id`;

interface Deps {
  database: Pick<Database, "read">;
  /** Adds all calls to the sums by day. */
  addUp(): Promise<void>;
}

export function createAgentCosts({ database, addUp }: Deps): AgentCosts {
  const today = () => Math.floor(Date.now() / DAY);
  const usd = (microUsd: unknown) => Number(microUsd ?? 0) / 1e6;
  return {
    async todayUsd(userId) {
      await addUp();
      return usd((await database.read(SUM, [userId, today()])).rows[0]?.cost);
    },
    async todayUsdByAgent(userId, agentIds) {
      await addUp();
      const { rows } = agentIds
        ? await database.read(OF_SOME, [userId, today(), JSON.stringify(agentIds)])
        : await database.read(OF_ALL, [userId, today()]);
      return new Map(rows.map(({ agent_id, cost }) => [String(agent_id), usd(cost)]));
    },
  };
}
