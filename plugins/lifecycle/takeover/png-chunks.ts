// Reads the texts of a PNG: its tEXt chunks by their keywords. The picture itself is not decoded.
// https://www.w3.org/TR/png-3/#11tEXt

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const MAX_CHUNKS = 10_000;
/** Bytes of one text. */
const MAX_TEXT = 8 * 1024 * 1024;
const MAX_KEYWORD = 79;

export const isPng = (bytes: Uint8Array) => SIGNATURE.every((byte, index) => bytes[index] === byte);

/** The text of the last chunk with each of these keywords, in Latin-1; undefined if the file is damaged. */
export function pngTexts(bytes: Uint8Array, keywords: readonly string[]): Map<string, string> | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const latin1 = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).toString("latin1");
  const texts = new Map<string, string>();
  let at = SIGNATURE.length;
  for (let chunk = 0; chunk < MAX_CHUNKS && at + 12 <= bytes.length; chunk++) {
    const [length, type] = [view.getUint32(at), latin1(at + 4, at + 8)];
    const [start, end] = [at + 8, at + 8 + length];
    if (end + 4 > bytes.length) return undefined;
    if (type === "IEND") return texts;
    if (type === "tEXt" && length <= MAX_TEXT) {
      const separator = bytes.subarray(start, Math.min(end, start + MAX_KEYWORD + 1)).indexOf(0);
      const keyword = separator < 0 ? "" : latin1(start, start + separator);
      if (keywords.includes(keyword)) texts.set(keyword, latin1(start + separator + 1, end));
    }
    at = end + 4;
  }
  return undefined;
}
