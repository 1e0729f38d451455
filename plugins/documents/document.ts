// The text of a document, and the errors for documents that have none.
import { AppError } from "../../src/kernel/errors.ts";

export type DocumentKind = "html" | "pdf" | "docx" | "csv" | "markdown" | "text";

export interface DocumentPage {
  /** From 1; undefined where the format has no pages. */
  page: number | undefined;
  /** Markdown of web pages and DOCX; else plain text. */
  text: string;
}

export interface DocumentFacts {
  kind: DocumentKind;
  /** Empty if the document has none. */
  title: string;
  /** When it was published or made, as its source writes it; usually ISO 8601. */
  published: string | undefined;
  /** True if the text is longer than what is read of one document (`MAX_TEXT`). */
  isCut: boolean;
}

export interface DocumentText extends DocumentFacts {
  pages: DocumentPage[];
}

/** A part of a document's text that is found and quoted as one. */
export interface DocumentChunk {
  page: number | undefined;
  /** The headings above it, outermost first, joined by " › "; empty without. */
  heading: string;
  text: string;
}

/** What is read: the bytes as they are, and what is known about them. */
export interface DocumentSource {
  /** Can't be used afterwards: they move to the thread. */
  bytes: Uint8Array<ArrayBuffer>;
  /** A media type, as a sender or server claims it. */
  type?: string | undefined;
  /** A file's name. */
  name?: string | undefined;
  /** The address it comes from: relative links of a web page are resolved by it. */
  url?: string | undefined;
}

const MIB = 1024 * 1024;
/** Bytes of one document. */
export const MAX_DOCUMENT_BYTES = 32 * MIB;
/** Characters that are read of one document; the rest is left out, and the document says so. */
export const MAX_TEXT = 8_000_000;
/** Pages that are read of one document. */
export const MAX_PAGES = 5_000;

/** Why a document has no text. */
export type UnreadableReason = "UNSUPPORTED" | "TOO_LARGE" | "TOO_COMPLEX" | "ENCRYPTED" | "BROKEN" | "EMPTY";

const MESSAGES: Readonly<Record<UnreadableReason, string>> = {
  UNSUPPORTED: "This kind of file can't be read. Text, Markdown, HTML, PDF, DOCX and CSV can.",
  TOO_LARGE: "This document is too large to read. Split it, or keep only the part that matters.",
  TOO_COMPLEX:
    "This document takes too much time or memory to read. Save it again in a simpler form, such as plain text.",
  ENCRYPTED: "This document is protected by a password. Save it without one and try again.",
  BROKEN: "This document is damaged and can't be read. Save it again and retry.",
  EMPTY: "This document has no text. If it is a scan, run text recognition (OCR) over it first.",
};

/** 422 `UNREADABLE_DOCUMENT`, with the reason in `extras.reason`. */
export const unreadable = (reason: UnreadableReason, cause?: unknown): AppError =>
  new AppError(422, "UNREADABLE_DOCUMENT", MESSAGES[reason], { reason }, { cause });

/** Thrown on the thread, where no `AppError` can leave. */
export class Unreadable extends Error {
  constructor(
    readonly reason: UnreadableReason,
    options?: ErrorOptions,
  ) {
    super(reason, options);
  }
}
