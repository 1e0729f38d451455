// Finds the files that an owner has sent to an agent in a chat.
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { runtime } from "../runtime/index.ts";
import { MAX_UPLOAD_BYTES, type UploadService } from "../uploads/index.ts";
import type { SentFile } from "./knowledge-skill.ts";

interface Deps {
  runtime: Pick<ServiceOf<typeof runtime>, "messageFiles">;
  uploads: Pick<UploadService, "list" | "fetchFile">;
}

/** The files of the message that is answered; else the newest upload, which came with an earlier one. */
export const createSentFiles =
  ({ runtime, uploads }: Deps) =>
  async (agentId: string, inboxId: string): Promise<SentFile[]> => {
    const { files, fetch } = await runtime.messageFiles(agentId, inboxId);
    if (fetch && files.length > 0) {
      return files.map((file) => ({
        name: file.name ?? "file",
        async fetch(signal) {
          const found = await fetch(agentId, file, MAX_UPLOAD_BYTES, signal);
          return found && { name: file.name ?? "file", type: file.mimeType, bytes: Uint8Array.from(found) };
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
