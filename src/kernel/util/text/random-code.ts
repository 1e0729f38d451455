// Makes codes that people read and type.

/** Letters and digits that do not look alike. */
const ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";

/** About five bits for each character. */
export function randomCode(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}
