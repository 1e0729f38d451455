// Stores live streams, one row per agent. A key is stored twice: hashed to look it up, and sealed to show it to its owner.
import { randomBytes } from "node:crypto";
import type { Row } from "@libsql/client";
import type { Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";

/** A stream's row, with its key opened. Times are epoch ms. */
export interface StreamRow {
  readonly id: string;
  readonly agentId: string;
  /** The secret by which a publisher is recognized. */
  readonly key: string;
  /** The state in the last `stream.state` event, and when it began. */
  readonly active: boolean;
  readonly since: number;
}

export interface StreamStore {
  findByAgent(agentId: string): Promise<StreamRow | undefined>;
  /** The agent of a stream; `id` may be any text. */
  agentIdOf(id: string): Promise<string | undefined>;
  /** The stream with this key; `key` may be any text. */
  findByKey(key: string): Promise<{ id: string; agentId: string } | undefined>;
  /** The stream of a new agent, to be inserted in the batch that creates the agent. */
  insertStatement(agentId: string): { row: StreamRow; statement: Statement };
  /** The agent's stream, created if it has none; undefined if there is no such agent. */
  findOrCreate(agentId: string): Promise<StreamRow | undefined>;
  /** Replaces the key; false if the agent has no stream. */
  rotateKey(agentId: string): Promise<boolean>;
  /** Returns the stream's id; undefined if the agent had none. */
  remove(agentId: string): Promise<string | undefined>;
  /** Stores whether the stream is on the air, in one batch with `extraStatements`. */
  setActive(id: string, active: boolean, extraStatements: readonly Statement[]): Promise<void>;
  /** The streams stored as on the air. */
  listActive(): Promise<{ id: string; agentId: string }[]>;
  /** Whether any agent has a stream. */
  hasAny(): Promise<boolean>;
}

const KEY_PATTERN = /^[0-9a-f]{64}$/;
const ID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Only texts of this form are put into a query or a path. */
const isStreamId = (text: string) => ID_PATTERN.test(text);

const keyHashOf = (key: string) => new Bun.CryptoHasher("sha256").update(key).digest("hex");
const sealingContextOf = (agentId: string) => `agent:${agentId}:stream-key`;

const INSERT = `INSERT INTO live_streams (agent_id, id, key_hash, key_sealed, active, since, created_at)
  SELECT id, ?2, ?3, ?4, 0, ?5, ?5 FROM agents WHERE id = ?1 ON CONFLICT (agent_id) DO NOTHING`;
const FIND_BY_AGENT = "SELECT id, key_sealed, active, since FROM live_streams WHERE agent_id = ?";

type Deps = Pick<Kernel, "database" | "vault" | "keyRotation" | "marks">;

export function createStreamStore({ database, vault, keyRotation, marks }: Deps): StreamStore {
  keyRotation.registerColumn({
    label: "stream keys",
    table: "live_streams",
    keyColumns: ["agent_id"],
    sealed: "key_sealed",
    sealContext: ({ agent_id }: Row) => sealingContextOf(String(agent_id)),
  });

  /** 256 random bits, hashed and sealed. A random key of that length needs no slow hash. */
  function newKey(agentId: string): { key: string; hash: string; sealed: string } {
    const key = randomBytes(32).toString("hex");
    return { key, hash: keyHashOf(key), sealed: vault.seal(key, sealingContextOf(agentId)) };
  }

  function insertStatement(agentId: string): { row: StreamRow; statement: Statement } {
    const { key, hash, sealed } = newKey(agentId);
    const [id, since] = [marks.newId(), Date.now()];
    const statement = { sql: INSERT, args: [agentId, id, hash, sealed, since] };
    return { row: { id, agentId, key, active: false, since }, statement };
  }

  async function findByAgent(agentId: string): Promise<StreamRow | undefined> {
    const { rows } = await database.read(FIND_BY_AGENT, [agentId]);
    const [row] = rows;
    if (!row) return undefined;
    const key = vault.open(String(row.key_sealed), sealingContextOf(agentId));
    return { id: String(row.id), agentId, key, active: row.active === 1, since: Number(row.since) };
  }

  const toIds = (row: Row) => ({ id: String(row.id), agentId: String(row.agent_id) });

  return {
    findByAgent,
    insertStatement,

    async agentIdOf(id) {
      if (!isStreamId(id)) return undefined;
      const { rows } = await database.read("SELECT agent_id FROM live_streams WHERE id = ?", [id]);
      return rows[0] && String(rows[0].agent_id);
    },

    async findByKey(key) {
      if (!KEY_PATTERN.test(key)) return undefined;
      const { rows } = await database.read("SELECT id, agent_id FROM live_streams WHERE key_hash = ?", [
        keyHashOf(key),
      ]);
      return rows[0] && toIds(rows[0]);
    },

    async findOrCreate(agentId) {
      const found = await findByAgent(agentId);
      if (found) return found;
      // Of concurrent inserts one succeeds (ON CONFLICT DO NOTHING), and all callers read that row.
      await database.write([insertStatement(agentId).statement]);
      return findByAgent(agentId);
    },

    async rotateKey(agentId) {
      const { hash, sealed } = newKey(agentId);
      const sql = "UPDATE live_streams SET key_hash = ?, key_sealed = ? WHERE agent_id = ?";
      const [result] = await database.write([{ sql, args: [hash, sealed, agentId] }]);
      return (result?.rowsAffected ?? 0) > 0;
    },

    async remove(agentId) {
      const sql = "DELETE FROM live_streams WHERE agent_id = ? RETURNING id";
      const [result] = await database.write([{ sql, args: [agentId] }]);
      return result?.rows[0] && String(result.rows[0].id);
    },

    async setActive(id, active, extraStatements) {
      const sql = "UPDATE live_streams SET active = ?, since = ? WHERE id = ?";
      await database.write([{ sql, args: [active, Date.now(), id] }, ...extraStatements]);
    },

    async listActive() {
      const { rows } = await database.read("SELECT id, agent_id FROM live_streams WHERE active = 1");
      return rows.map(toIds);
    },

    async hasAny() {
      const { rows } = await database.read("SELECT 1 FROM live_streams LIMIT 1");
      return rows.length > 0;
    },
  };
}
