// One thread that reads documents one after the other. It starts with the first, and ends when it is idle, and with a
// document that takes too much time or memory.

import { createSemaphore } from "../../src/kernel/util/semaphore.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import { workerPath } from "../../src/kernel/worker-path.ts";
import {
  type DocumentChunk,
  type DocumentFacts,
  type DocumentPage,
  type UnreadableReason,
  unreadable,
} from "./document.ts";
import type { ReadRequest } from "./reading/read-document.ts";

export interface WorkerRequest extends ReadRequest {
  asChunks: boolean;
}

/** The text in pieces, to keep the messages between threads short, then the rest; or why there is none. */
export type WorkerReply =
  | { piece: DocumentPage; isNew: boolean }
  | { chunks: DocumentChunk[] }
  | { done: DocumentFacts }
  | { failed: UnreadableReason };

export interface ThreadResult {
  facts: DocumentFacts;
  pages: DocumentPage[];
  chunks: DocumentChunk[];
}

export interface ThreadLimits {
  /** Of one document. */
  milliseconds: number;
  /** Bytes by which the whole process may grow while a document is read: threads have no memory of their own. */
  memory: number;
}

const WORKER = workerPath("plugins/documents/document-worker.ts");

/** Loading the libraries again takes a quarter of a second, keeping them 60 MB. */
const IDLE_MS = 10 * SECOND;
const MEMORY_CHECK_MS = 50;

export interface ThreadOptions {
  signal?: AbortSignal | undefined;
  /** Less time than the thread's own limit. */
  milliseconds?: number | undefined;
}

export interface DocumentThread {
  /** @throws AppError 422 `UNREADABLE_DOCUMENT`; the signal's reason */
  read(request: WorkerRequest, options?: ThreadOptions): Promise<ThreadResult>;
  stop(): void;
}

export function createDocumentThread(limits: ThreadLimits): DocumentThread {
  const turn = createSemaphore(1);
  let worker: Worker | undefined;
  let idle: Timer | undefined;

  function end(): void {
    worker?.terminate();
    worker = undefined;
  }

  async function readNow(request: WorkerRequest, { signal, milliseconds }: ThreadOptions): Promise<ThreadResult> {
    signal?.throwIfAborted();
    clearTimeout(idle);
    worker ??= new Worker(WORKER);
    const thread = worker;
    const watch = createWatch({ ...limits, milliseconds: milliseconds ?? limits.milliseconds });
    const { promise, resolve, reject } = Promise.withResolvers<ThreadResult>();
    const onAbort = () => reject(signal?.reason);
    const result = { pages: [] as DocumentPage[], chunks: [] as DocumentChunk[] };
    let isOpen = true;
    try {
      watch.exceeded.then(() => reject(unreadable("TOO_COMPLEX")));
      signal?.addEventListener("abort", onAbort, { once: true });
      thread.onmessage = ({ data: reply }: MessageEvent<WorkerReply>) => {
        if ("piece" in reply) addPiece(result.pages, reply);
        else if ("chunks" in reply) result.chunks.push(...reply.chunks);
        else {
          isOpen = false;
          if ("done" in reply) resolve({ ...result, facts: reply.done });
          else reject(unreadable(reply.failed));
        }
      };
      thread.onerror = ({ message }) => reject(unreadable("BROKEN", new Error(message)));
      thread.postMessage(request, [request.bytes.buffer]);
      return await promise;
    } finally {
      watch.end();
      signal?.removeEventListener("abort", onAbort);
      // It still works on this document.
      if (isOpen) end();
      idle = setTimeout(end, IDLE_MS);
      idle.unref();
    }
  }

  return {
    read: (request, options = {}) => turn.run(() => readNow(request, options), { signal: options.signal }),
    stop() {
      clearTimeout(idle);
      end();
    },
  };
}

function addPiece(pages: DocumentPage[], { piece, isNew }: { piece: DocumentPage; isNew: boolean }): void {
  const last = pages.at(-1);
  if (isNew || last === undefined) pages.push(piece);
  else last.text += piece.text;
}

/** `exceeded` resolves when the time is up, or the process has grown too much. */
function createWatch({ milliseconds, memory }: ThreadLimits) {
  const { promise: exceeded, resolve } = Promise.withResolvers<void>();
  const before = process.memoryUsage.rss();
  const timer = setTimeout(resolve, milliseconds);
  const memoryTimer = setInterval(() => {
    if (process.memoryUsage.rss() - before > memory) resolve();
  }, MEMORY_CHECK_MS);
  return {
    exceeded,
    end() {
      clearTimeout(timer);
      clearInterval(memoryTimer);
    },
  };
}
