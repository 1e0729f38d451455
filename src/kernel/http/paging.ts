// How many of a list, and from where: above the maximum is the maximum, anything else that is no whole number is refused.
import { invalidInput } from "../errors.ts";

/** A `limit` as it came in the query: 1 to `max`, more counts as `max`; else 400. Contract §1. */
export function readLimit(text: string | undefined, fallback: number, max: number): number {
  if (text === undefined) return fallback;
  const limit = parseWholeNumber(text);
  if (limit === undefined || limit < 1) {
    throw invalidInput({ path: "limit", message: `The limit is a whole number from 1 to ${max}.` });
  }
  return Math.min(limit, max);
}

/** An `offset` as it came in the query: 0 or more; else 400. */
export function readOffset(text: string | undefined): number {
  if (text === undefined) return 0;
  const offset = parseWholeNumber(text);
  if (offset === undefined) throw invalidInput({ path: "offset", message: "The offset is a whole number, 0 or more." });
  return Math.min(offset, Number.MAX_SAFE_INTEGER);
}

const parseWholeNumber = (text: string) => (/^\d{1,100}$/.test(text) ? Number(text) : undefined);
