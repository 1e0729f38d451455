// Keeps the rows of uploads, which messages use them, and how much an account may store.
import type { Row } from "@libsql/client";
import { GuardFailed, guard, type Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { agentNotFound } from "../agents/index.ts";

export interface Upload {
  id: string;
  name: string;
  type: string;
  /** Bytes. */
  size: number;
  /** Epoch ms. */
  createdAt: number;
}

const MIB = 1024 * 1024;

/** Rows deleted in one step. */
const STEP = 500;

const COLUMNS = "id, name, type, size, created_at";
const STORED = "SELECT coalesce(sum(u.size), 0) FROM agents a JOIN uploads u ON u.agent_id = a.id WHERE a.user_id = ?1";
const INSERT = `INSERT INTO uploads (id, agent_id, name, type, size, created_at)
  SELECT ?2, id, ?3, ?4, ?5, ?6 FROM agents WHERE id = ?7 AND user_id = ?1 AND (${STORED}) + ?5 <= ?8`;
/** Only where the message was stored, and the upload still exists. */
const USE = `INSERT INTO upload_uses (agent_id, message_id, upload_id) SELECT ?1, ?2, u.id FROM uploads u
  WHERE u.agent_id = ?1 AND u.id IN (SELECT value FROM json_each(?3))
    AND EXISTS (SELECT 1 FROM inbox WHERE agent_id = ?1 AND id = ?2) ON CONFLICT DO NOTHING`;
const OF_MESSAGES = `SELECT m.message_id, ${COLUMNS} FROM upload_uses m JOIN uploads u ON u.agent_id = m.agent_id AND u.id = m.upload_id
  WHERE m.agent_id = ?1 AND m.message_id IN (SELECT value FROM json_each(?2)) AND m.sent_as IS NULL ORDER BY m.message_id, u.id`;
/** A message is gone when its session was deleted: its text is wiped then. A rollback may have brought the session back. */
const USES_OF_GONE = `SELECT x.agent_id, x.message_id FROM upload_uses x WHERE NOT EXISTS
    (SELECT 1 FROM inbox i WHERE i.agent_id = x.agent_id AND i.id = x.message_id AND i.content <> '')
  AND NOT EXISTS (SELECT 1 FROM inbox i JOIN messages m ON m.session_id = i.session_id AND m.inbox_id = i.id
    WHERE i.agent_id = x.agent_id AND i.id = x.message_id) LIMIT ${STEP}`;
const FORGET_USES = `DELETE FROM upload_uses WHERE (agent_id, message_id) IN
  (SELECT value ->> 0, value ->> 1 FROM json_each(?1))`;
const UNUSED = `SELECT agent_id, id FROM uploads u WHERE created_at < ?1 AND NOT EXISTS
  (SELECT 1 FROM upload_uses x WHERE x.agent_id = u.agent_id AND x.upload_id = u.id) LIMIT ${STEP}`;
export const UNUSED_SIZE = `SELECT count(*) AS rows, sum(size) AS bytes, min(created_at) AS oldest FROM uploads u
  WHERE created_at < ?1 AND NOT EXISTS
    (SELECT 1 FROM upload_uses x WHERE x.agent_id = u.agent_id AND x.upload_id = u.id)`;
const DELETE_UNUSED = `DELETE FROM uploads WHERE agent_id = ?1 AND id = ?2 AND NOT EXISTS
  (SELECT 1 FROM upload_uses x WHERE x.agent_id = uploads.agent_id AND x.upload_id = uploads.id)`;

const QUOTA_GUARD = "uploads.quota";

export type UploadStore = ReturnType<typeof createUploadStore>;

export function createUploadStore({ database }: Pick<Kernel, "database">) {
  async function find(agentId: string, id: string): Promise<Upload | undefined> {
    const sql = `SELECT ${COLUMNS} FROM uploads WHERE agent_id = ? AND id = ?`;
    const [row] = (await database.read(sql, [agentId, id])).rows;
    return row && toUpload(row);
  }

  return {
    find,

    /**
     * `quota`: the bytes that the account may store. `more`: statements of the same write.
     * @throws AppError 413 `UPLOAD_QUOTA_EXCEEDED`, 404 `AGENT_NOT_FOUND`
     */
    async add(
      owner: { userId: string; quota: number },
      agentId: string,
      upload: Upload,
      more: readonly Statement[] = [],
    ): Promise<void> {
      const { id, name, type, size, createdAt } = upload;
      const { quota } = owner;
      const args = [owner.userId, id, name, type, size, createdAt, agentId, quota];
      try {
        await database.write([{ sql: INSERT, args }, guard(QUOTA_GUARD), ...more]);
      } catch (error) {
        if (!(error instanceof GuardFailed) || error.guard !== QUOTA_GUARD) throw error;
        const { rows } = await database.read("SELECT 1 FROM agents WHERE id = ? AND user_id = ?", [
          agentId,
          owner.userId,
        ]);
        if (rows.length === 0) throw agentNotFound();
        const text = `Your plan has room for ${quota / MIB} MiB of files, and they are used. Delete files or conversations that you need no more, or choose a larger plan.`;
        throw new AppError(413, "UPLOAD_QUOTA_EXCEEDED", text, { limit: quota });
      }
    },

    /** The uploads with these ids, in their order. @throws AppError 404 `UPLOAD_NOT_FOUND` */
    async findAll(agentId: string, ids: readonly string[]): Promise<Upload[]> {
      const found = await Promise.all(ids.map((id) => find(agentId, id)));
      return found.map((upload) => {
        if (!upload) throw uploadNotFound();
        return upload;
      });
    },

    /** Newest first, with ids before `cursor`. */
    async list(
      agentId: string,
      { limit, cursor = "~" }: { limit: number; cursor?: string | undefined },
    ): Promise<Upload[]> {
      const sql = `SELECT ${COLUMNS} FROM uploads WHERE agent_id = ? AND id < ? ORDER BY id DESC LIMIT ?`;
      return (await database.read(sql, [agentId, cursor, limit])).rows.map(toUpload);
    },

    async ofMessages(agentId: string, messageIds: readonly string[]): Promise<Map<string, Upload[]>> {
      const uploads = new Map<string, Upload[]>();
      if (messageIds.length === 0) return uploads;
      for (const row of (await database.read(OF_MESSAGES, [agentId, JSON.stringify(messageIds)])).rows) {
        const key = String(row.message_id);
        uploads.set(key, [...(uploads.get(key) ?? []), toUpload(row)]);
      }
      return uploads;
    },

    /** For the batch that stores a message, after the statement that inserts it. */
    useStatement: (agentId: string, messageId: string, ids: readonly string[]): Statement => ({
      sql: USE,
      args: [agentId, messageId, JSON.stringify(ids)],
    }),

    /** Whether there was one. Its messages keep their text. */
    async remove(agentId: string, id: string): Promise<boolean> {
      const sql = "DELETE FROM uploads WHERE agent_id = ? AND id = ?";
      const [result] = await database.write([{ sql, args: [agentId, id] }]);
      return result?.rowsAffected === 1;
    },

    async idsOf(agentId: string): Promise<ReadonlySet<string>> {
      const { rows } = await database.read("SELECT id FROM uploads WHERE agent_id = ?", [agentId]);
      return new Set(rows.map(({ id }) => String(id)));
    },

    /** Deletes the rows of files that no message uses; yields them, so that the files can be deleted as well. */
    async *removeUnused(before: number): AsyncGenerator<{ agentId: string; id: string }, void> {
      for (;;) {
        const { rows } = await database.readLong(USES_OF_GONE);
        if (rows.length === 0) break;
        const pairs = rows.map((row) => [row.agent_id, row.message_id]);
        await database.write([{ sql: FORGET_USES, args: [JSON.stringify(pairs)] }]);
      }
      for (;;) {
        const { rows } = await database.readLong(UNUSED, [before]);
        for (const row of rows) {
          const [agentId, id] = [String(row.agent_id), String(row.id)];
          const [result] = await database.write([{ sql: DELETE_UNUSED, args: [agentId, id] }]);
          if (result?.rowsAffected === 1) yield { agentId, id };
        }
        if (rows.length < STEP) return;
      }
    },
  };
}

export const uploadNotFound = () =>
  new AppError(404, "UPLOAD_NOT_FOUND", "There is no such file, or it was deleted. Upload it again.");

const toUpload = ({ id, name, type, size, created_at }: Row): Upload => ({
  id: String(id),
  name: String(name),
  type: String(type),
  size: Number(size),
  createdAt: Number(created_at),
});
