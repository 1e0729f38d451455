// Decides when a failed delivery is attempted again: after a fixed schedule, or later if the receiver asks for it.
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/kernel/util/time.ts";

/** The delay before each attempt, from the end of the previous one: the schedule of Standard Webhooks 1.0. */
const RETRY_DELAYS_MS = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** Each delay is up to this fraction longer, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;

/** Longer values of `Retry-After` count as one day. */
const MAX_RETRY_AFTER_MS = DAY;

/** Milliseconds until the next attempt, at least `retryAfter`; undefined after the last attempt. */
export function retryDelayAfter(attempts: number, retryAfter = 0, random = Math.random): number | undefined {
  const delay = RETRY_DELAYS_MS[attempts];
  return delay === undefined ? undefined : Math.max(Math.round(delay * (1 + random() * JITTER)), retryAfter);
}

/** Reads a `Retry-After` header (RFC 9110 §10.2.3: seconds or a date) as milliseconds, 0 to one day; 0 if it is missing. */
export function readRetryAfter(header: string | null, now: number): number {
  if (header === null) return 0;
  const text = header.trim();
  const delay = /^\d{1,12}$/.test(text) ? Number(text) * SECOND : Date.parse(text) - now;
  return Number.isNaN(delay) ? 0 : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, delay));
}
