// A file that a bot has sent to a fake platform, and what platforms tell of a file by its first bytes.

export interface SentFile {
  /** The platform's own word for how it is shown: photo, image, document, voice, audio, attachment. */
  as: string;
  name: string;
  /** As the bot claims. */
  type: string;
  bytes: Uint8Array;
  caption?: string;
}

/** The media type by the first bytes; undefined for all that is no picture and no sound. */
export function sniffed(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (/^RIFF[\s\S]{4}WEBP/.test(head)) return "image/webp";
  if (head.startsWith("OggS")) return "audio/ogg";
  if (head.slice(4, 8) === "ftyp") return "audio/mp4";
  return head.startsWith("ID3") || /^\xff[\xf2-\xff]/.test(head) ? "audio/mpeg" : undefined;
}
