// Reads files of agents: small exported ones at once, all others on a thread of its own that ends with the file.

import { AppError } from "../../../src/kernel/errors.ts";
import { createSemaphore } from "../../../src/kernel/util/semaphore.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { workerPath } from "../../../src/kernel/worker-path.ts";
import { platformIds } from "../../runtime/index.ts";
import { EXPORT_FORMAT } from "./export-format.ts";
import { type ImportFile, readImportFile } from "./import-file.ts";

/** A file of this size is read within a few milliseconds. */
export const SMALL_FILE_BYTES = 64 * 1024;
/** Threads at once: each loads the code of this module, and holds its file several times. */
const MAX_THREADS = 2;
/** Files within the limits take a few seconds, also on a busy machine. */
const MAX_MS = 60 * SECOND;

export interface ImportRequest {
  bytes: Uint8Array;
  platforms: readonly string[];
  /** Patterns of secrets, which are blacked out in the files of other programs. */
  secretShapes: readonly RegExp[];
}

/**
 * Pages of messages and of their entries, each by itself to keep the messages between threads short, then the rest of the file; or a refusal: an
 * `AppError` as plain data, since threads exchange no classes.
 */
export type ImportReply =
  | { page: string; of: "messages" | "entries" }
  | { file: Omit<ImportFile, "pages"> }
  | { refusal: Pick<AppError, "status" | "code" | "message" | "extras"> };

const WORKER = workerPath("plugins/lifecycle/import-export/import-worker.ts");

/**
 * Returns the function that reads a file; it throws as `readImportFile` does. The bytes of a larger file can't be used
 * afterwards.
 */
export function createImportReader(secretShapes: readonly RegExp[] = []) {
  const threads = createSemaphore(MAX_THREADS);
  return async (bytes: Uint8Array<ArrayBuffer>): Promise<ImportFile> => {
    if (isSmallExport(bytes)) return readImportFile(bytes, platformIds());
    return threads.run(() => readOnThread({ bytes, platforms: platformIds(), secretShapes }, [bytes.buffer]));
  };
}

/** Whether this is an exported agent that is read within a few milliseconds. Without its mark it may be anything. */
const isSmallExport = (bytes: Uint8Array) =>
  bytes.length <= SMALL_FILE_BYTES && (bytes.length === 0 || Buffer.from(bytes).includes(EXPORT_FORMAT));

async function readOnThread(request: ImportRequest, transferred: ArrayBuffer[]): Promise<ImportFile> {
  const worker = new Worker(WORKER);
  const pages = { messages: [] as string[], entries: [] as string[] };
  let timer: Timer | undefined;
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(
        () => reject(new AppError(400, "UNREADABLE_FILE", "This file takes too long to read. Leave something out.")),
        MAX_MS,
      );
      worker.onmessage = ({ data: reply }: MessageEvent<ImportReply>) => {
        if ("page" in reply) pages[reply.of].push(reply.page);
        else if ("file" in reply) resolve({ ...reply.file, pages });
        else reject(toAppError(reply.refusal));
      };
      worker.onerror = ({ message }) => reject(new Error(`A file could not be read on its thread: ${message}`));
      worker.postMessage(request, transferred);
    });
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}

const toAppError = ({ status, code, message, extras }: Pick<AppError, "status" | "code" | "message" | "extras">) =>
  new AppError(status, code, message, extras);
