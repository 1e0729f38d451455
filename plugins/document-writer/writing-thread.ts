// Writes documents on a thread that ends with the document: its libraries take 60 MB, and a text can be made to take any time.
import { AppError } from "../../src/kernel/errors.ts";
import { runOnThread } from "../../src/kernel/util/one-shot-thread.ts";
import { createSemaphore } from "../../src/kernel/util/semaphore.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import { workerPath } from "../../src/kernel/worker-path.ts";
import type { Format } from "./formats.ts";

export interface WriteRequest {
  format: Format;
  /** Markdown. */
  content: string;
  /** Of the document, if it has no heading. */
  title: string;
}

export interface WrittenDocument {
  bytes: Uint8Array<ArrayBuffer>;
  /** Emoji that the format can't show. */
  leftOut: readonly string[];
}

export type WriteReply = WrittenDocument | { problem: string };

const WORKER = workerPath("plugins/document-writer/writing-worker.ts");
const TIMEOUT_MS = 30 * SECOND;
/** One at a time, as drawings are. */
const thread = createSemaphore(1);

/** Rejects with an AppError 422 `DOCUMENT_NOT_WRITTEN` that says why, for the model, or with the signal's reason. */
export const writeDocument = (
  request: WriteRequest,
  signal: AbortSignal,
  timeoutMs = TIMEOUT_MS,
): Promise<WrittenDocument> => thread.run(() => writeNow(request, signal, timeoutMs), { signal });

async function writeNow(request: WriteRequest, signal: AbortSignal, timeoutMs: number): Promise<WrittenDocument> {
  const reply = await runOnThread<WriteRequest, WriteReply>(WORKER, request, {
    signal,
    timeoutMs,
    tooLong: { problem: "Writing the document takes too long. Make it shorter, or divide it." },
    failed: { problem: "The document can't be written. Make it simpler." },
  });
  if ("problem" in reply) throw new AppError(422, "DOCUMENT_NOT_WRITTEN", reply.problem);
  return reply;
}
