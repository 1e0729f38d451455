// Claims: what lets one account, once, take an agent that was made without any. Created by migrations/0028_claims.sql.
import { guard, type Statement } from "../../src/database.ts";
import type { Kernel } from "../../src/plugin.ts";

export interface Claim {
  holderId: string;
  agentId: string;
}

export interface Claims {
  /** A new one; `keeping` is for the batch that makes its agent. */
  issue(holderId: string): { url: string; keeping(agentId: string): Statement };
  /** Undefined for a token that was used, is too old, or never was one. */
  find(token: string): Promise<Claim | undefined>;
  /** Uses it up; aborts its batch with GuardFailed `claim` when it is not good. */
  use(token: string): Statement[];
  /** Those past their time, the oldest first. */
  expired(limit: number): Promise<Claim[]>;
}

/** Contract §6. */
const LIFETIME = 7 * 86_400_000;

const INSERT = "INSERT INTO claims (holder_id, agent_id, token_hash, expires_at) VALUES (?, ?, ?, ?)";
const FIND = "SELECT holder_id, agent_id FROM claims WHERE token_hash = ? AND expires_at > ?";
const USE = "DELETE FROM claims WHERE token_hash = ? AND expires_at > ?";
const EXPIRED = "SELECT holder_id, agent_id FROM claims WHERE expires_at <= ? ORDER BY expires_at LIMIT ?";

const hashOf = (token: string) => new Bun.CryptoHasher("sha256").update(token).digest("hex");

export function createClaims({ database, config }: Pick<Kernel, "database" | "config">): Claims {
  const read = async (sql: string, args: (string | number)[]) => {
    const { rows } = await database.read(sql, args);
    return rows.map((row) => ({ holderId: String(row.holder_id), agentId: String(row.agent_id) }));
  };
  return {
    issue(holderId) {
      const token = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
      return {
        url: `${config.baseUrl}/claim?token=${token}`,
        keeping: (agentId) => ({ sql: INSERT, args: [holderId, agentId, hashOf(token), Date.now() + LIFETIME] }),
      };
    },
    find: async (token) => (await read(FIND, [hashOf(token), Date.now()]))[0],
    use: (token) => [{ sql: USE, args: [hashOf(token), Date.now()] }, guard("claim")],
    expired: (limit) => read(EXPIRED, [Date.now(), limit]),
  };
}
