// Backup rows of files: what they are, and their passages. The files themselves are not kept once they are read.
import { t } from "elysia";
import type { Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { BackupTableRows, BackupTables } from "../agents/index.ts";
import type { Indexing } from "./indexing.ts";

export type KnowledgeBackupTable = "files";

const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);
const passage = t.Object({
  page: nullable(t.Integer({ minimum: 1 })),
  heading: t.String({ maxLength: 200 }),
  text: t.String({ minLength: 1, maxLength: 2_000 }),
});

/** The most passages that an imported agent may bring; the plan of its owner decides about further files. */
export const MAX_IMPORTED_PASSAGES = 20_000;

/** A file in an exported agent: the backup row, without what is of this service only. */
export const exportedFile = t.Object({
  name: t.String({ minLength: 1, maxLength: 200 }),
  type: t.String({ maxLength: 200 }),
  size: t.Integer({ minimum: 0 }),
  url: nullable(t.String({ maxLength: 2_000 })),
  refresh: nullable(t.Union([t.Literal("hour"), t.Literal("day"), t.Literal("week")])),
  title: t.String({ maxLength: 300 }),
  published: nullable(t.String({ maxLength: 100 })),
  cut: t.Union([t.Literal(0), t.Literal(1)]),
  origin: t.Union([t.Literal("owner"), t.Literal("agent")]),
  at: t.Integer({ description: "Epoch ms" }),
  passages: t.Array(passage, { maxItems: MAX_IMPORTED_PASSAGES }),
});

export interface KnowledgeBackupRows {
  readonly tables: BackupTables<KnowledgeBackupTable>;
  /** Sets the files as they were. Those that have not changed since the backup keep their passages. */
  restoreStatements(agentId: string, rows: BackupTableRows<KnowledgeBackupTable>): Statement[];
}

interface Deps extends Pick<Kernel, "jobs"> {
  indexing: Pick<Indexing, "indexStatement" | "sweepStatement">;
  onChanged(agentId: string): void;
}

interface FileRow {
  id: string;
  url: string | null;
  refresh: string | null;
}

export function createBackupRows({ indexing, onChanged }: Deps): KnowledgeBackupRows {
  return {
    tables: {
      // A file that is being read for the first time has no passages yet: an address is read again after the restore.
      files: `SELECT json_group_array(json_object('id', f.id, 'name', f.name, 'type', f.type, 'size', f.size, 'url', f.url,
          'refresh', f.refresh, 'title', f.title, 'published', f.published, 'cut', f.is_cut, 'origin', f.origin,
          'digest', f.digest, 'etag', f.etag, 'error', f.error, 'code', f.error_code, 'status', f.status, 'generation', f.generation,
          'read', f.read_at, 'at', f.created_at, 'passages', json((SELECT json_group_array(
            json_object('page', c.page, 'heading', c.heading, 'text', c.text)) FROM (SELECT * FROM knowledge_chunks
              WHERE agent_id = f.agent_id AND file_id = f.id AND generation = f.generation ORDER BY position) c))))
        FROM (SELECT * FROM knowledge_files WHERE agent_id = ?1 ORDER BY id) f`,
    },

    restoreStatements(agentId, { files }) {
      // The query above defines the type.
      const rows = JSON.parse(files) as FileRow[];
      return [
        { sql: DELETE_FILES, args: [agentId, files], after: () => onChanged(agentId) },
        { sql: DELETE_CHUNKS, args: [agentId] },
        { sql: RESTORE_CHUNKS, args: [agentId, files] },
        { sql: RESTORE_FILES, args: [agentId, files] },
        ...rows.flatMap(({ id, url, refresh }) =>
          url !== null && refresh !== null ? [indexing.indexStatement({ agentId, id })] : [],
        ),
      ];
    },
  };
}

/** A file with the same id and generation has the same passages. */
const DELETE_FILES = `DELETE FROM knowledge_files WHERE agent_id = ?1 AND (id, generation) NOT IN
  (SELECT value ->> 'id', value ->> 'generation' FROM json_each(?2))`;
const DELETE_CHUNKS = `DELETE FROM knowledge_chunks WHERE agent_id = ?1
  AND file_id NOT IN (SELECT id FROM knowledge_files WHERE agent_id = ?1)`;
const IS_MISSING = `NOT EXISTS (SELECT 1 FROM knowledge_files k WHERE k.id = f.value ->> 'id')`;
const RESTORE_CHUNKS = `INSERT INTO knowledge_chunks (agent_id, file_id, generation, position, page, heading, text)
  SELECT ?1, f.value ->> 'id', f.value ->> 'generation', p.key, p.value ->> 'page', p.value ->> 'heading', p.value ->> 'text'
  FROM json_each(?2) f, json_each(f.value, '$.passages') p WHERE ${IS_MISSING} ON CONFLICT DO NOTHING`;
/** What was sent and not read yet can't be read any more; its bytes are in no backup. */
const LOST = "This file was not read yet when the backup was made. Send it again.";
const RESTORE_FILES = `INSERT INTO knowledge_files (id, agent_id, name, type, size, url, refresh, etag, digest, status, chunks,
    generation, title, published, is_cut, error_code, error, origin, created_at, read_at)
  SELECT value ->> 'id', ?1, value ->> 'name', value ->> 'type', value ->> 'size', value ->> 'url', value ->> 'refresh',
    value ->> 'etag', value ->> 'digest', CASE WHEN value ->> 'status' IN ('queued', 'indexing') THEN
      iif(value ->> 'generation' > 0, 'ready', 'failed') ELSE value ->> 'status' END,
    json_array_length(value, '$.passages'), value ->> 'generation', value ->> 'title', value ->> 'published', value ->> 'cut',
    CASE WHEN value ->> 'status' IN ('queued', 'indexing') AND value ->> 'generation' = 0 THEN 'FILE_GONE' ELSE value ->> 'code' END,
    CASE WHEN value ->> 'status' IN ('queued', 'indexing') AND value ->> 'generation' = 0 THEN '${LOST}' ELSE value ->> 'error' END,
    value ->> 'origin', value ->> 'at', value ->> 'read'
  FROM json_each(?2) f WHERE ${IS_MISSING}`;
