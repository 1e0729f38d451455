// Gateway tokens: one of each agent, stored hashed to be recognised, and sealed to be shown to its owner again.
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Row } from "@libsql/client";
import type { Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";

export interface GatewayTokens {
  /** The agent's token, 64 hex digits; made when there is none. */
  getOrCreate(agentId: string): Promise<string>;
  /** A new token in place of the one there may be. */
  rotate(agentId: string): Promise<string>;
  /** Whose token this is, and its hash; undefined for any text that is none. */
  find(token: string): Promise<{ agentId: string; hash: string } | undefined>;
  /** The hashes that are good now, of these agents. */
  currentHashes(agentIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Told, in the process where it happens, of every agent whose token was replaced. */
  onRotated(listener: (agentId: string) => void): void;
}

const TOKEN = /^[0-9a-f]{64}$/;

const hashOf = (token: string) => new Bun.CryptoHasher("sha256").update(token).digest("hex");
const placeOf = (agentId: string) => `agent:${agentId}:gateway-token`;

const INSERT = "INSERT INTO gateway_tokens (agent_id, hash, sealed, created_at) VALUES (?, ?, ?, ?)";
const KEEP_EXISTING = "ON CONFLICT (agent_id) DO NOTHING";
const REPLACE_EXISTING =
  "ON CONFLICT (agent_id) DO UPDATE SET hash = excluded.hash, sealed = excluded.sealed, created_at = excluded.created_at";

type Deps = Pick<Kernel, "database" | "vault" | "keyRotation">;

export function createGatewayTokens({ database, vault, keyRotation }: Deps): GatewayTokens {
  const place = ({ agent_id }: Row) => placeOf(String(agent_id));
  keyRotation.registerColumn({
    label: "gateway tokens",
    table: "gateway_tokens",
    keyColumns: ["agent_id"],
    sealed: "sealed",
    sealContext: place,
  });
  const listeners: ((agentId: string) => void)[] = [];

  function newToken(agentId: string, onConflict: string): { token: string; statement: Statement } {
    const token = randomBytes(32).toString("hex");
    const args = [agentId, hashOf(token), vault.seal(token, placeOf(agentId)), Date.now()];
    return { token, statement: { sql: `${INSERT} ${onConflict}`, args } };
  }

  async function sealedOf(agentId: string): Promise<string | undefined> {
    const { rows } = await database.read("SELECT sealed FROM gateway_tokens WHERE agent_id = ?", [agentId]);
    return rows[0] && String(rows[0].sealed);
  }

  /** Under the present key, so that the previous one can be let go. */
  async function reseal(agentId: string, token: string, previous: string): Promise<void> {
    const sql = "UPDATE gateway_tokens SET sealed = ? WHERE agent_id = ? AND sealed = ?";
    await database.write([{ sql, args: [vault.seal(token, placeOf(agentId)), agentId, previous] }]);
  }

  return {
    async getOrCreate(agentId) {
      let sealed = await sealedOf(agentId);
      if (sealed === undefined) {
        // Of several that ask at once, one makes it, and all are shown that.
        await database.write([newToken(agentId, KEEP_EXISTING).statement]);
        sealed = await sealedOf(agentId);
      }
      if (sealed === undefined) throw new Error("The token went as soon as it was made.");
      const token = vault.open(sealed, placeOf(agentId));
      if (vault.isStale(sealed)) await reseal(agentId, token, sealed);
      return token;
    },

    async rotate(agentId) {
      const { token, statement } = newToken(agentId, REPLACE_EXISTING);
      const after = () => {
        for (const listener of listeners) listener(agentId);
      };
      await database.write([{ ...statement, after }]);
      return token;
    },

    async find(token) {
      if (!TOKEN.test(token)) return undefined;
      const hash = hashOf(token);
      const { rows } = await database.read("SELECT agent_id, hash FROM gateway_tokens WHERE hash = ?", [hash]);
      const [row] = rows;
      // What an index takes to find a hash tells nothing of the token; this tells nothing of the hash either.
      return row && timingSafeEqual(Buffer.from(String(row.hash)), Buffer.from(hash))
        ? { agentId: String(row.agent_id), hash }
        : undefined;
    },

    async currentHashes(agentIds) {
      const sql = "SELECT hash FROM gateway_tokens WHERE agent_id IN (SELECT value FROM json_each(?))";
      const { rows } = await database.read(sql, [JSON.stringify(agentIds)]);
      return new Set(rows.map(({ hash }) => String(hash)));
    },

    onRotated: (listener) => void listeners.push(listener),
  };
}
