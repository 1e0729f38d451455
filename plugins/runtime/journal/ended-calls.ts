// Counts the calls of tools that a turn has ended, for limits that hold over a restart.
import type { Database } from "../../../src/kernel/database/database.ts";

const COUNT = `SELECT count(*) AS count FROM turn_steps WHERE agent_id = ? AND turn_id = ? AND kind = 'tool'
  AND ended_at IS NOT NULL AND name IN (SELECT value FROM json_each(?))`;

export const createEndedCallCounter =
  ({ read }: Pick<Database, "read">) =>
  async (agentId: string, turnId: string, tools: readonly string[]): Promise<number> => {
    const { rows } = await read(COUNT, [agentId, turnId, JSON.stringify(tools)]);
    return Number(rows[0]?.count ?? 0);
  };
