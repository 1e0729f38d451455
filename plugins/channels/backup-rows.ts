// The backup rows of an agent's connections and approved pairings. A restore leaves existing connections as they are.
import type { ChannelId } from "../../channels/port.ts";
import { channelDefinition } from "../../channels/registry.ts";
import type { Statement } from "../../src/kernel/database/database.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { VaultError } from "../../src/kernel/security/vault.ts";
import type { agents as agentsPlugin, BackupTableRows, BackupTables } from "../agents/index.ts";
import type { Pairings } from "./access/pairings.ts";
import { type ConnectionStore, digestToken } from "./connections/connection-store.ts";
import type { OpenConnections } from "./connections/open-connections.ts";

export type ChannelBackupTable = "connections" | "pairings";

interface ConnectionRow {
  channel: ChannelId;
  bot: string;
  username: string;
}

export interface ChannelBackupRows {
  readonly tables: BackupTables<ChannelBackupTable>;
  /**
   * Restores missing connections, except of bots that serve another agent by now, and the approved pairings. `tokens` names
   * the channels whose token must be restored in the same batch.
   */
  restore(
    agentId: string,
    rows: BackupTableRows<ChannelBackupTable>,
  ): Promise<{ statements: Statement[]; tokens: ChannelId[] }>;
  /** Repairs what it can and returns all findings as sentences, also those that only the owner can repair. */
  repair(agentId: string): Promise<string[]>;
}

interface Deps extends Pick<Kernel, "database"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "credentials" | "log">;
  connections: Pick<ConnectionStore, "list">;
  openConnections: Pick<OpenConnections, "drop">;
  pairings: Pick<Pairings, "clearCache">;
}

export function createBackupRows({
  database,
  agents,
  connections,
  openConnections,
  pairings,
}: Deps): ChannelBackupRows {
  async function tokenOf(agentId: string, channel: ChannelId): Promise<string | undefined> {
    try {
      return await agents.credentials.open(agentId, channel);
    } catch (error) {
      if (error instanceof VaultError) return undefined;
      throw error;
    }
  }

  return {
    tables: {
      connections: `SELECT json_group_array(json_object('channel', channel, 'bot', bot_id, 'username', bot_username,
          'detail', detail, 'digest', token_digest, 'owner', owner_id, 'callback', callback_id, 'secret', callback_secret, 'at', created_at))
        FROM channel_connections WHERE agent_id = ?1`,
      pairings: `SELECT json_group_array(json_object('channel', channel, 'sender', sender_id, 'name', sender_name,
          'peer', peer, 'approved', approved_at, 'at', created_at))
        FROM pairings WHERE agent_id = ?1 AND approved_at IS NOT NULL`,
    },

    async restore(agentId, rows) {
      // These are Berth's own rows, as the query returned them.
      const savedConnections = JSON.parse(rows.connections) as ConnectionRow[];
      const connectedChannels = new Set((await connections.list(agentId)).map(({ channel }) => channel));
      const { rows: taken } = await database.read(TAKEN, [agentId, rows.connections]);
      const takenElsewhere = new Set(taken.map(({ channel }) => String(channel)));
      const tokens: ChannelId[] = [];
      for (const { channel, username } of savedConnections) {
        if (connectedChannels.has(channel)) continue;
        if (!takenElsewhere.has(channel)) tokens.push(channel);
        else agents.log(agentId, "warning", `@${username} serves another agent by now and stays there`, "channels");
      }
      const after = () => {
        pairings.clearCache(agentId);
        for (const channel of tokens) openConnections.drop(agentId, channel);
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

    async repair(agentId) {
      const findings: string[] = [];
      for (const { channel, botUsername, tokenDigest } of await connections.list(agentId)) {
        const token = await tokenOf(agentId, channel);
        if (token !== undefined && digestToken(token) === tokenDigest) continue;
        findings.push(
          `${channelDefinition(channel).label}: the token of @${botUsername} is not here: connect it again`,
        );
      }
      const [expired] = await database.write([{ sql: EXPIRED, args: [agentId, Date.now()] }]);
      const codes = expired?.rowsAffected ?? 0;
      if (codes > 0) findings.push(`${codes} pairing ${codes === 1 ? "code" : "codes"} past their time: removed`);
      return findings;
    },
  };
}

const TAKEN = `SELECT value ->> 'channel' AS channel FROM json_each(?2) WHERE EXISTS (SELECT 1 FROM channel_connections
  WHERE channel = value ->> 'channel' AND bot_id = value ->> 'bot' AND agent_id <> ?1)`;
/** ?3: the channels to restore. Their callbacks are registered with no platform. */
const CONNECT = `INSERT INTO channel_connections
  (agent_id, channel, bot_id, bot_username, detail, token_digest, owner_id, callback_id, callback_secret, created_at)
  SELECT ?1, value ->> 'channel', value ->> 'bot', value ->> 'username', value ->> 'detail', value ->> 'digest', value ->> 'owner',
    value ->> 'callback', value ->> 'secret', value ->> 'at' FROM json_each(?2)
  WHERE value ->> 'channel' IN (SELECT value FROM json_each(?3)) ON CONFLICT DO NOTHING`;
/** Pairings belong to a bot, so they are restored only if the channel still has the same one. ?3: connections. */
const SAME_BOT = `SELECT channel FROM channel_connections WHERE agent_id = ?1
  AND (channel, bot_id) IN (SELECT value ->> 'channel', value ->> 'bot' FROM json_each(?3))`;
const UNPAIR = `DELETE FROM pairings WHERE agent_id = ?1 AND approved_at IS NOT NULL AND channel IN (${SAME_BOT})
  AND (channel, sender_id) NOT IN (SELECT value ->> 'channel', value ->> 'sender' FROM json_each(?2))`;
const PAIR = `INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, approved_at, created_at)
  SELECT ?1, value ->> 'channel', value ->> 'sender', value ->> 'name', value ->> 'peer', value ->> 'approved', value ->> 'at'
  FROM json_each(?2) WHERE value ->> 'channel' IN (${SAME_BOT})
  ON CONFLICT (agent_id, channel, sender_id) DO UPDATE SET approved_at = excluded.approved_at, code = NULL, expires_at = NULL`;
const EXPIRED = "DELETE FROM pairings WHERE agent_id = ?1 AND approved_at IS NULL AND expires_at <= ?2";
