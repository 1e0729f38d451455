// Tells texts from other files by their bytes.
import { LIMITS, problem, UnusableFolder } from "./problems.ts";

export const SKILL_FILE = "SKILL.md";

/**
 * The text of a file; null for one that is no UTF-8, or has a NUL, as no text has.
 * @throws UnusableFolder for a text that is too long
 */
export function textOf({ path, bytes }: { path: string; bytes: Uint8Array }): string | null {
  if (bytes.includes(0)) return null;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (bytes.length <= LIMITS.text) return text;
  } catch {
    // Not UTF-8: a picture or a font, for example.
    return null;
  }
  throw new UnusableFolder([problem("TEXT_TOO_LARGE", path)]);
}
