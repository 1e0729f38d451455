// When a delivery that failed is tried again.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits before each attempt, from the end of the one before: the schedule that Standard Webhooks 1.0 gives. */
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

/** Each wait is up to so much longer, so that what failed together does not come back together. */
const JITTER = 0.1;

/** A receiver can ask for this much patience and no more. */
const MAX_RETRY_AFTER_MS = 24 * HOUR;

/** Milliseconds until the next attempt after so many; undefined when there is none. Not before the receiver wants it. */
export function retryDelayAfter(attempts: number, retryAfter = 0, random = Math.random): number | undefined {
  const delay = RETRY_DELAYS_MS[attempts];
  return delay === undefined ? undefined : Math.max(Math.round(delay * (1 + random() * JITTER)), retryAfter);
}

/** Milliseconds that a `Retry-After` header asks for (RFC 9110 §10.2.3): seconds or a date, bounded; 0 for none. */
export function readRetryAfter(header: string | null, now: number): number {
  if (header === null) return 0;
  const text = header.trim();
  const delay = /^\d{1,12}$/.test(text) ? Number(text) * SECOND : Date.parse(text) - now;
  return Number.isNaN(delay) ? 0 : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, delay));
}
