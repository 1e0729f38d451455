// Describes the files that came with a message, as the inbox stores them. The bytes stay at the platform.

/** A file as its platform describes it. */
export interface Attachment {
  kind: "image" | "audio" | "video" | "document";
  /** The reference by which the platform's adapter fetches it. */
  ref: string;
  /** As its sender claims. */
  mimeType: string;
  /** Bytes. */
  size?: number;
  name?: string;
  /** The message can be answered without it. */
  optional?: boolean;
  /** Spoken by the sender for this message. */
  voice?: boolean;
  /** Its words are in the message's text. */
  writtenDown?: boolean;
}

const MAX_STORED = 10;
const MAX_NAME = 200;
const MAX_REF = 4_000;

/** The JSON for the inbox row; null for no files. */
export function serializeAttachments(files: readonly Attachment[] = []): string | null {
  const kept = files.filter(({ ref }) => ref.length <= MAX_REF).slice(0, MAX_STORED);
  if (kept.length === 0) return null;
  return JSON.stringify(kept.map(({ name, ...file }) => (name ? { ...file, name: name.slice(0, MAX_NAME) } : file)));
}

/** Reads the JSON of `serializeAttachments`. */
export const parseAttachments = (stored: string | null): Attachment[] =>
  stored === null ? [] : (JSON.parse(stored) as Attachment[]);

/** Whether a message consists of nothing but the names of its files: lines in brackets. */
export const isFilesOnly = (content: string) => content.split("\n").every((line) => /^\s*(?:\[.*\]\s*)?$/.test(line));
