// Keeps the files that turns send with their replies: uploads that the agent makes itself, in their order.
import type { Row } from "@libsql/client";
import type { FileKind } from "../../channels/port.ts";
import { GuardFailed, guard, type Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { bracketNote } from "../../src/kernel/util/text/quoted-text.ts";
import type { Agent } from "../agents/index.ts";
import { storedType } from "./file-type.ts";
import { cleanName, MAX_UPLOAD_BYTES } from "./upload-body.ts";
import type { Upload } from "./upload-store.ts";

/** A file that a turn sends with its reply. */
export interface NewReplyFile {
  /** As its reader sees it; a path is cut off. */
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** The media type. That of a picture is told by its first bytes, whatever is given. */
  type: string;
  /** Left out: by its type. */
  kind?: FileKind | undefined;
  /** What it shows or says: the text below it, and for people who can't see it. */
  caption?: string | undefined;
}

/** A file that was made for the reply. */
export interface MadeReplyFile extends NewReplyFile {
  /** Of the write that stores it, such as the one that pays for it. */
  statements?: readonly Statement[];
  /** Called if it can't be stored. */
  onFailure?(): Promise<unknown>;
}

/** Called only if the file is missing. */
export type ReplyFileMaker = () => Promise<MadeReplyFile>;

export interface ReplyFile {
  /** The upload's id. */
  id: string;
  name: string;
  type: string;
  /** Bytes. */
  size: number;
  kind: FileKind;
  caption: string | null;
}

/** Files of one reply. */
export const MAX_REPLY_FILES = 10;
const MAX_CAPTION = 1_000;

/** Nothing is inserted for an upload that is not there, or beyond the limit. */
const INSERT_USE = `INSERT INTO upload_uses (agent_id, message_id, upload_id, sent_as, caption, position)
  SELECT ?1, ?2, ?3, ?4, ?5, (SELECT count(*) FROM upload_uses WHERE agent_id = ?1 AND message_id = ?2 AND sent_as IS NOT NULL)
  WHERE (SELECT count(*) FROM upload_uses WHERE agent_id = ?1 AND message_id = ?2 AND sent_as IS NOT NULL) < ${MAX_REPLY_FILES}`;
const SELECT = `SELECT m.message_id, u.id, u.name, u.type, u.size, m.sent_as, m.caption FROM upload_uses m
  JOIN uploads u ON u.agent_id = m.agent_id AND u.id = m.upload_id
  WHERE m.agent_id = ?1 AND m.message_id IN (SELECT value FROM json_each(?2)) AND m.sent_as IS NOT NULL
  ORDER BY m.message_id, m.position`;

type AgentKey = Pick<Agent, "id" | "userId">;

interface Deps extends Pick<Kernel, "database"> {
  /** Stores an upload and what is written with it; throws as `UploadService.add`. */
  store(agent: AgentKey, upload: Upload, bytes: Uint8Array, more: Statement[]): Promise<void>;
}

export function createReplyFiles({ database, store }: Deps) {
  async function ofTurns(agentId: string, turnIds: readonly string[]): Promise<Map<string, ReplyFile[]>> {
    if (turnIds.length === 0) return new Map();
    const { rows } = await database.read(SELECT, [agentId, JSON.stringify(turnIds)]);
    const ofTurn = Map.groupBy(rows, ({ message_id }) => String(message_id));
    return new Map([...ofTurn].map(([turnId, found]) => [turnId, found.map(toReplyFile)]));
  }

  async function add(
    agent: AgentKey,
    turnId: string,
    id: string,
    given: NewReplyFile | ReplyFileMaker,
  ): Promise<ReplyFile> {
    const agentId = agent.id;
    const known = (await ofTurns(agentId, [turnId])).get(turnId) ?? [];
    const same = known.find((one) => one.id === id);
    if (same) return same;
    if (known.length >= MAX_REPLY_FILES) throw tooMany();
    const file: MadeReplyFile = typeof given === "function" ? await given() : given;
    try {
      return await addNew(agent, turnId, id, file);
    } catch (error) {
      await file.onFailure?.();
      throw error;
    }
  }

  async function addNew(agent: AgentKey, turnId: string, id: string, file: MadeReplyFile): Promise<ReplyFile> {
    const { name, type, bytes } = file;
    if (bytes.byteLength === 0) throw new AppError(400, "FILE_EMPTY", "The file is empty, so it can't be sent.");
    if (bytes.byteLength > MAX_UPLOAD_BYTES) throw tooLarge();
    const upload = { id, name: cleanName(name), type: storedType(type, bytes, name), size: bytes.byteLength };
    const kind = kindOf(upload.type, file.kind);
    const caption = file.caption?.trim().slice(0, MAX_CAPTION).toWellFormed() || null;
    try {
      await store(agent, { ...upload, createdAt: Date.now() }, bytes, [
        { sql: INSERT_USE, args: [agent.id, turnId, id, kind, caption] },
        guard("reply-files.limit"),
        ...(file.statements ?? []),
      ]);
    } catch (error) {
      if (error instanceof GuardFailed && error.guard === "reply-files.limit") throw tooMany();
      throw error;
    }
    return { ...upload, kind, caption };
  }

  return { add, ofTurns };
}

/** A file is shown as what was asked for only if it is of such a type. */
function kindOf(type: string, wanted: FileKind | undefined): FileKind {
  if (wanted === "document") return wanted;
  if (/^image\/(?:png|jpeg|webp)$/.test(type)) return "picture";
  if (type.startsWith("audio/")) return wanted === "voice" ? wanted : "audio";
  return "document";
}

/** The files in words, one line for each: what a conversation keeps of a reply that has no text. */
export const replyFileNotes = (files: readonly ReplyFile[]): string =>
  files.map(({ name, kind }) => bracketNote(`sent ${kind}`, name)).join("\n");

const tooLarge = () =>
  new AppError(413, "FILE_TOO_LARGE", "The file is larger than 20 MiB, so it can't be sent. Make it smaller.");
const tooMany = () =>
  new AppError(
    409,
    "TOO_MANY_FILES",
    `A reply has at most ${MAX_REPLY_FILES} files. Send the others with the next one.`,
  );

const toReplyFile = ({ id, name, type, size, sent_as, caption }: Row): ReplyFile => ({
  id: String(id),
  name: String(name),
  type: String(type),
  size: Number(size),
  kind: sent_as as FileKind,
  caption: caption === null ? null : String(caption),
});
