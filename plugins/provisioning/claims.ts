// Stores claims: each lets one account, once, take over an agent that was made without an account.
import { cellOfId, markToken } from "../../src/kernel/cells/marks.ts";
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
  /**
   * Uses a claim up; fails the batch with GuardFailed `claim` if it is not valid, or if its holder or the claimer is on the way to
   * another cell: what is written here then would be lost.
   */
  useStatements(token: string, claimerId: string): Statement[];
  /** Expired claims, the oldest first. */
  listExpired(limit: number): Promise<Claim[]>;
}

/** Asks another cell about a claim, by its token. */
export const CLAIM_QUESTION = "provisioning.claim";

const LIFETIME_MS = 7 * DAY;

const INSERT = "INSERT INTO claims (holder_id, agent_id, token_hash, expires_at) VALUES (?, ?, ?, ?)";
const SELECT_BY_AGENT = "SELECT holder_id, token_hash FROM claims WHERE agent_id = ? AND expires_at > ?";
const REPLACE = "UPDATE claims SET token_hash = ? WHERE agent_id = ?";
const FIND = "SELECT holder_id, agent_id FROM claims WHERE token_hash = ? AND expires_at > ?";
const USE = `DELETE FROM claims WHERE token_hash = ?1 AND expires_at > ?2 AND NOT EXISTS
  (SELECT 1 FROM moving_accounts WHERE account_id IN (claims.holder_id, ?3) AND state <> 'here')`;
const EXPIRED = "SELECT holder_id, agent_id FROM claims WHERE expires_at <= ? ORDER BY expires_at LIMIT ?";

const hashOf = (token: string) => new Bun.CryptoHasher("sha256").update(token).digest("hex");

/** Tokens are derived from the root key, so that a link can be shown again without being stored. */
export function createClaims({ database, config, vault }: Pick<Kernel, "database" | "config" | "vault">): Claims {
  // The mark is that of the cell which made the account, also after it has moved: the link stays the same.
  const tokenOf = (holderId: string) => markToken(vault.sign("claim", holderId), cellOfId(holderId));
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
    useStatements: (token, claimerId) => [{ sql: USE, args: [hashOf(token), Date.now(), claimerId] }, guard("claim")],
    listExpired: (limit) => read(EXPIRED, [Date.now(), limit]),
  };
}
