// Gives adapters the files of a reply. Their bytes are read when they are sent, and only so many at once.
import type { OutgoingFile } from "../../../channels/port.ts";
import { createSemaphore } from "../../../src/kernel/util/semaphore.ts";
import type { DeliveryFile } from "../../runtime/index.ts";
import type { UploadService } from "../../uploads/index.ts";

/** Bytes of files that are being sent at once, over all agents. */
const MEMORY = 64_000_000;

export type OutgoingFiles = (agentId: string, files: readonly DeliveryFile[], signal: AbortSignal) => OutgoingFile[];

export function createOutgoingFiles(uploads: Pick<UploadService, "read">): OutgoingFiles {
  const memory = createSemaphore(MEMORY);
  return (agentId, files, signal) =>
    files.map(({ id, name, type, size, kind, caption, address, words }) => ({
      ...{ kind, name, size, mimeType: type },
      ...(caption !== null && { caption }),
      ...(address !== undefined && { address }),
      ...(words !== undefined && { words }),
      async withBytes(use) {
        const release = await memory.acquire(size, { signal });
        try {
          return await use(await uploads.read(agentId, id));
        } finally {
          release();
        }
      },
    }));
}
