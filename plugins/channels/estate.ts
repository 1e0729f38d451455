// Which bots an agent answers as and who may talk to them, as rows for its backup. What is connected now stays as it is.
import type { ChannelId } from "../../channels/channel.ts";
import type { Statement } from "../../src/database.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import { VaultError } from "../../src/vault.ts";
import type { agents as agentsPlugin, Parts, Rows } from "../agents/index.ts";
import { type Connections, digestOf } from "./connections.ts";
import type { Lines } from "./lines.ts";
import type { Pairings } from "./pairings.ts";

export type ChannelPart = "connections" | "pairings";

interface ConnectionRow {
  channel: ChannelId;
  bot: string;
  username: string;
}

export interface ChannelEstate {
  readonly parts: Parts<ChannelPart>;
  /**
   * Connects what is not connected now as it was, but for bots that serve another agent by now, and puts back who was
   * let in. `tokens` names the channels whose token has to come back in the same batch.
   */
  restore(agentId: string, rows: Rows<ChannelPart>): Promise<{ statements: Statement[]; tokens: ChannelId[] }>;
  /** Mends what it finds, and says it in words; what only the owner can mend is said too. */
  mend(agentId: string): Promise<string[]>;
}

interface Deps extends Pick<Kernel, "database"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "credentials" | "log">;
  connections: Pick<Connections, "of">;
  lines: Pick<Lines, "drop">;
  pairings: Pick<Pairings, "forget">;
}

export function createEstate({ database, agents, connections, lines, pairings }: Deps): ChannelEstate {
  async function tokenOf(agentId: string, channel: ChannelId): Promise<string | undefined> {
    try {
      return await agents.credentials.open(agentId, channel);
    } catch (error) {
      if (error instanceof VaultError) return undefined;
      throw error;
    }
  }

  return {
    parts: {
      connections: `SELECT json_group_array(json_object('channel', channel, 'bot', bot_id, 'username', bot_username,
          'detail', detail, 'digest', token_digest, 'owner', owner_id, 'callback', callback_id, 'secret', callback_secret, 'at', created_at))
        FROM channel_connections WHERE agent_id = ?1`,
      pairings: `SELECT json_group_array(json_object('channel', channel, 'sender', sender_id, 'name', sender_name,
          'peer', peer, 'approved', approved_at, 'at', created_at))
        FROM pairings WHERE agent_id = ?1 AND approved_at IS NOT NULL`,
    },

    async restore(agentId, rows) {
      // Our own rows, as the query gave them.
      const were = JSON.parse(rows.connections) as ConnectionRow[];
      const now = new Set((await connections.of(agentId)).map(({ channel }) => channel));
      const { rows: taken } = await database.read(TAKEN, [agentId, rows.connections]);
      const elsewhere = new Set(taken.map(({ channel }) => String(channel)));
      const tokens: ChannelId[] = [];
      for (const { channel, username } of were) {
        if (now.has(channel)) continue;
        if (!elsewhere.has(channel)) tokens.push(channel);
        else agents.log(agentId, "warning", `@${username} serves another agent by now and stays there`, "channels");
      }
      const after = () => {
        pairings.forget(agentId);
        for (const channel of tokens) lines.drop(agentId, channel);
      };
      return {
        tokens,
        statements: [
          { sql: CONNECT, args: [agentId, rows.connections, JSON.stringify(tokens)] },
          { sql: UNPAIR, args: [agentId, rows.pairings, rows.connections] },
          { sql: PAIR, args: [agentId, rows.pairings, rows.connections], after },
        ],
      };
    },

    async mend(agentId) {
      const found: string[] = [];
      for (const { channel, botUsername, tokenDigest } of await connections.of(agentId)) {
        const token = await tokenOf(agentId, channel);
        if (token !== undefined && digestOf(token) === tokenDigest) continue;
        found.push(`${channel}: the token of @${botUsername} is not here: connect it again`);
      }
      const [expired] = await database.write([{ sql: EXPIRED, args: [agentId, Date.now()] }]);
      const codes = expired?.rowsAffected ?? 0;
      if (codes > 0) found.push(`${codes} pairing ${codes === 1 ? "code" : "codes"} past their time: removed`);
      return found;
    },
  };
}

const TAKEN = `SELECT value ->> 'channel' AS channel FROM json_each(?2) WHERE EXISTS (SELECT 1 FROM channel_connections
  WHERE channel = value ->> 'channel' AND bot_id = value ->> 'bot' AND agent_id <> ?1)`;
/** ?3: which of them. No platform has been told of the callback since. */
const CONNECT = `INSERT INTO channel_connections
  (agent_id, channel, bot_id, bot_username, detail, token_digest, owner_id, callback_id, callback_secret, created_at)
  SELECT ?1, value ->> 'channel', value ->> 'bot', value ->> 'username', value ->> 'detail', value ->> 'digest', value ->> 'owner',
    value ->> 'callback', value ->> 'secret', value ->> 'at' FROM json_each(?2)
  WHERE value ->> 'channel' IN (SELECT value FROM json_each(?3)) ON CONFLICT DO NOTHING`;
/** People know a bot: another one that is there now has its own. ?3: connections. */
const SAME_BOT = `SELECT channel FROM channel_connections WHERE agent_id = ?1
  AND (channel, bot_id) IN (SELECT value ->> 'channel', value ->> 'bot' FROM json_each(?3))`;
const UNPAIR = `DELETE FROM pairings WHERE agent_id = ?1 AND approved_at IS NOT NULL AND channel IN (${SAME_BOT})
  AND (channel, sender_id) NOT IN (SELECT value ->> 'channel', value ->> 'sender' FROM json_each(?2))`;
const PAIR = `INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, approved_at, created_at)
  SELECT ?1, value ->> 'channel', value ->> 'sender', value ->> 'name', value ->> 'peer', value ->> 'approved', value ->> 'at'
  FROM json_each(?2) WHERE value ->> 'channel' IN (${SAME_BOT})
  ON CONFLICT (agent_id, channel, sender_id) DO UPDATE SET approved_at = excluded.approved_at, code = NULL, expires_at = NULL`;
const EXPIRED = "DELETE FROM pairings WHERE agent_id = ?1 AND approved_at IS NULL AND expires_at <= ?2";
