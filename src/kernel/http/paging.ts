// Reads the `limit` and `offset` of a list, and switches, from the query; ends a page with the cursor of the next.
import { invalidInput } from "../errors.ts";

/** Parses a `limit`: 1 to `max`; a larger number counts as `max`. Throws 400 for anything else. */
export function readLimit(text: string | undefined, fallback: number, max: number): number {
  if (text === undefined) return fallback;
  const limit = parseWholeNumber(text);
  if (limit === undefined || limit < 1) {
    throw invalidInput({ path: "limit", message: `The limit is a whole number from 1 to ${max}.` });
  }
  return Math.min(limit, max);
}

/** Parses an `offset`: 0 or more. Throws 400 for anything else. */
export function readOffset(text: string | undefined): number {
  if (text === undefined) return 0;
  const offset = parseWholeNumber(text);
  if (offset === undefined) throw invalidInput({ path: "offset", message: "The offset is a whole number, 0 or more." });
  return Math.min(offset, Number.MAX_SAFE_INTEGER);
}

/** `1` or `true`, `0` or `false`; a parameter that was left out is false. Throws 400 for anything else. */
export function readFlag(text: string | undefined, path: string): boolean {
  if (text === undefined || text === "0" || text === "false") return false;
  if (text === "1" || text === "true") return true;
  throw invalidInput({ path, message: "This must be 1 or 0." });
}

/**
 * Cuts rows that were read with one more than the `limit`: the page, and the cursor of the next one, which is that of the
 * page's last item; null on the last page.
 */
export function cutPage<Item>(
  found: readonly Item[],
  limit: number,
  cursorOf: (last: Item) => string,
): { page: Item[]; nextCursor: string | null } {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return { page, nextCursor: last !== undefined && found.length > limit ? cursorOf(last) : null };
}

const parseWholeNumber = (text: string) => (/^\d{1,100}$/.test(text) ? Number(text) : undefined);
