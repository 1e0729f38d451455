// Keeps the passages of files, and finds those that fit a question best.
import type { Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { fuse } from "../ai/index.ts";
import type { DocumentChunk } from "../documents/index.ts";

/** A passage that was found. */
export interface Passage {
  fileId: string;
  /** The file's name. */
  name: string;
  title: string;
  page: number | null;
  heading: string;
  text: string;
  /** From 0 to 1, best first; comparable within one search only. */
  score: number;
}

/** Rows written or deleted in one batch: about ten milliseconds, on a thread, since the index now and then merges its parts. */
export const STEP = 100;
/** Entries of the index that are looked at: some may be of files that were just deleted. */
const CANDIDATES = 60;
const MAX_QUERY = 4_000;
const MAX_WORDS = 16;
const MIN_PREFIX = 5;

const BY_SEQ = `SELECT c.seq, c.file_id, f.name, f.title, c.page, c.heading, c.text FROM knowledge_chunks c
  JOIN knowledge_files f ON f.id = c.file_id AND f.generation = c.generation
  WHERE c.agent_id = ?1 AND c.seq IN (SELECT value FROM json_each(?2))`;
/** For the index of vectors: what a passage is about is often only in its heading. */
export const PASSAGE_TEXTS = `SELECT c.seq, trim(c.heading || char(10) || c.text) AS text FROM knowledge_chunks c
  JOIN knowledge_files f ON f.id = c.file_id AND f.generation = c.generation WHERE c.agent_id = ?1 AND c.seq > ?2`;

const INSERT = `INSERT INTO knowledge_chunks (agent_id, file_id, generation, position, page, heading, text)
  SELECT ?1, ?2, ?3, value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?4) WHERE true
  ON CONFLICT DO NOTHING`;
/** The best entries come first, and only then their rows. */
const SEARCH = `WITH best AS MATERIALIZED (SELECT rowid AS seq, bm25(knowledge_search, 0, 2, 1) AS rank FROM knowledge_search
    WHERE knowledge_search MATCH ?1 ORDER BY rank LIMIT ${CANDIDATES})
  SELECT c.seq, c.file_id, f.name, f.title, c.page, c.heading, c.text FROM best
  JOIN knowledge_chunks c ON c.seq = best.seq JOIN knowledge_files f ON f.id = c.file_id AND f.generation = c.generation
  WHERE c.agent_id = ?2 ORDER BY best.rank LIMIT ?3`;
/** The index sees a sentence in a script without spaces as one word; a search for a part of the text finds it. */
const CONTAINING = `SELECT c.seq, c.file_id, f.name, f.title, c.page, c.heading, c.text FROM knowledge_files f
  JOIN knowledge_chunks c ON c.agent_id = f.agent_id AND c.file_id = f.id AND c.generation = f.generation
  WHERE f.agent_id = ?1 AND instr(lower(c.text), ?2) > 0 LIMIT ?3`;
const deleteStep = (condition: string) => `DELETE FROM knowledge_chunks WHERE seq IN (SELECT seq FROM knowledge_chunks
  WHERE agent_id = ?1 AND file_id = ?2 AND generation ${condition} ?3 LIMIT ${STEP})`;
const DELETE_BEFORE = deleteStep("<");
const DELETE_AFTER = deleteStep(">");
const DELETE_OF_AGENT = `DELETE FROM knowledge_chunks WHERE seq IN (SELECT seq FROM knowledge_chunks
  WHERE agent_id = ?1 LIMIT ${STEP})`;

export type ChunkStore = ReturnType<typeof createChunkStore>;

export function createChunkStore({ database }: Pick<Kernel, "database">) {
  async function deleteInSteps(sql: string, args: (string | number)[], signal?: AbortSignal): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      const [result] = await database.writeLong([{ sql, args }]);
      if ((result?.rowsAffected ?? 0) < STEP) return;
    }
  }

  return {
    /** Writes passages from `position` on; those that are there already stay, so that a repeated step changes nothing. */
    insertStatement: (
      { agentId, fileId, generation }: { agentId: string; fileId: string; generation: number },
      position: number,
      chunks: readonly DocumentChunk[],
    ): Statement => ({
      sql: INSERT,
      args: [
        ...[agentId, fileId, generation],
        JSON.stringify(chunks.map(({ page, heading, text }, n) => [position + n, page ?? null, heading, text])),
      ],
    }),

    /** The passages that share words with `question`, or are among the nearest ones by meaning; best first. */
    async search(
      agentId: string,
      question: string,
      limit: number,
      nearest: readonly number[] = [],
    ): Promise<Passage[]> {
      const words = wordsOf(question);
      const part = question.slice(0, MAX_QUERY).toLowerCase().trim();
      if (words.length === 0 && part === "") return [];
      const match = `owner:"${agentId.replaceAll("-", "")}" AND {heading text}:(${words.map(termOf).join(" OR ")})`;
      const matching = words.length === 0 ? [] : (await database.readLong(SEARCH, [match, agentId, CANDIDATES])).rows;
      const byWords =
        matching.length > 0 ? matching : (await database.readLong(CONTAINING, [agentId, part, limit])).rows;
      const found = byWords.map(({ seq, heading, text }) => ({ seq: Number(seq), text: `${heading} ${text}` }));
      const ranked = fuse(words, found, nearest).slice(0, limit);
      const others = nearest.length === 0 ? [] : (await database.read(BY_SEQ, [agentId, JSON.stringify(nearest)])).rows;
      const rows = new Map([...byWords, ...others].map((row) => [Number(row.seq), row]));
      return ranked
        .flatMap(({ seq, score }) => {
          const row = rows.get(seq);
          return row ? [{ row, score }] : [];
        })
        .map(({ row, score }) => ({
          fileId: String(row.file_id),
          name: String(row.name),
          title: String(row.title),
          page: row.page === null ? null : Number(row.page),
          heading: String(row.heading),
          text: String(row.text),
          score,
        }));
    },

    /** Deletes passages of earlier generations than this one. */
    deleteBefore: (agentId: string, fileId: string, generation: number, signal?: AbortSignal) =>
      deleteInSteps(DELETE_BEFORE, [agentId, fileId, generation], signal),

    /** Deletes passages of later generations than this one, which were never used; all with -1. */
    deleteAfter: (agentId: string, fileId: string, generation: number, signal?: AbortSignal) =>
      deleteInSteps(DELETE_AFTER, [agentId, fileId, generation], signal),

    deleteOfAgent: (agentId: string) => deleteInSteps(DELETE_OF_AGENT, [agentId]),
  };
}

/** A longer word finds words that begin with it, too, such as plurals; the word itself counts more. */
const termOf = (word: string) => (word.length < MIN_PREFIX ? `"${word}"` : `"${word}" OR "${word}"*`);

/** The longest words of a question, without quotes and operators of the search language. */
export const wordsOf = (question: string): string[] =>
  [
    ...new Set(
      question
        .slice(0, MAX_QUERY)
        .toLowerCase()
        .match(/[\p{L}\p{N}]{2,}/gu) ?? [],
    ),
  ]
    .sort((a, b) => b.length - a.length)
    .slice(0, MAX_WORDS);
