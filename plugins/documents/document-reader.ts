// Reads the text of documents on threads, so that no document, however it is made, holds the event loop or the memory.
import { AppError } from "../../src/kernel/errors.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import {
  type DocumentChunk,
  type DocumentFacts,
  type DocumentSource,
  type DocumentText,
  MAX_DOCUMENT_BYTES,
  unreadable,
} from "./document.ts";
import { createDocumentThread, type DocumentThread, type ThreadLimits } from "./document-thread.ts";
import { kindOf } from "./kinds.ts";

export interface DocumentReader {
  /**
   * The text of a document by page. For a person or a turn that waits: 15 seconds at most.
   *
   * @throws AppError 422 `UNREADABLE_DOCUMENT` with `reason` in its extras; the signal's reason
   */
  read(source: DocumentSource, signal?: AbortSignal): Promise<DocumentText>;
  /** The same in chunks for a search, for work in the background: a minute at most. Throws as `read` does. */
  readChunks(source: DocumentSource, signal?: AbortSignal): Promise<{ facts: DocumentFacts; chunks: DocumentChunk[] }>;
  /** Ends the threads. */
  stop(): void;
}

export interface ReaderLimits {
  waiting: ThreadLimits;
  background: ThreadLimits;
  /** Time for the article of a page; after it, all its visible text is taken. */
  articleMs: number;
}

const MIB = 1024 * 1024;
const LIMITS: ReaderLimits = {
  waiting: { milliseconds: 15 * SECOND, memory: 384 * MIB },
  background: { milliseconds: 60 * SECOND, memory: 512 * MIB },
  articleMs: 5 * SECOND,
};

export function createDocumentReader(limits = LIMITS): DocumentReader {
  // Two threads, so that an agent that opens a page doesn't wait for a long book.
  const waiting = createDocumentThread(limits.waiting);
  const background = createDocumentThread(limits.background);

  async function readOn(thread: DocumentThread, source: DocumentSource, asChunks: boolean, signal?: AbortSignal) {
    if (source.bytes.byteLength > MAX_DOCUMENT_BYTES) throw unreadable("TOO_LARGE");
    const kind = kindOf(source);
    if (!kind) throw unreadable(source.bytes.byteLength === 0 ? "EMPTY" : "UNSUPPORTED");
    const request = { kind, type: source.type, url: source.url, asChunks };
    const { bytes } = source;
    if (kind !== "html") return thread.read({ ...request, bytes, isPlain: false }, { signal });
    const copy = bytes.slice();
    try {
      return await thread.read({ ...request, bytes, isPlain: false }, { signal, milliseconds: limits.articleMs });
    } catch (error) {
      if (!(error instanceof AppError && error.extras.reason === "TOO_COMPLEX")) throw error;
      return thread.read({ ...request, bytes: copy, isPlain: true }, { signal });
    }
  }

  return {
    async read(source, signal) {
      const { facts, pages } = await readOn(waiting, source, false, signal);
      return { ...facts, pages };
    },
    async readChunks(source, signal) {
      const { facts, chunks } = await readOn(background, source, true, signal);
      return { facts, chunks };
    },
    stop() {
      waiting.stop();
      background.stop();
    },
  };
}
