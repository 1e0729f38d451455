// Lists the files that messages and replies of an agent use, for its export, and adds those of imported messages.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Row } from "@libsql/client";
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

const PAGE = 1_000;
/** ?2 the message with which the page before has ended, or anything after all messages. */
const LIST = `SELECT x.message_id, u.id, u.name, u.type, u.size, x.sent_as, x.caption FROM upload_uses x
  JOIN uploads u ON u.agent_id = x.agent_id AND u.id = x.upload_id
  WHERE x.agent_id = ?1 AND x.message_id < ?2 ORDER BY x.message_id DESC, x.position, u.id LIMIT ${PAGE}`;
const LATEST = "~";

interface Deps extends Pick<Kernel, "database"> {
  /** Stores an upload and what is written with it; throws as `UploadService.add`. */
  store(agent: Pick<Agent, "id" | "userId">, upload: Upload, bytes: Uint8Array, more: Statement[]): Promise<void>;
  useStatement(agentId: string, messageId: string, ids: readonly string[]): Statement;
}

const toUsedFile = ({ message_id, id, name, type, size, sent_as, caption }: Row): UsedFile => ({
  messageId: String(message_id),
  ...{ id: String(id), name: String(name), type: String(type), size: Number(size) },
  kind: sent_as as FileKind | null,
  caption: caption === null ? null : String(caption),
});

export function createUsedFiles({ database, store, useStatement }: Deps) {
  return {
    /** Those of the newest messages first. */
    async list(agentId: string): Promise<UsedFile[]> {
      const found: UsedFile[] = [];
      for (let before = LATEST; ; await yieldToEventLoop()) {
        const { rows } = await database.readLong(LIST, [agentId, before]);
        const page = rows.map(toUsedFile);
        const last = page.at(-1)?.messageId;
        if (rows.length < PAGE || last === undefined) return [...found, ...page];
        // The page may end within the files of a message: that message is read again, as a whole.
        const whole = page.filter(({ messageId }) => messageId !== last);
        found.push(...whole);
        before = whole.at(-1)?.messageId ?? last;
      }
    },

    /** Adds a file to a message that is stored already. @throws AppError as `UploadService.add` */
    async addToMessage(agent: Pick<Agent, "id" | "userId">, messageId: string, file: UploadedFile): Promise<void> {
      const { name, type, bytes } = file;
      const id = Bun.randomUUIDv7();
      const upload = { id, name: cleanName(name), type: storedType(type, bytes, name), size: bytes.byteLength };
      await store(agent, { ...upload, createdAt: Date.now() }, bytes, [
        useStatement(agent.id, messageId, [id]),
        guard("uploads.message"),
      ]);
    },
  };
}
