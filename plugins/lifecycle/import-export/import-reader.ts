// Reads files of exported agents: small ones at once, larger ones on a thread of its own that ends with the file.
import { AppError } from "../../../src/kernel/errors.ts";
import { createSemaphore } from "../../../src/kernel/util/semaphore.ts";
import { platformIds } from "../../runtime/index.ts";
import { type ImportFile, readImportFile } from "./import-file.ts";

/** A file of this size is read within a few milliseconds. */
export const SMALL_FILE_BYTES = 64 * 1024;
/** Threads at once: each loads the code of this module, and holds its file several times. */
const MAX_THREADS = 2;

export interface ImportRequest {
  bytes: Uint8Array;
  platforms: readonly string[];
}

/**
 * Pages of messages and of their entries, each by itself to keep the messages between threads short, then the rest of the file; or a refusal: an
 * `AppError` as plain data, since threads exchange no classes.
 */
export type ImportReply =
  | { page: string; of: "messages" | "entries" }
  | { file: Omit<ImportFile, "pages"> }
  | { refusal: Pick<AppError, "status" | "code" | "message" | "extras"> };

/** Where the build puts the thread's code inside the binary (`src/server/build.ts`); from source it lies beside this file. */
const WORKER = import.meta.path.startsWith("/$bunfs/")
  ? "/$bunfs/root/plugins/lifecycle/import-export/import-worker.js"
  : `${import.meta.dir}/import-worker.ts`;

/**
 * Returns the function that reads a file; it throws as `readImportFile` does. The bytes of a larger file can't be used
 * afterwards.
 */
export function createImportReader() {
  const threads = createSemaphore(MAX_THREADS);
  return async (bytes: Uint8Array<ArrayBuffer>): Promise<ImportFile> => {
    if (bytes.length <= SMALL_FILE_BYTES) return readImportFile(bytes, platformIds());
    return threads.run(() => readOnThread({ bytes, platforms: platformIds() }, [bytes.buffer]));
  };
}

async function readOnThread(request: ImportRequest, transferred: ArrayBuffer[]): Promise<ImportFile> {
  const worker = new Worker(WORKER);
  const pages = { messages: [] as string[], entries: [] as string[] };
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data: reply }: MessageEvent<ImportReply>) => {
        if ("page" in reply) pages[reply.of].push(reply.page);
        else if ("file" in reply) resolve({ ...reply.file, pages });
        else reject(toAppError(reply.refusal));
      };
      worker.onerror = ({ message }) => reject(new Error(`A file could not be read on its thread: ${message}`));
      worker.postMessage(request, transferred);
    });
  } finally {
    worker.terminate();
  }
}

const toAppError = ({ status, code, message, extras }: Pick<AppError, "status" | "code" | "message" | "extras">) =>
  new AppError(status, code, message, extras);
