// The thread that reads documents, one after the other.
import type { DocumentChunk, DocumentPage } from "./document.ts";
import { Unreadable } from "./document.ts";
import type { WorkerReply, WorkerRequest } from "./document-thread.ts";
import { chunksOf } from "./reading/chunks.ts";
import { readDocument } from "./reading/read-document.ts";

declare const self: Worker;

/** Characters in one message: taking a larger one would hold the other side's event loop. */
const MESSAGE = 262_144;

const reply = (message: WorkerReply) => self.postMessage(message);

async function read({ asChunks, ...request }: WorkerRequest): Promise<void> {
  try {
    const { pages, ...facts } = await readDocument(request);
    if (asChunks) sendChunks(chunksOf(pages, HAS_HEADINGS.has(request.kind)));
    else sendPages(pages);
    reply({ done: { kind: request.kind, ...facts } });
  } catch (error) {
    // Any other error comes from a document that a library can't cope with.
    reply({ failed: error instanceof Unreadable ? error.reason : "BROKEN" });
  }
}

const HAS_HEADINGS = new Set(["html", "docx", "markdown"]);

function sendChunks(chunks: Iterable<DocumentChunk>): void {
  let batch: DocumentChunk[] = [];
  let size = 0;
  for (const chunk of chunks) {
    batch.push(chunk);
    size += chunk.text.length;
    if (size < MESSAGE) continue;
    reply({ chunks: batch });
    [batch, size] = [[], 0];
  }
  if (batch.length > 0) reply({ chunks: batch });
}

/** A page that is longer than a message comes in pieces with the same number. */
function sendPages(pages: readonly DocumentPage[]): void {
  for (const { page, text } of pages) {
    for (let from = 0; from < text.length; from += MESSAGE) {
      reply({ piece: { page, text: text.slice(from, from + MESSAGE) }, isNew: from === 0 });
    }
  }
}

self.onmessage = ({ data }: MessageEvent<WorkerRequest>) => {
  void read(data);
};
