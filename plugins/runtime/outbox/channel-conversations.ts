// Lists the conversations of an agent on channels, for owners who choose where something is sent.
import { channelIds } from "../../../channels/registry.ts";
import type { Database } from "../../../src/kernel/database/database.ts";
import type { Platforms } from "../platforms.ts";

export interface ChannelConversation {
  platform: string;
  peer: string;
  /** The name of the last sender on the platform. */
  name: string;
  isGroup: boolean;
  /** The owner's own chat. */
  isOwner: boolean;
  /** Epoch ms. */
  lastMessageAt: number;
}

interface Deps {
  database: Pick<Database, "read">;
  platforms: Pick<Platforms, "of">;
}

/** Returns the function that lists the newest conversations, at most 50. */
export function createChannelConversations({ database, platforms }: Deps) {
  return async (agentId: string): Promise<ChannelConversation[]> => {
    const { rows } = await database.read(CONVERSATIONS_SQL, [agentId, JSON.stringify(channelIds())]);
    return Promise.all(
      rows.map(async ({ platform, peer, sender_id: senderId, sender_name: name, is_group: group, at }) => {
        const isGroup = group === 1;
        const isOwner =
          !isGroup &&
          ((await platforms.of(String(platform))?.isOwner?.(agentId, String(senderId), String(peer))) ?? false);
        return {
          platform: String(platform),
          peer: String(peer),
          name: String(name),
          isGroup,
          isOwner,
          lastMessageAt: Number(at),
        };
      }),
    );
  };
}

/** Among the agent's latest 2,000 messages. SQLite takes the other columns from the row with the largest id. */
const CONVERSATIONS_SQL = `SELECT platform, peer, sender_id, sender_name, is_group, received_at AS at, max(id) FROM (
    SELECT id, platform, peer, sender_id, sender_name, is_group, kind, received_at FROM inbox
    WHERE agent_id = ?1 ORDER BY id DESC LIMIT 2000)
  WHERE kind <> 'reminder' AND peer IS NOT NULL AND platform IN (SELECT value FROM json_each(?2))
  GROUP BY platform, peer ORDER BY max(id) DESC LIMIT 50`;
