// Stores claims: each lets one account, once, take over an agent that was made without an account.
import { guard, type Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { DAY } from "../../src/kernel/util/time.ts";

export interface Claim {
  holderId: string;
  agentId: string;
}

export interface Claims {
  /** Makes a claim; `insertStatement` is for the batch that creates its agent. */
  issue(holderId: string): { url: string; insertStatement(agentId: string): Statement };
  /** The link of an agent's valid claim, as `issue` gave it; undefined if there is none. */
  linkOf(agentId: string): Promise<string | undefined>;
  /** The claim of a token; undefined if it was used, has expired, or never existed. */
  find(token: string): Promise<Claim | undefined>;
  /** Uses a claim up; fails the batch with GuardFailed `claim` if it is not valid. */
  useStatements(token: string): Statement[];
  /** Expired claims, the oldest first. */
  listExpired(limit: number): Promise<Claim[]>;
}

const LIFETIME_MS = 7 * DAY;

const INSERT = "INSERT INTO claims (holder_id, agent_id, token_hash, expires_at) VALUES (?, ?, ?, ?)";
const SELECT_BY_AGENT = "SELECT holder_id, token_hash FROM claims WHERE agent_id = ? AND expires_at > ?";
const REPLACE = "UPDATE claims SET token_hash = ? WHERE agent_id = ?";
const FIND = "SELECT holder_id, agent_id FROM claims WHERE token_hash = ? AND expires_at > ?";
const USE = "DELETE FROM claims WHERE token_hash = ? AND expires_at > ?";
const EXPIRED = "SELECT holder_id, agent_id FROM claims WHERE expires_at <= ? ORDER BY expires_at LIMIT ?";

const hashOf = (token: string) => new Bun.CryptoHasher("sha256").update(token).digest("hex");

/** Tokens are derived from the root key, so that a link can be shown again without being stored. */
export function createClaims({
  database,
  config,
  vault,
  marks,
}: Pick<Kernel, "database" | "config" | "vault" | "marks">): Claims {
  const tokenOf = (holderId: string) => marks.token(vault.sign("claim", holderId));
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
      // The claim was made under another root key.
      if (row.token_hash !== hashOf(token)) await database.write([{ sql: REPLACE, args: [hashOf(token), agentId] }]);
      return urlOf(token);
    },
    find: async (token) => (await read(FIND, [hashOf(token), Date.now()]))[0],
    useStatements: (token) => [{ sql: USE, args: [hashOf(token), Date.now()] }, guard("claim")],
    listExpired: (limit) => read(EXPIRED, [Date.now(), limit]),
  };
}
