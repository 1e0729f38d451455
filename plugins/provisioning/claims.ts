// Claims: what lets one account, once, take an agent that was made without any. Created by migrations/0028_claims.sql.
import { guard, type Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";

export interface Claim {
  holderId: string;
  agentId: string;
}

export interface Claims {
  /** A new one; `insertStatement` is for the batch that makes its agent. */
  issue(holderId: string): { url: string; insertStatement(agentId: string): Statement };
  /** The link of one that is good, as `issue` gave it; undefined where the agent is somebody's. */
  linkOf(agentId: string): Promise<string | undefined>;
  /** Undefined for a token that was used, is too old, or never was one. */
  find(token: string): Promise<Claim | undefined>;
  /** Uses it up; aborts its batch with GuardFailed `claim` when it is not good. */
  useStatements(token: string): Statement[];
  /** Those past their time, the oldest first. */
  listExpired(limit: number): Promise<Claim[]>;
}

/** Contract §6. */
const LIFETIME_MS = 7 * 86_400_000;

const INSERT = "INSERT INTO claims (holder_id, agent_id, token_hash, expires_at) VALUES (?, ?, ?, ?)";
const SELECT_BY_AGENT = "SELECT holder_id, token_hash FROM claims WHERE agent_id = ? AND expires_at > ?";
const REPLACE = "UPDATE claims SET token_hash = ? WHERE agent_id = ?";
const FIND = "SELECT holder_id, agent_id FROM claims WHERE token_hash = ? AND expires_at > ?";
const USE = "DELETE FROM claims WHERE token_hash = ? AND expires_at > ?";
const EXPIRED = "SELECT holder_id, agent_id FROM claims WHERE expires_at <= ? ORDER BY expires_at LIMIT ?";

const hashOf = (token: string) => new Bun.CryptoHasher("sha256").update(token).digest("hex");

/** A link can be told again to whoever shows the bots' tokens, without being kept: it follows from the root key. */
export function createClaims({ database, config, vault }: Pick<Kernel, "database" | "config" | "vault">): Claims {
  const tokenOf = (holderId: string) => vault.sign("claim", holderId);
  const urlOf = (token: string) => `${config.baseUrl}/claim?token=${token}`;
  const read = async (sql: string, args: (string | number)[]) => {
    const { rows } = await database.read(sql, args);
    return rows.map((row) => ({ holderId: String(row.holder_id), agentId: String(row.agent_id) }));
  };
  return {
    issue(holderId) {
      const token = tokenOf(holderId);
      return {
        url: urlOf(token),
        insertStatement: (agentId) => ({
          sql: INSERT,
          args: [holderId, agentId, hashOf(token), Date.now() + LIFETIME_MS],
        }),
      };
    },
    async linkOf(agentId) {
      const { rows } = await database.read(SELECT_BY_AGENT, [agentId, Date.now()]);
      const row = rows[0];
      if (!row) return undefined;
      const token = tokenOf(String(row.holder_id));
      // Made under another root key.
      if (row.token_hash !== hashOf(token)) await database.write([{ sql: REPLACE, args: [hashOf(token), agentId] }]);
      return urlOf(token);
    },
    find: async (token) => (await read(FIND, [hashOf(token), Date.now()]))[0],
    useStatements: (token) => [{ sql: USE, args: [hashOf(token), Date.now()] }, guard("claim")],
    listExpired: (limit) => read(EXPIRED, [Date.now(), limit]),
  };
}
