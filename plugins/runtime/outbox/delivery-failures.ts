// Records replies that the platform accepted and later reported as undelivered, each one once.
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";

/**
 * Records the reasons, by the reply's id, of replies that the agent sent on this platform and that are not recorded yet.
 * `noticeStatement` goes into the same write. Resolves with the reasons that were recorded now.
 */
export type RecordDeliveryFailures = (
  agentId: string,
  platform: string,
  reasons: ReadonlyMap<string, string>,
  noticeStatement: (reason: string) => Statement,
) => Promise<string[]>;

/** Such a reply keeps the status `sent`, so that it is not sent again; its `error` says why it did not arrive. */
const IS_UNRECORDED = "status = 'sent' AND error IS NULL";
const SELECT_SENT = `SELECT id FROM outbox WHERE agent_id = ?1 AND platform = ?2 AND ${IS_UNRECORDED}
  AND id IN (SELECT value FROM json_each(?3))`;
const RECORD_REASON = `UPDATE outbox SET error = ? WHERE id = ? AND ${IS_UNRECORDED}`;

export function createDeliveryFailureRecorder({ database }: Pick<Kernel, "database">): RecordDeliveryFailures {
  return async (agentId, platform, reasons, noticeStatement) => {
    // Looked up first, so that ids of other messages cost no write.
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
