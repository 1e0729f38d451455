// Finds the files that an owner has sent to an agent in a chat.
import type { ToolContext } from "../skills/index.ts";
import { MAX_UPLOAD_BYTES, type UploadedFile, type UploadService } from "../uploads/index.ts";

/** A file that the owner has sent, with the function that fetches it. */
export interface SentFile {
  name: string;
  fetch(signal: AbortSignal): Promise<UploadedFile | undefined>;
}

/** The files of the message that is answered; else the newest upload, which came with an earlier one. */
export const createSentFiles =
  (uploads: Pick<UploadService, "list" | "fetchFile">) =>
  async ({ agentId, files = [] }: Pick<ToolContext, "agentId" | "files">): Promise<SentFile[]> => {
    if (files.length > 0) {
      return files.map(({ name, mediaType: type, read }) => ({
        name,
        async fetch(signal) {
          const found = await read(MAX_UPLOAD_BYTES, signal);
          return found && { name, type, bytes: Uint8Array.from(found) };
        },
      }));
    }
    return (await uploads.list(agentId, { limit: 1 })).map(({ id, name, type }) => ({
      name,
      async fetch() {
        const found = await uploads.fetchFile(agentId, { ref: `upload:${id}` }, MAX_UPLOAD_BYTES);
        return found && { name, type, bytes: Uint8Array.from(found) };
      },
    }));
  };
