// The rows of streams: one of an agent, its key hashed to be recognised and sealed to be shown to its owner again.
import { randomBytes } from "node:crypto";
import type { Row } from "@libsql/client";
import type { Statement } from "../../src/database.ts";
import type { Kernel } from "../../src/plugin.ts";

/** A row. Times are epoch ms. */
export interface StreamRow {
  readonly id: string;
  readonly agentId: string;
  /** What publishers show: a secret. */
  readonly key: string;
  /** Whether its owner was last told that it is on the air, and since when it is or is not. */
  readonly active: boolean;
  readonly since: number;
}

export interface StreamRows {
  of(agentId: string): Promise<StreamRow | undefined>;
  /** Whose stream this is; any text may be given. */
  agentOf(id: string): Promise<string | undefined>;
  /** Whose key this is; any text may be given. */
  byKey(key: string): Promise<{ id: string; agentId: string } | undefined>;
  /** The stream of an agent that is being made, for the batch that makes it. */
  making(agentId: string): { row: StreamRow; statement: Statement };
  /** The agent's stream, made when it has none; undefined when there is no such agent. */
  make(agentId: string): Promise<StreamRow | undefined>;
  /** Another key in place of the one there is; false when there is no stream. */
  rotate(agentId: string): Promise<boolean>;
  /** Gives the stream's id; undefined when there was none. */
  remove(agentId: string): Promise<string | undefined>;
  /** Notes whether it is on the air, together with what follows from that. */
  put(id: string, active: boolean, also: readonly Statement[]): Promise<void>;
  /** Those noted as on the air. */
  active(): Promise<{ id: string; agentId: string }[]>;
  /** Whether there is any stream at all. */
  some(): Promise<boolean>;
}

const KEY = /^[0-9a-f]{64}$/;
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Nothing else is ever put into a query or a path. */
export const isStreamId = (text: string) => ID.test(text);

const hashOf = (key: string) => new Bun.CryptoHasher("sha256").update(key).digest("hex");
const placeOf = (agentId: string) => `agent:${agentId}:stream-key`;

const INSERT = `INSERT INTO live_streams (agent_id, id, key_hash, key_sealed, active, since, created_at)
  SELECT id, ?2, ?3, ?4, 0, ?5, ?5 FROM agents WHERE id = ?1 ON CONFLICT (agent_id) DO NOTHING`;
const FIND = "SELECT id, key_sealed, active, since FROM live_streams WHERE agent_id = ?";

type Deps = Pick<Kernel, "database" | "vault" | "resealing">;

export function createStreamRows({ database, vault, resealing }: Deps): StreamRows {
  const place = ({ agent_id }: Row) => placeOf(String(agent_id));
  const where = { table: "live_streams", names: ["agent_id"], sealed: "key_sealed" };
  resealing.offer({ what: "stream keys", ...where, placeOf: place });

  /** 256 bits, hashed and sealed. A key of that length needs no slow hash. */
  function made(agentId: string): { key: string; hash: string; sealed: string } {
    const key = randomBytes(32).toString("hex");
    return { key, hash: hashOf(key), sealed: vault.seal(key, placeOf(agentId)) };
  }

  function making(agentId: string): { row: StreamRow; statement: Statement } {
    const { key, hash, sealed } = made(agentId);
    const [id, since] = [Bun.randomUUIDv7(), Date.now()];
    const statement = { sql: INSERT, args: [agentId, id, hash, sealed, since] };
    return { row: { id, agentId, key, active: false, since }, statement };
  }

  async function of(agentId: string): Promise<StreamRow | undefined> {
    const { rows } = await database.read(FIND, [agentId]);
    const [row] = rows;
    if (!row) return undefined;
    const key = vault.open(String(row.key_sealed), placeOf(agentId));
    return { id: String(row.id), agentId, key, active: row.active === 1, since: Number(row.since) };
  }

  const named = (row: Row) => ({ id: String(row.id), agentId: String(row.agent_id) });

  return {
    of,
    making,

    async agentOf(id) {
      if (!isStreamId(id)) return undefined;
      const { rows } = await database.read("SELECT agent_id FROM live_streams WHERE id = ?", [id]);
      return rows[0] && String(rows[0].agent_id);
    },

    async byKey(key) {
      if (!KEY.test(key)) return undefined;
      const { rows } = await database.read("SELECT id, agent_id FROM live_streams WHERE key_hash = ?", [hashOf(key)]);
      return rows[0] && named(rows[0]);
    },

    async make(agentId) {
      const found = await of(agentId);
      if (found) return found;
      // Of several that ask at once, one makes it, and all are given that.
      await database.write([making(agentId).statement]);
      return of(agentId);
    },

    async rotate(agentId) {
      const { hash, sealed } = made(agentId);
      const sql = "UPDATE live_streams SET key_hash = ?, key_sealed = ? WHERE agent_id = ?";
      const [result] = await database.write([{ sql, args: [hash, sealed, agentId] }]);
      return (result?.rowsAffected ?? 0) > 0;
    },

    async remove(agentId) {
      const sql = "DELETE FROM live_streams WHERE agent_id = ? RETURNING id";
      const [result] = await database.write([{ sql, args: [agentId] }]);
      return result?.rows[0] && String(result.rows[0].id);
    },

    async put(id, active, also) {
      const sql = "UPDATE live_streams SET active = ?, since = ? WHERE id = ?";
      await database.write([{ sql, args: [active, Date.now(), id] }, ...also]);
    },

    async active() {
      const { rows } = await database.read("SELECT id, agent_id FROM live_streams WHERE active = 1");
      return rows.map(named);
    },

    async some() {
      const { rows } = await database.read("SELECT 1 FROM live_streams LIMIT 1");
      return rows.length > 0;
    },
  };
}
