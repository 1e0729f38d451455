// Adds, opens and deletes uploads, and makes attachments of messages from them.

import type { Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { bracketNote } from "../../src/kernel/util/text/quoted-text.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { planSettings } from "../auth/settings.ts";
import { createReplyFiles, type NewReplyFile, type ReplyFile, type ReplyFileMaker } from "./reply-files.ts";
import type { UploadedFile } from "./upload-body.ts";
import { createUploadFiles } from "./upload-files.ts";
import { createUploadStore, type Upload, uploadNotFound } from "./upload-store.ts";
import { createUsedFiles, type UsedFile } from "./used-files.ts";

/** An upload as a file of a message, in the form that the inbox stores. */
export interface UploadAttachment {
  kind: "image" | "audio" | "video" | "document";
  /** `upload:` and the upload's id. */
  ref: string;
  mimeType: string;
  /** Bytes. */
  size: number;
  name: string;
}

/** As many as the inbox stores for a message. */
const MAX_ATTACHMENTS = 10;
const PREFIX = "upload:";
const KINDS = ["image", "audio", "video"] as const;
const NOTES: Readonly<Record<UploadAttachment["kind"], string>> = {
  image: "photo",
  audio: "audio",
  video: "video",
  document: "document",
};

export interface UploadService {
  /** @throws AppError 413 `UPLOAD_QUOTA_EXCEEDED`, 500 `UPLOAD_NOT_STORED`, 404 `AGENT_NOT_FOUND` */
  add(agent: Pick<Agent, "id" | "userId">, file: UploadedFile): Promise<Upload>;
  /** @throws AppError 404 `UPLOAD_NOT_FOUND` */
  open(agentId: string, id: string): Promise<{ upload: Upload; file: Blob }>;
  /** @throws AppError 404 `UPLOAD_NOT_FOUND` */
  remove(agentId: string, id: string): Promise<void>;
  /** Newest first, with ids before `cursor`. */
  list(agentId: string, page: { limit: number; cursor?: string | undefined }): Promise<Upload[]>;
  /**
   * The uploads with these ids as files of a message, in their order.
   * @throws AppError 400 `TOO_MANY_ATTACHMENTS`, 404 `UPLOAD_NOT_FOUND`
   */
  attachmentsOf(agentId: string, ids: readonly string[]): Promise<UploadAttachment[]>;
  /** The lines that name these files in a message's text, as the inbox wants them. */
  notesOf(attachments: readonly UploadAttachment[]): string;
  /** The uploads that came with these messages of the agent's user; messages without one are left out. */
  ofMessages(agentId: string, messageIds: readonly string[]): Promise<Map<string, Upload[]>>;
  /** The statements that record the use of uploads, for the batch that stores the message, after it. Often none. */
  useStatements(
    agentId: string,
    messageId: string,
    attachments: readonly { ref: string }[],
  ): ReturnType<ReturnType<typeof createUploadStore>["useStatement"]>[];
  /**
   * Stores a file that the agent sends with the reply of a turn. If there is one with this id already, because the turn is
   * repeated after a crash, that one stays, and is returned.
   * @throws AppError 400 `FILE_EMPTY`, 409 `TOO_MANY_FILES`, 413 `FILE_TOO_LARGE`, and as `add`
   */
  addToReply(
    agent: Pick<Agent, "id" | "userId">,
    turnId: string,
    id: string,
    file: NewReplyFile | ReplyFileMaker,
  ): Promise<ReplyFile>;
  /** The files of the replies of these turns, in their order; turns without one are left out. */
  ofReplies(agentId: string, turnIds: readonly string[]): Promise<Map<string, ReplyFile[]>>;
  /** The files of all messages and replies, those of the newest first. */
  listUsed(agentId: string): Promise<UsedFile[]>;
  /** Adds a file to a message that is stored already. @throws AppError as `add` */
  addToMessage(agent: Pick<Agent, "id" | "userId">, messageId: string, file: UploadedFile): Promise<void>;
  /** The bytes of an upload; undefined when it is gone. */
  read(agentId: string, id: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** The bytes of an upload, at most `limit`; undefined when it is gone, or larger. Ignores other attachments. */
  fetchFile(agentId: string, attachment: { ref: string }, limit: number): Promise<Uint8Array | undefined>;
}

interface Deps extends Pick<Kernel, "database" | "config" | "files"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
}

export function createUploadService({ database, config, files: shared, agents, users }: Deps) {
  const files = createUploadFiles({ dataDir: config.dataDir, files: shared });
  const { table: plans } = config.of(planSettings);
  const store = createUploadStore({ database });

  /** `more`: statements of the write that stores the upload. */
  async function storeFile(
    { id: agentId, userId }: Pick<Agent, "id" | "userId">,
    upload: Upload,
    bytes: Uint8Array,
    more: Statement[] = [],
  ): Promise<void> {
    const quota = plans.ofAccount(await users.byId(userId)).fileBytes;
    await files.write(agentId, upload.id, bytes);
    try {
      await store.add({ userId, quota }, agentId, upload, more);
    } catch (error) {
      await files.remove(agentId, [upload.id]);
      throw error;
    }
  }

  async function read(agentId: string, id: string, limit = Number.POSITIVE_INFINITY) {
    const upload = await store.find(agentId, id);
    if (!upload || upload.size > limit) return undefined;
    return (await files.find(agentId, upload.id))?.bytes();
  }

  const replyFiles = createReplyFiles({ database, store: storeFile });
  const usedFiles = createUsedFiles({ database, store: storeFile, useStatement: store.useStatement });

  const service: UploadService = {
    async add(agent, { name, type, bytes }) {
      const upload: Upload = { id: Bun.randomUUIDv7(), name, type, size: bytes.byteLength, createdAt: Date.now() };
      await storeFile(agent, upload, bytes);
      return upload;
    },
    addToReply: replyFiles.add,
    ofReplies: replyFiles.ofTurns,
    listUsed: usedFiles.list,
    addToMessage: usedFiles.addToMessage,

    async open(agentId, id) {
      const upload = await store.find(agentId, id);
      if (!upload) throw uploadNotFound();
      const file = await files.find(agentId, upload.id);
      if (!file) throw uploadNotFound();
      return { upload, file };
    },

    async remove(agentId, id) {
      if (!(await store.remove(agentId, id))) throw uploadNotFound();
      await files.remove(agentId, [id]);
    },

    list: store.list,
    ofMessages: store.ofMessages,

    async attachmentsOf(agentId, ids) {
      if (ids.length > MAX_ATTACHMENTS) {
        const text = `A message takes ${MAX_ATTACHMENTS} files. Send the others in another message.`;
        throw new AppError(400, "TOO_MANY_ATTACHMENTS", text);
      }
      return (await store.findAll(agentId, ids)).map(({ id, name, type, size }) => ({
        kind: KINDS.find((kind) => type.startsWith(`${kind}/`)) ?? "document",
        ref: `${PREFIX}${id}`,
        mimeType: type,
        size,
        name,
      }));
    },

    notesOf: (attachments) => attachments.map(({ kind, name }) => bracketNote(NOTES[kind], name)).join("\n"),

    useStatements(agentId, messageId, attachments) {
      const ids = attachments.flatMap(({ ref }) => idIn(ref) ?? []);
      return ids.length === 0 ? [] : [store.useStatement(agentId, messageId, ids)];
    },

    read,

    async fetchFile(agentId, { ref }, limit) {
      const id = idIn(ref);
      return id === undefined ? undefined : read(agentId, id, limit);
    },
  };

  return {
    service,
    removeAgent: files.removeAgent,
    /** Deletes what no message uses, and files that a killed process left behind. */
    /** Deletes the uploads of before this time (epoch ms) that no message uses, and files without a row; returns how many rows. */
    async sweep(before: number): Promise<number> {
      let rows = 0;
      for await (const { agentId, id } of store.removeUnused(before)) {
        await files.remove(agentId, [id]);
        rows++;
      }
      const exists = async (agentId: string) => (await agents.find(agentId)) !== undefined;
      await files.removeOrphans({ idsOf: store.idsOf, exists });
      return rows;
    },
  };
}

const idIn = (ref: string) => (ref.startsWith(PREFIX) ? ref.slice(PREFIX.length) : undefined);
