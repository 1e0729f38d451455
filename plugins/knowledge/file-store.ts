// Keeps the rows of an agent's files: what they are, where they come from, and how far their reading is.
import type { Row } from "@libsql/client";
import { guard, type Statement } from "../../src/kernel/database/database.ts";
import { notFound } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { Quota } from "./quota.ts";

export const REFRESHES = ["hour", "day", "week"] as const;
export type Refresh = (typeof REFRESHES)[number];
export type FileStatus = "queued" | "indexing" | "ready" | "failed";

export interface KnowledgeFile {
  id: string;
  agentId: string;
  name: string;
  type: string;
  /** Bytes. */
  size: number;
  url: string | null;
  refresh: Refresh | null;
  etag: string | null;
  /** SHA-256 of the bytes as they came, base64url; null until an address is read. */
  digest: string | null;
  status: FileStatus;
  /** Passages that can be found. */
  chunks: number;
  /** Passages written so far, and all of them, while it is indexed. */
  written: number;
  expected: number;
  generation: number;
  title: string;
  published: string | null;
  isCut: boolean;
  errorCode: string | null;
  error: string | null;
  origin: "owner" | "agent";
  /** Epoch ms. */
  createdAt: number;
  readAt: number | null;
}

export type NewFile = Pick<
  KnowledgeFile,
  "id" | "agentId" | "name" | "type" | "size" | "url" | "refresh" | "origin" | "digest"
>;

const OF_AGENT = "FROM knowledge_files WHERE agent_id = ?2";
const INSERT = `INSERT INTO knowledge_files (id, agent_id, name, type, size, url, refresh, origin, status, created_at, digest)
  SELECT ?1, id, ?3, ?4, ?5, ?6, ?7, ?8, 'queued', ?9, ?12 FROM agents
  WHERE id = ?2 AND (SELECT count(*) ${OF_AGENT}) < ?10 AND (SELECT coalesce(sum(size), 0) ${OF_AGENT}) + ?5 <= ?11`;
const SUMS = `SELECT count(*) AS files, coalesce(sum(size), 0) AS bytes, coalesce(sum(chunks), 0) AS chunks
  FROM knowledge_files WHERE agent_id = ?1`;

export type FileStore = ReturnType<typeof createFileStore>;

export function createFileStore({ database }: Pick<Kernel, "database">) {
  async function find(agentId: string, id: string): Promise<KnowledgeFile | undefined> {
    const [row] = (await database.read("SELECT * FROM knowledge_files WHERE agent_id = ? AND id = ?", [agentId, id]))
      .rows;
    return row && toFile(row);
  }

  return {
    find,
    /** @throws AppError 404 `FILE_NOT_FOUND` */
    async require(agentId: string, id: string): Promise<KnowledgeFile> {
      const file = await find(agentId, id);
      if (!file) throw fileNotFound();
      return file;
    },

    /** Newest first. */
    async list(agentId: string, { limit, offset }: { limit: number; offset: number }): Promise<KnowledgeFile[]> {
      const sql = "SELECT * FROM knowledge_files WHERE agent_id = ? ORDER BY id DESC LIMIT ? OFFSET ?";
      return (await database.read(sql, [agentId, limit, offset])).rows.map(toFile);
    },

    async hasFiles(agentId: string): Promise<boolean> {
      const sql = "SELECT 1 FROM knowledge_files WHERE agent_id = ? LIMIT 1";
      return (await database.read(sql, [agentId])).rows.length > 0;
    },

    async agentsWithFiles(): Promise<string[]> {
      const { rows } = await database.readLong("SELECT DISTINCT agent_id FROM knowledge_files WHERE chunks > 0");
      return rows.map(({ agent_id: id }) => String(id));
    },

    async sums(agentId: string): Promise<Quota> {
      const [row] = (await database.read(SUMS, [agentId])).rows;
      return { files: Number(row?.files), bytes: Number(row?.bytes), chunks: Number(row?.chunks) };
    },

    /** Guard `file`: the quota is used up, or the agent is gone. */
    insertStatements: (file: NewFile, quota: Quota): Statement[] => [
      {
        sql: INSERT,
        args: [
          ...[file.id, file.agentId, file.name, file.type, file.size, file.url, file.refresh, file.origin],
          ...[Date.now(), quota.files, quota.bytes, file.digest],
        ],
      },
      guard("file"),
    ],

    /** Sets columns of a file that still exists. Guard `file`: it was deleted. */
    updateStatements: (id: string, changes: Partial<Omit<KnowledgeFile, "id" | "agentId">>): Statement[] => {
      const entries = Object.entries(changes).map(([key, value]) => [COLUMNS[key] ?? key, value] as const);
      return [
        {
          sql: `UPDATE knowledge_files SET ${entries.map(([column]) => `${column} = ?`).join(", ")} WHERE id = ?`,
          args: [...entries.map(([, value]) => (typeof value === "boolean" ? Number(value) : (value ?? null))), id],
        },
        guard("file"),
      ];
    },

    /** Guard `file`: there is no such file. */
    removeStatements: (agentId: string, id: string): Statement[] => [
      { sql: "DELETE FROM knowledge_files WHERE agent_id = ? AND id = ?", args: [agentId, id] },
      guard("file"),
    ],

    async idsOf(agentId: string): Promise<ReadonlySet<string>> {
      const { rows } = await database.read("SELECT id FROM knowledge_files WHERE agent_id = ?", [agentId]);
      return new Set(rows.map(({ id }) => String(id)));
    },
  };
}

const COLUMNS: Readonly<Record<string, string>> = { isCut: "is_cut", errorCode: "error_code", readAt: "read_at" };

export const fileNotFound = () => notFound("There is no such file, or it was deleted.", "FILE_NOT_FOUND");

const textOrNull = (value: unknown) => (value === null ? null : String(value));

// The column types of the migration define the types.
export const toFile = (row: Row): KnowledgeFile => ({
  id: String(row.id),
  agentId: String(row.agent_id),
  name: String(row.name),
  type: String(row.type),
  size: Number(row.size),
  url: textOrNull(row.url),
  refresh: row.refresh as Refresh | null,
  etag: textOrNull(row.etag),
  digest: textOrNull(row.digest),
  status: row.status as FileStatus,
  chunks: Number(row.chunks),
  written: Number(row.written),
  expected: Number(row.expected),
  generation: Number(row.generation),
  title: String(row.title),
  published: textOrNull(row.published),
  isCut: row.is_cut === 1,
  errorCode: textOrNull(row.error_code),
  error: textOrNull(row.error),
  origin: row.origin as KnowledgeFile["origin"],
  createdAt: Number(row.created_at),
  readAt: row.read_at === null ? null : Number(row.read_at),
});
