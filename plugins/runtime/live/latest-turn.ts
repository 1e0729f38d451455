// Finds the latest turn of a conversation: the one that a client which has lost its stream goes on to read.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { PENDING_INBOX } from "../inbox/inbox-sql.ts";

/** A conversation by its address on a platform, or by its id. */
export type ConversationAddress = { platform: string; peer: string } | { conversationId: string };

export interface LatestTurn {
  turnId: string;
  conversationId: string;
  /** Whether it waits or runs. */
  isPending: boolean;
  /** The id that the sender has given the message; null for none. */
  messageId: string | null;
  /** Epoch ms of the last message of the conversation. */
  at: number;
}

const OPEN_SESSION = `SELECT id FROM sessions WHERE agent_id = ? AND platform = ? AND peer = ? AND status = 'open'`;
export const LATEST_PENDING = `SELECT id, received_at, platform_message_id FROM ${PENDING_INBOX} WHERE status = 'pending' AND agent_id = ?1
  AND (session_id = ?2 OR (platform = ?3 AND peer = ?4)) ORDER BY id DESC LIMIT 1`;
export const LAST_MESSAGE = `SELECT m.inbox_id, m.created_at, i.platform_message_id FROM messages AS m
  LEFT JOIN inbox AS i ON i.agent_id = ?1 AND i.id = m.inbox_id WHERE m.session_id = ?2 ORDER BY m.seq DESC LIMIT 1`;

export function createLatestTurn({ database }: Pick<Kernel, "database">) {
  /** Undefined for a conversation without messages. The caller knows that an id belongs to this agent. */
  return async (agentId: string, address: ConversationAddress): Promise<LatestTurn | undefined> => {
    const { platform = null, peer = null } = "peer" in address ? address : {};
    const conversationId =
      "peer" in address
        ? (await database.read(OPEN_SESSION, [agentId, address.platform, address.peer])).rows[0]?.id
        : address.conversationId;
    if (conversationId === undefined) return undefined;
    const session = String(conversationId);
    const [pending, last] = await Promise.all([
      database.read(LATEST_PENDING, [agentId, session, platform, peer]),
      database.read(LAST_MESSAGE, [agentId, session]),
    ]);
    const [waiting, settled] = [pending.rows[0], last.rows[0]];
    const row = waiting ?? settled;
    if (!row) return undefined;
    return {
      turnId: String(row.id ?? row.inbox_id),
      conversationId: session,
      isPending: waiting !== undefined,
      messageId: row.platform_message_id === null ? null : String(row.platform_message_id),
      at: Number(row.received_at ?? row.created_at),
    };
  };
}
