// Lists what became of the messages that a visitor's agent has sent in one conversation, newest first.
import type { Database } from "../../../src/kernel/database/database.ts";
import { findRunning, type TurnState, turnState } from "./turn-states.ts";

/** What became of a message. */
export interface MessageOutcome {
  /** The id that its sender gave it. */
  messageId: string;
  status: TurnState;
  reply: string | null;
  /** Epoch ms of the reply, or of the message. */
  at: number;
}

/** The agent's latest entries, among which the conversation is looked for: strangers ask for it. */
const SCAN = 2_000;
export const MAX_OUTCOMES = 100;

/** ?3: the address of the conversation, which may be followed by the agents that a message has come through. */
const LIST = `SELECT i.id, i.platform_message_id, i.status, i.received_at, m.content AS reply, m.created_at AS replied_at FROM (
    SELECT * FROM (SELECT id, platform, peer, platform_message_id, status, received_at, reply FROM inbox
      WHERE agent_id = ?1 ORDER BY id DESC LIMIT ${SCAN})
    WHERE platform = ?2 AND (peer = ?3 OR substr(peer, 1, length(?3) + 1) = ?3 || ' ') AND platform_message_id IS NOT NULL
    ORDER BY id DESC LIMIT ${MAX_OUTCOMES}) AS i
  LEFT JOIN messages AS m ON m.seq = i.reply AND m.inbox_id = i.id ORDER BY i.id DESC`;

/** At most `MAX_OUTCOMES`, among the agent's latest 2,000 messages. */
export async function listOutcomes(
  database: Database,
  agent: { id: string; status: string },
  { platform, peer }: { platform: string; peer: string },
): Promise<MessageOutcome[]> {
  const { rows } = await database.read(LIST, [agent.id, platform, peer]);
  if (rows.length === 0) return [];
  const running = await findRunning(database, agent);
  return rows.map(({ id, platform_message_id, status, received_at, reply, replied_at }) => ({
    messageId: String(platform_message_id),
    status: turnState(status, running.has(String(id))),
    reply: reply === null ? null : String(reply),
    at: Number(replied_at ?? received_at),
  }));
}
