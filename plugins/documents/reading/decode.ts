// Decodes the bytes of a text by its marks, the charset that its server or the page names, UTF-8, or Windows-1252.

const CHARSET = /charset\s*=\s*["']?([\w-]{1,40})/i;

/** `type`: a media type, perhaps with a charset. `isPage`: a `<meta>` of its first kilobyte may name the charset. */
export function decodeText(bytes: Uint8Array, type = "", isPage = false): string {
  const mark = markOf(bytes);
  if (mark) return new TextDecoder(mark).decode(bytes);
  const inPage = isPage ? new TextDecoder("latin1").decode(bytes.subarray(0, 1024)).match(CHARSET)?.[1] : undefined;
  const named = decoderOf(type.match(CHARSET)?.[1] ?? inPage);
  if (named) return named.decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Old text files of Windows, which name no encoding.
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

function markOf([first, second]: Uint8Array): Bun.Encoding | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be" as Bun.Encoding;
  return undefined;
}

function decoderOf(label: string | undefined): TextDecoder | undefined {
  if (label === undefined) return undefined;
  try {
    // The label comes from outside: TextDecoder throws a RangeError for an unknown one.
    return new TextDecoder(label as Bun.Encoding);
  } catch {
    return undefined;
  }
}
