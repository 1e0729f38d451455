// Replies that were sent and, as their platform says afterwards, did not arrive: each is noted, and told, once.
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";

/**
 * Notes why replies did not arrive: `reasons` by the reply's id. Of those that the agent sent on this platform and that are
 * not noted yet; `telling` goes into the same write. Answers the reasons of these.
 */
export type RecordDeliveryFailures = (
  agentId: string,
  platform: string,
  reasons: ReadonlyMap<string, string>,
  noticeStatement: (reason: string) => Statement,
) => Promise<string[]>;

/** What was lost stays sent, and says why it did not arrive: it is not to be sent again. */
const IS_UNRECORDED = "status = 'sent' AND error IS NULL";
const SELECT_SENT = `SELECT id FROM outbox WHERE agent_id = ?1 AND platform = ?2 AND ${IS_UNRECORDED}
  AND id IN (SELECT value FROM json_each(?3))`;
const RECORD_REASON = `UPDATE outbox SET error = ? WHERE id = ? AND ${IS_UNRECORDED}`;

export function createDeliveryFailureRecorder({ database }: Pick<Kernel, "database">): RecordDeliveryFailures {
  return async (agentId, platform, reasons, noticeStatement) => {
    // Looked up first: what is no reply of this agent's costs no write.
    const { rows } = await database.read(SELECT_SENT, [agentId, platform, JSON.stringify([...reasons.keys()])]);
    const recorded = rows.map(async ({ id }) => {
      const reason = reasons.get(String(id)) ?? "";
      try {
        await database.write([
          { sql: RECORD_REASON, args: [reason, String(id)] },
          guard("lost"),
          noticeStatement(reason),
        ]);
        return [reason];
      } catch (error) {
        if (error instanceof GuardFailed) return [];
        throw error;
      }
    });
    return (await Promise.all(recorded)).flat();
  };
}
