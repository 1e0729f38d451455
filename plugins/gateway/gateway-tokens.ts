// Stores one gateway token for each agent: its hash, by which it is found, and its sealed text, which its owner can see again.
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Row } from "@libsql/client";
import type { Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { agentNotFound } from "../agents/index.ts";

export interface GatewayTokens {
  /** The agent's token, 64 hex digits; created when there is none. 404 `AGENT_NOT_FOUND` if the agent is deleted meanwhile. */
  getOrCreate(agentId: string): Promise<string>;
  /** Replaces the agent's token, if there is one, by a new one. */
  rotate(agentId: string): Promise<string>;
  /** The agent of this token, and the token's hash; undefined for any other text. */
  find(token: string): Promise<{ agentId: string; hash: string } | undefined>;
  /** The hashes of these agents' present tokens. */
  currentHashes(agentIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Calls the listener with each agent whose token this process has replaced. */
  onRotated(listener: (agentId: string) => void): void;
}

const TOKEN = /^[0-9a-f]{64}$/;

const hashOf = (token: string) => new Bun.CryptoHasher("sha256").update(token).digest("hex");
const sealContextOf = (agentId: string) => `agent:${agentId}:gateway-token`;

const INSERT = "INSERT INTO gateway_tokens (agent_id, hash, sealed, created_at) VALUES (?, ?, ?, ?)";
const KEEP_EXISTING = "ON CONFLICT (agent_id) DO NOTHING";
const REPLACE_EXISTING =
  "ON CONFLICT (agent_id) DO UPDATE SET hash = excluded.hash, sealed = excluded.sealed, created_at = excluded.created_at";

type Deps = Pick<Kernel, "database" | "vault" | "keyRotation">;

export function createGatewayTokens({ database, vault, keyRotation }: Deps): GatewayTokens {
  keyRotation.registerColumn({
    label: "gateway tokens",
    table: "gateway_tokens",
    keyColumns: ["agent_id"],
    sealed: "sealed",
    sealContext: ({ agent_id }: Row) => sealContextOf(String(agent_id)),
  });
  const listeners: ((agentId: string) => void)[] = [];

  function newToken(agentId: string, onConflict: string): { token: string; statement: Statement } {
    const token = randomBytes(32).toString("hex");
    const args = [agentId, hashOf(token), vault.seal(token, sealContextOf(agentId)), Date.now()];
    return { token, statement: { sql: `${INSERT} ${onConflict}`, args } };
  }

  async function sealedOf(agentId: string): Promise<string | undefined> {
    const { rows } = await database.read("SELECT sealed FROM gateway_tokens WHERE agent_id = ?", [agentId]);
    return rows[0] && String(rows[0].sealed);
  }

  /** Reseals the token under the present root key, so that the previous key can be removed. */
  async function reseal(agentId: string, token: string, previous: string): Promise<void> {
    const sql = "UPDATE gateway_tokens SET sealed = ? WHERE agent_id = ? AND sealed = ?";
    await database.write([{ sql, args: [vault.seal(token, sealContextOf(agentId)), agentId, previous] }]);
  }

  return {
    async getOrCreate(agentId) {
      let sealed = await sealedOf(agentId);
      if (sealed === undefined) {
        // Of several concurrent calls, one stores its token and all return that one.
        await database.write([newToken(agentId, KEEP_EXISTING).statement]);
        sealed = await sealedOf(agentId);
      }
      if (sealed === undefined) throw agentNotFound();
      const token = vault.open(sealed, sealContextOf(agentId));
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
      // The timing of the index look-up reveals at most the hash, not the token; this comparison does not reveal the hash.
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
