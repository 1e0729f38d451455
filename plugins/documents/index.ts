// The plugin of documents: the text of web pages, PDF, DOCX, CSV, Markdown and plain text, read on threads.
import { plugin } from "../../src/kernel/plugin.ts";
import { createDocumentReader } from "./document-reader.ts";

export type { DocumentChunk, DocumentFacts, DocumentKind, DocumentSource, DocumentText } from "./document.ts";
export { MAX_DOCUMENT_BYTES, unreadable } from "./document.ts";
export { createDocumentReader, type DocumentReader } from "./document-reader.ts";
export { extractText } from "./html/html-text.ts";
export { claimedKind, kindOf } from "./kinds.ts";

export const documents = plugin("documents", () => {
  const reader = createDocumentReader();
  return { service: reader, stop: () => reader.stop() };
});
