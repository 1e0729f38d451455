// Recognizes the kind of a document: by its first bytes, else by its media type, else by the ending of its name.
import type { DocumentKind, DocumentSource } from "./document.ts";

const BY_TYPE: readonly [RegExp, DocumentKind][] = [
  [/^(?:text\/html|application\/xhtml\+xml)\b/, "html"],
  [/^application\/pdf\b/, "pdf"],
  [/^application\/vnd\.openxmlformats-officedocument\.wordprocessingml\.document\b/, "docx"],
  [/^text\/(?:csv|tab-separated-values)\b/, "csv"],
  [/^text\/(?:x-)?markdown\b/, "markdown"],
];
const BY_NAME: readonly [RegExp, DocumentKind][] = [
  [/\.x?html?$/i, "html"],
  [/\.pdf$/i, "pdf"],
  [/\.docx$/i, "docx"],
  [/\.[ct]sv$/i, "csv"],
  [/\.(?:md|markdown|mdown)$/i, "markdown"],
  [/\.(?:txt|text|log|rst|adoc|org|json|jsonl|ya?ml|toml|xml|ini|conf)$/i, "text"],
];
/** Media types of texts, besides `text/…`. */
const TEXT =
  /^(?:text\/|application\/(?:json|xml|rss\+xml|atom\+xml|ld\+json|jsonl|x-ndjson|javascript|x-yaml|yaml|toml)|[^;]*\+(?:json|xml)\b)/;
/** The first four bytes of a zip, which a DOCX is. */
const ZIP = "PK\u0003\u0004";
/** Bytes that are looked at. A zip names its first file here, which of a DOCX is one of the names below. */
const HEAD = 1024;

/** The kind by type and name alone, for a decision before the bytes are there. */
export function claimedKind({ type, name }: Pick<DocumentSource, "type" | "name">): DocumentKind | undefined {
  const media = type?.trim().toLowerCase() ?? "";
  const byType = BY_TYPE.find(([pattern]) => pattern.test(media))?.[1];
  const byName = BY_NAME.find(([pattern]) => pattern.test(name ?? ""))?.[1];
  // Systems send Markdown, CSV and others as plain text, and many files as `application/octet-stream`.
  return byType ?? byName ?? (TEXT.test(media) ? "text" : undefined);
}

/** Undefined if the document can't be read. */
export function kindOf(source: DocumentSource): DocumentKind | undefined {
  const head = Buffer.from(source.bytes.subarray(0, HEAD)).toString("latin1");
  if (head.includes("%PDF-")) return "pdf";
  const claimed = claimedKind(source);
  if (head.startsWith(ZIP)) return claimed === "docx" || /\[Content_Types\]|word\//.test(head) ? "docx" : undefined;
  // The claim is wrong: such files begin with the marks above.
  if (claimed === "pdf" || claimed === "docx") return claimed;
  if (hasZeroBytes(source.bytes)) return undefined;
  if (claimed === undefined || claimed === "text") {
    if (/^\s*(?:<!doctype html|<html[\s>])/i.test(head)) return "html";
    return claimed ?? (looksLikeText(source) ? "text" : undefined);
  }
  return claimed;
}

/** Texts in UTF-16 begin with a mark; any other text has no zero byte. */
function hasZeroBytes(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return !isUtf16 && bytes.subarray(0, HEAD).includes(0);
}

/** A file without a known type or name is a text if its beginning is valid UTF-8. */
function looksLikeText({ type, bytes }: DocumentSource): boolean {
  const isUntyped = type === undefined || type === "" || /^application\/octet-stream\b/i.test(type);
  if (!isUntyped || bytes.length === 0) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, HEAD), { stream: true });
    return true;
  } catch {
    return false;
  }
}
