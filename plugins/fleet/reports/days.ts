// Counts days as `usage_days` does: from 1970-01-01, UTC.
import { DAY } from "../../../src/kernel/util/time.ts";

/** The day of a time (epoch ms). */
export const dayOf = (at: number) => Math.floor(at / DAY);

/** The first day of the month of this day. */
export function monthStart(day: number): number {
  const date = new Date(day * DAY);
  return dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1));
}

export const isoOrNull = (at: number | null | undefined) =>
  at === null || at === undefined ? null : new Date(at).toISOString();
