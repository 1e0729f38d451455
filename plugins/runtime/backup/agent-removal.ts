// Deletes the messages of an agent with many of them in steps, before its row is deleted, to keep each write short.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import { firstKeysSql, MAX_STEP_BYTES } from "../id-pages.ts";
import { deleteSessionsSql, MESSAGE_BYTES } from "../sessions/session-sql.ts";

/** Fewer rows are deleted with the agent in one write, which takes some milliseconds, if their texts are short. */
const SMALL_AGENT_ROWS = 1_000;
/** Rows deleted in one step, if their texts are short. */
const STEP = 250;

const SIZE = `SELECT (SELECT count(*) FROM (SELECT 1 FROM inbox WHERE agent_id = ?1 LIMIT ?2))
  + (SELECT count(*) FROM (SELECT 1 FROM outbox WHERE agent_id = ?1 LIMIT ?2))
  + (SELECT count(*) FROM (SELECT 1 FROM turn_steps WHERE agent_id = ?1 LIMIT ?2))
  + (SELECT coalesce(sum(1 + message_count), 0) FROM (SELECT message_count FROM sessions WHERE agent_id = ?1 LIMIT ?2)) AS size`;

/** Of a step of a turn: what is shown of it, and the exact texts of a turn that may go on. */
const STEP_BYTES =
  "coalesce(octet_length(input), 0) + coalesce(octet_length(output), 0) + coalesce(octet_length(sealed), 0)";
/** Of an agent with few rows. */
const BYTES = `SELECT (SELECT total(octet_length(content)) FROM inbox WHERE agent_id = ?1)
  + (SELECT total(${STEP_BYTES}) FROM turn_steps WHERE agent_id = ?1)
  + (SELECT total(octet_length(body)) FROM outbox WHERE agent_id = ?1)
  + (SELECT total(${MESSAGE_BYTES}) FROM messages WHERE session_id IN (SELECT id FROM sessions WHERE agent_id = ?1)) AS bytes`;

const deleteBatchSql = (table: string, text: string) =>
  `DELETE FROM ${table} WHERE agent_id = ?1 AND id IN (${firstKeysSql(
    `SELECT id AS key, octet_length(${text}) AS bytes FROM ${table} WHERE agent_id = ?1 ORDER BY id LIMIT ${STEP}`,
  )})`;

/** Pending messages are deleted first, so that none is answered in a session that is gone. */
const STEPS: readonly (readonly string[])[] = [
  [deleteBatchSql("inbox", "content")],
  [
    `DELETE FROM turn_steps WHERE (agent_id, turn_id, seq) IN (SELECT agent_id, turn_id, seq FROM
      (SELECT agent_id, turn_id, seq, sum(bytes) OVER (ORDER BY turn_id, seq) - bytes AS before FROM
        (SELECT agent_id, turn_id, seq, ${STEP_BYTES} AS bytes FROM turn_steps WHERE agent_id = ?1 ORDER BY turn_id, seq LIMIT ${STEP}))
      WHERE before < ${MAX_STEP_BYTES})`,
  ],
  [deleteBatchSql("outbox", "body")],
  deleteSessionsSql(`SELECT id FROM sessions WHERE agent_id = ?1 LIMIT ${STEP}`, 2 * STEP),
];

interface Deps extends Pick<Kernel, "database"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "setStatus">;
  /** Starts no turn of an agent until the returned function is called. */
  holdTurns(agentId: string): () => void;
}

/**
 * Returns the hook for `agents.beforeDelete`. Deleting the agent's row deletes all remaining rows in one statement. An agent
 * with many rows is stopped first, so that it gets no new messages. A process that is killed in between leaves a stopped
 * agent without messages, which can be deleted again.
 */
export function createAgentRemoval({ database, agents, holdTurns }: Deps) {
  const read = async (sql: string, ...args: (string | number)[]) =>
    Number(Object.values((await database.read(sql, args)).rows[0] ?? {})[0]);
  const isSmall = async (agentId: string) =>
    (await read(SIZE, agentId, SMALL_AGENT_ROWS)) < SMALL_AGENT_ROWS && (await read(BYTES, agentId)) < MAX_STEP_BYTES;

  return async (agentId: string): Promise<void> => {
    if (await isSmall(agentId)) return;
    await agents.setStatus(agentId, "stopped");
    const release = holdTurns(agentId);
    try {
      for (const step of STEPS) {
        for (let left = 1; left > 0; await yieldToEventLoop()) {
          const done = await database.write(step.map((sql) => ({ sql, args: [agentId] })));
          left = done.reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
        }
      }
    } finally {
      release();
    }
  };
}
