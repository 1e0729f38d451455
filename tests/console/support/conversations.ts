// Stores a conversation in a running Berth's database, as a channel would have left it.

import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Berth } from "../../support/berth.ts";

interface Stored {
  agentId: string;
  platform: string;
  /** The person's name. */
  name: string;
  /** What the person wrote, oldest first; each has a reply. */
  messages: readonly string[];
  reply?: (message: string) => string;
  /** The steps of the last reply. */
  steps?: readonly { tool: string; input: string; result: string; ok: boolean }[];
}

/** Returns the id of the conversation, whose last message is of this moment. */
export async function storeConversation(
  berth: Berth,
  { agentId, platform, name, messages, reply = (text) => `Re: ${text}`, steps }: Stored,
): Promise<string> {
  const id = `sess_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
  const now = Date.now();
  using database = new Database(join(berth.dir, "data/berth.db"));
  database.run("PRAGMA busy_timeout = 5000");
  const addSession = database.query(
    `INSERT INTO sessions (id, agent_id, platform, peer, message_count, created_at, last_activity_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const addEntry = database.query(
    `INSERT INTO inbox (id, agent_id, session_id, platform, peer, sender_id, sender_name, by_owner, content, status, received_at,
      settled_at) VALUES (?, ?, ?, ?, ?, '7', ?, 0, ?, 'done', ?, ?)`,
  );
  const addMessage = database.query(
    `INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, steps, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  database.transaction(() => {
    addSession.run(id, agentId, platform, `peer-${id}`, 2 * messages.length, now, now);
    for (const [n, content] of messages.entries()) {
      const at = now - (messages.length - n) * 1_000;
      const entry = Bun.randomUUIDv7();
      addEntry.run(entry, agentId, id, platform, `peer-${id}`, name, content, at, at);
      addMessage.run(entry, id, agentId, entry, platform, "user", content, null, at);
      const isLast = n === messages.length - 1;
      const told = isLast && steps ? JSON.stringify(steps) : null;
      addMessage.run(crypto.randomUUID(), id, agentId, entry, platform, "assistant", reply(content), told, at + 1);
    }
  })();
  return id;
}
