// Keeps the vectors of texts in a table, makes missing ones in the background, and finds those nearest to a question.
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Embedder } from "./embedder.ts";

/** Texts of one call. */
const BATCH = 64;

export interface VectorTable {
  /** With the columns of migrations/0072_vectors.sql. */
  name: "knowledge_vectors" | "memory_vectors";
  /** A query of the columns `seq` and `text`: texts of agent ?1 with numbers after ?2, in their order. */
  texts: string;
}

export interface VectorIndex {
  /** Makes the vectors that texts of an agent lack. */
  fill(agentId: string, userId: string, signal: AbortSignal): Promise<void>;
  /** The numbers of the texts nearest to the question, nearest first. Empty if it can't be embedded now. */
  nearest(question: NearestQuestion, limit: number): Promise<number[]>;
}

export interface NearestQuestion {
  agentId: string;
  /** Pays for the vector of the question. */
  userId: string;
  text: string;
  /** A query of the numbers among which to look: `?6` is `value`. */
  among?: { sql: string; value: string } | undefined;
}

interface Deps extends Pick<Kernel, "database" | "log"> {
  embedder: Embedder;
}

export function createVectorIndex({ database, log, embedder }: Deps, { name, texts }: VectorTable): VectorIndex {
  const { model } = embedder;
  const MISSING = `SELECT t.seq, t.text FROM (${texts}) t
    WHERE NOT EXISTS (SELECT 1 FROM ${name} v WHERE v.seq = t.seq AND v.model = ?3) ORDER BY t.seq LIMIT ${BATCH}`;
  const nearestSql = (among = "") => `SELECT seq FROM ${name} WHERE agent_id = ?1 AND model = ?2 AND dimensions = ?3
    ${among && `AND seq IN (${among})`} ORDER BY vector_distance_cos(embedding, vector8(?4)) LIMIT ?5`;
  const insert = (agentId: string, seq: number, vector: Float32Array<ArrayBuffer>): Statement => ({
    // The text may have been deleted meanwhile.
    sql: `INSERT INTO ${name} (seq, agent_id, model, dimensions, embedding)
      SELECT seq, ?2, ?3, ?4, vector8(?5) FROM ${name === "memory_vectors" ? "memories" : "knowledge_chunks"} WHERE seq = ?1
      ON CONFLICT (seq) DO UPDATE SET model = excluded.model, dimensions = excluded.dimensions, embedding = excluded.embedding`,
    args: [seq, agentId, model, vector.length, new Uint8Array(vector.buffer)],
  });

  return {
    async fill(agentId, userId, signal) {
      for (let after = 0; ; ) {
        signal.throwIfAborted();
        const { rows } = await database.readLong(MISSING, [agentId, after, model]);
        if (rows.length === 0) return;
        const vectors = await embedder.embed(
          rows.map(({ text }) => String(text)),
          userId,
          signal,
        );
        const statements = rows.flatMap(({ seq }, n) => {
          const vector = vectors[n];
          return vector ? [insert(agentId, Number(seq), vector)] : [];
        });
        await database.write(statements);
        after = Number(rows.at(-1)?.seq);
      }
    },

    async nearest({ agentId, userId, text, among }, limit) {
      const known = await database.read(`SELECT 1 FROM ${name} WHERE agent_id = ? AND model = ? LIMIT 1`, [
        agentId,
        model,
      ]);
      if (known.rows.length === 0) return [];
      try {
        const [vector] = await embedder.embed([text], userId);
        if (!vector) return [];
        const args = [agentId, model, vector.length, new Uint8Array(vector.buffer), limit];
        const { rows } = await database.readLong(nearestSql(among?.sql), among ? [...args, among.value] : args);
        return rows.map(({ seq }) => Number(seq));
      } catch (error) {
        // Words alone find much; a search must not fail because a provider is down or a budget is spent.
        log.warn("a question could not be embedded; it is searched by its words", { agentId, error });
        return [];
      }
    },
  };
}
