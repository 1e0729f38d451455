// Replies that were sent and, as their platform says afterwards, did not arrive: each is noted, and told, once.
import { GuardFailed, guard, type Statement } from "../../src/database.ts";
import type { Kernel } from "../../src/plugin.ts";

/**
 * Notes why replies did not arrive: `reasons` by the reply's id. Of those that the agent sent on this platform and that are
 * not noted yet; `telling` goes into the same write. Answers the reasons of these.
 */
export type Lost = (
  agentId: string,
  platform: string,
  reasons: ReadonlyMap<string, string>,
  telling: (reason: string) => Statement,
) => Promise<string[]>;

/** What was lost stays sent, and says why it did not arrive: it is not to be sent again. */
const IS_NEW = "status = 'sent' AND error IS NULL";
const SENT = `SELECT id FROM outbox WHERE agent_id = ?1 AND platform = ?2 AND ${IS_NEW}
  AND id IN (SELECT value FROM json_each(?3))`;
const NOTE = `UPDATE outbox SET error = ? WHERE id = ? AND ${IS_NEW}`;

export function createLost({ database }: Pick<Kernel, "database">): Lost {
  return async (agentId, platform, reasons, telling) => {
    // Looked up first: what is no reply of this agent's costs no write.
    const { rows } = await database.read(SENT, [agentId, platform, JSON.stringify([...reasons.keys()])]);
    const noted = rows.map(async ({ id }) => {
      const reason = reasons.get(String(id)) ?? "";
      try {
        await database.write([{ sql: NOTE, args: [reason, String(id)] }, guard("lost"), telling(reason)]);
        return [reason];
      } catch (error) {
        if (error instanceof GuardFailed) return [];
        throw error;
      }
    });
    return (await Promise.all(noted)).flat();
  };
}
