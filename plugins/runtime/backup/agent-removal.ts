// An agent that is removed although much was said to it: that goes before it, in steps that leave others their turn.
import { setImmediate as breathe } from "node:timers/promises";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import { deleteSessionsSql } from "./backup-sql.ts";

/** Rows that go along with the agent in one write: some milliseconds. */
const SMALL_AGENT_ROWS = 1_000;
/** Rows of a step. */
const STEP = 250;

const SIZE = `SELECT (SELECT count(*) FROM (SELECT 1 FROM inbox WHERE agent_id = ?1 LIMIT ?2))
  + (SELECT count(*) FROM (SELECT 1 FROM outbox WHERE agent_id = ?1 LIMIT ?2))
  + (SELECT coalesce(sum(1 + message_count), 0) FROM (SELECT message_count FROM sessions WHERE agent_id = ?1 LIMIT ?2)) AS size`;

const deleteBatchSql = (table: string) =>
  `DELETE FROM ${table} WHERE agent_id = ?1 AND id IN (SELECT id FROM ${table} WHERE agent_id = ?1 ORDER BY id LIMIT ${STEP})`;

/** What waits goes first, so that nothing is answered into a session that is gone. */
const STEPS: readonly (readonly string[])[] = [
  [deleteBatchSql("inbox")],
  [deleteBatchSql("outbox")],
  deleteSessionsSql(`SELECT id FROM sessions WHERE agent_id = ?1 LIMIT ${STEP}`, 2 * STEP),
];

interface Deps extends Pick<Kernel, "database"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "setStatus">;
  /** Lets no turn begin of an agent until what it answers is called. */
  holdTurns(agentId: string): () => void;
}

/**
 * To be done before an agent's row is deleted, which takes all that is left along in one statement. One with much to be
 * deleted is stopped first: its bots fall silent, and nothing new is said. A process that is killed in between leaves a
 * stopped agent that has forgotten, and whose removal can be asked for again.
 */
export function createAgentRemoval({ database, agents, holdTurns }: Deps) {
  const isSmall = async (agentId: string) =>
    Number((await database.read(SIZE, [agentId, SMALL_AGENT_ROWS])).rows[0]?.size ?? 0) < SMALL_AGENT_ROWS;

  return async (agentId: string): Promise<void> => {
    if (await isSmall(agentId)) return;
    await agents.setStatus(agentId, "stopped");
    const release = holdTurns(agentId);
    try {
      for (const step of STEPS) {
        for (let left = 1; left > 0; await breathe()) {
          const done = await database.write(step.map((sql) => ({ sql, args: [agentId] })));
          left = done.reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
        }
      }
    } finally {
      release();
    }
  };
}
