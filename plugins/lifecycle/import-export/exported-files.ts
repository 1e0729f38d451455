// The files of messages and replies in an exported agent: as many of the newest as fit, and what was left out.
import { type Static, t } from "elysia";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Agent } from "../../agents/index.ts";
import { type MessageRow, noticeIdOf } from "../../runtime/index.ts";
import type { UploadService } from "../../uploads/index.ts";

/** Bytes of all files in one export: an import takes 32 MiB, and text and base64 need room in it. */
export const MAX_EXPORTED_BYTES = 12 * 1024 * 1024;
/** As many characters as an import takes. */
const MAX_DATA = 32 * 1024 * 1024;

export const exportedMessageFile = t.Object({
  name: t.String({ minLength: 1, maxLength: 200 }),
  type: t.String({ maxLength: 200, description: "The media type" }),
  size: t.Integer({ minimum: 0, description: "Bytes" }),
  kind: t.Optional(
    t.Union([t.Literal("picture"), t.Literal("audio"), t.Literal("voice"), t.Literal("document")], {
      description: "How the agent has sent it",
    }),
  ),
  caption: t.Optional(t.String({ maxLength: 1_000 })),
  data: t.Optional(
    t.String({ maxLength: MAX_DATA, description: "Its bytes as base64; left out beyond the limit of an export" }),
  ),
});
export type ExportedMessageFile = Static<typeof exportedMessageFile>;

export const filesLeftOut = t.Object(
  { count: t.Integer({ minimum: 0 }), bytes: t.Integer({ minimum: 0 }) },
  { description: "Files of messages whose bytes are not in this file: older ones, beyond 12 MiB in all" },
);

type Uploads = Pick<UploadService, "listUsed" | "read" | "addToReply" | "addToMessage">;

/** Chooses the files of an export; their bytes are read while it is consumed. */
export async function chooseFiles(uploads: Uploads, agentId: string) {
  const used = await uploads.listUsed(agentId);
  const leftOut = { count: 0, bytes: 0 };
  let room = MAX_EXPORTED_BYTES;
  const chosen = new Set<string>();
  for (const { id, size } of used) {
    if (chosen.has(id) || size > room) continue;
    chosen.add(id);
    room -= size;
  }
  const ofMessage = Map.groupBy(used, ({ messageId, kind }) => keyOf(messageId, kind !== null));

  return {
    /** What was left out of the messages so far. */
    leftOut,
    /** For spreading into an exported message. */
    async of({ id, inbox, role }: MessageRow): Promise<{ files?: ExportedMessageFile[] }> {
      const isReply = role === "assistant";
      // A turn that waited for its owner has said so in a message of its own, which has no files.
      const found = isReply && id === noticeIdOf({ id: inbox }) ? [] : (ofMessage.get(keyOf(inbox, isReply)) ?? []);
      if (found.length === 0) return {};
      const files: ExportedMessageFile[] = [];
      for (const { id: uploadId, name, type, size, kind, caption } of found) {
        const bytes = chosen.has(uploadId) ? await uploads.read(agentId, uploadId) : undefined;
        if (!bytes) {
          leftOut.count++;
          leftOut.bytes += size;
        }
        files.push({
          ...{ name, type, size },
          ...(kind !== null && { kind }),
          ...(caption !== null && { caption }),
          ...(bytes && { data: bytes.toBase64() }),
        });
      }
      return { files };
    },
  };
}

const keyOf = (messageId: string, isReply: boolean) => `${isReply ? "reply" : "message"} ${messageId}`;

/** A file of an imported message, with the entry of the inbox that it belongs to. */
export interface ImportedMessageFile extends ExportedMessageFile {
  inbox: string;
  isReply: boolean;
}

/** Stores the files of imported messages; returns how many were not stored: for want of room, or of bytes in the file. */
export async function addImportedFiles(
  uploads: Uploads,
  agent: Agent,
  files: readonly ImportedMessageFile[],
): Promise<number> {
  let missing = 0;
  for (const { inbox, isReply, name, type, kind, caption, data = "" } of files) {
    const bytes = new Uint8Array(Buffer.from(data, "base64"));
    try {
      if (bytes.byteLength === 0) missing++;
      else if (isReply)
        await uploads.addToReply(agent, inbox, Bun.randomUUIDv7(), { name, type, kind, caption, bytes });
      else await uploads.addToMessage(agent, inbox, { name, type, bytes });
    } catch (error) {
      // The agent itself is imported: a file without room, or of which a reply has too many, must not undo that.
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      missing++;
    }
  }
  return missing;
}
