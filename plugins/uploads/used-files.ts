// Lists the files that messages and replies of an agent use, for its export, and adds those of imported messages.
import type { FileKind } from "../../channels/port.ts";
import { guard, type Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { Agent } from "../agents/index.ts";
import { storedType } from "./file-type.ts";
import { cleanName, type UploadedFile } from "./upload-body.ts";
import type { Upload } from "./upload-store.ts";

/** A file that came with a message, or that a turn has sent with its reply. */
export interface UsedFile extends Omit<Upload, "createdAt"> {
  /** The inbox entry: of the message, or that the reply answers. */
  messageId: string;
  /** How it was sent; null for a file that came with the message. */
  kind: FileKind | null;
  caption: string | null;
}

/** More are not listed. */
const MAX_LISTED = 10_000;
const LIST = `SELECT x.message_id, u.id, u.name, u.type, u.size, x.sent_as, x.caption FROM upload_uses x
  JOIN uploads u ON u.agent_id = x.agent_id AND u.id = x.upload_id
  WHERE x.agent_id = ?1 ORDER BY x.message_id DESC, x.position, u.id LIMIT ${MAX_LISTED}`;

interface Deps extends Pick<Kernel, "database"> {
  /** Stores an upload and what is written with it; throws as `UploadService.add`. */
  store(agent: Pick<Agent, "id" | "userId">, upload: Upload, bytes: Uint8Array, more: Statement[]): Promise<void>;
  useStatement(agentId: string, messageId: string, ids: readonly string[]): Statement;
}

export function createUsedFiles({ database, store, useStatement }: Deps) {
  return {
    /** Those of the newest messages first. */
    async list(agentId: string): Promise<UsedFile[]> {
      const { rows } = await database.readLong(LIST, [agentId]);
      return rows.map(({ message_id, id, name, type, size, sent_as, caption }) => ({
        messageId: String(message_id),
        ...{ id: String(id), name: String(name), type: String(type), size: Number(size) },
        kind: sent_as as FileKind | null,
        caption: caption === null ? null : String(caption),
      }));
    },

    /** Adds a file to a message that is stored already. @throws AppError as `UploadService.add` */
    async addToMessage(agent: Pick<Agent, "id" | "userId">, messageId: string, file: UploadedFile): Promise<void> {
      const { name, type, bytes } = file;
      const id = Bun.randomUUIDv7();
      const upload = { id, name: cleanName(name), type: storedType(type, bytes), size: bytes.byteLength };
      await store(agent, { ...upload, createdAt: Date.now() }, bytes, [
        useStatement(agent.id, messageId, [id]),
        guard("uploads.message"),
      ]);
    },
  };
}
