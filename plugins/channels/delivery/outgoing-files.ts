// Gives adapters the files of a reply. Their bytes are read when they are sent, and only so many at once.
import type { OutgoingFile } from "../../../channels/port.ts";
import { translateNote } from "../../../src/kernel/pages/sentences.ts";
import { createSemaphore } from "../../../src/kernel/util/semaphore.ts";
import type { DeliveryFile, ReaderLanguage } from "../../runtime/index.ts";
import type { UploadService } from "../../uploads/index.ts";

/** Bytes of files that are being sent at once, over all agents. */
const MEMORY = 64_000_000;

export type OutgoingFiles = (
  agentId: string,
  files: readonly DeliveryFile[],
  signal: AbortSignal,
) => Promise<OutgoingFile[]>;

interface Deps {
  uploads: Pick<UploadService, "read">;
  readerLanguage: ReaderLanguage;
}

export function createOutgoingFiles({ uploads, readerLanguage }: Deps): OutgoingFiles {
  const memory = createSemaphore(MEMORY);
  return async (agentId, files, signal) => {
    // The outbox does not keep the language of a conversation's other side.
    const language = await readerLanguage(agentId, undefined);
    return files.map(({ id, name, type, size, kind, caption, address, words }) => ({
      ...{ kind, name, size, mimeType: type },
      ...(caption !== null && { caption }),
      ...(address !== undefined && { address }),
      ...(words !== undefined && { words }),
      inReadersLanguage: (english) => translateNote(english, language),
      async withBytes(use) {
        const release = await memory.acquire(size, { signal });
        try {
          return await use(await uploads.read(agentId, id));
        } finally {
          release();
        }
      },
    }));
  };
}
