// Tells the media type of a file by its first bytes.

/** The media type by the first bytes, for the kinds that providers accept: a provider rejects a request with a wrong type. */
export function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  if (/^RIFF[\s\S]{4}WEBP/.test(head)) return "image/webp";
  if (/^RIFF[\s\S]{4}WAVE/.test(head)) return "audio/wav";
  if (head.startsWith("OggS")) return "audio/ogg";
  if (head.startsWith("ID3") || /^\xff[\xe2-\xe7\xf2-\xff]/.test(head)) return "audio/mpeg";
  return head.startsWith("%PDF-") ? "application/pdf" : undefined;
}
