// The codes that people enter (RFC 8628 §6.1): eight consonants, so that no word appears and no two letters look alike.

const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;

/** A random code, without its dash. 20^8 of them exist (34.5 bits). */
export function createUserCode(): string {
  let code = "";
  while (code.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH * 2))) {
      // Bytes beyond the last whole multiple would make the first letters likelier.
      if (byte < 240 && code.length < LENGTH) code += LETTERS[byte % LETTERS.length];
    }
  }
  return code;
}

/** As it is shown: `WDJB-MJHT`. */
export const formatUserCode = (code: string) => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;

/** What a person has typed, without case, dashes and spaces. */
export const normalizeUserCode = (typed: string) => typed.toUpperCase().replace(/[^A-Z]/g, "");
