// Calculates the times of cron expressions with croner, which is loaded at first use, since few agents have schedules.
import type { Cron } from "croner";
import { MINUTE } from "../time.ts";
import { momentOf } from "./wall-time.ts";

export interface CronTimes {
  /** The first time after `from`, in epoch ms; undefined if there is none. */
  next(from: number): number | undefined;
}

/** The problem of a cron expression that can't be read, never comes, or comes too often; the message is for its author. */
export class InvalidCron extends Error {}

const HINT =
  'This must be a cron expression of five fields, such as "0 9 * * MON-FRI" (minute, hour, day, month, weekday), or a name such as @daily.';
/** So many distances between runs are checked. */
const CHECKED_RUNS = 5;

/**
 * Reads a cron expression of five fields, or a name such as `@daily`, in a time zone.
 *
 * Around a change of the clocks: times that are skipped run when the skipped hour ends, together once; a time that comes twice runs the
 * first time. What runs in each hour, such as every 30 minutes, stays even.
 */
export async function readCron(text: string, timezone: string): Promise<CronTimes> {
  const fields = text.trim().split(/\s+/);
  // croner would take a date, and seconds, for a cron expression.
  if (fields.length > 5) throw new InvalidCron(`${HINT} Seconds and years can't be given: once a minute is the most.`);
  if (!/^@\w+$/.test(text.trim()) && fields.length !== 5) throw new InvalidCron(HINT);
  const { Cron } = await import("croner");
  try {
    const even = new Cron(text.trim(), { timezone, paused: true, mode: "5-part" });
    const onTheWall = new Cron(text.trim(), { timezone: "UTC", paused: true, mode: "5-part" });
    const next = isEven(text)
      ? (from: number) => even.nextRun(new Date(from))?.getTime()
      : (from: number) => nextOnTheWall(onTheWall, timezone, from);
    // Time zones and days that never come are only found by a search.
    next(Date.now());
    return { next };
  } catch {
    throw new InvalidCron(HINT);
  }
}

/** Whether it runs in each hour of the day: by distances of time, and not at times of the day. */
const isEven = (text: string) => /^(?:@hourly|\S+\s+\*\s.*)$/i.test(text.trim());

/** The first time of the day after `from` that fits. The times on the wall are searched as if no clock ever changed. */
function nextOnTheWall(cron: Pick<Cron, "nextRun">, timezone: string, from: number): number | undefined {
  const wall = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(timezone).toPlainDateTime();
  // A time on the wall before this one is never a moment after this one: of two equal ones, the first counts.
  let at = wall.toZonedDateTime("UTC").epochMilliseconds;
  for (;;) {
    const found = cron.nextRun(new Date(at))?.getTime();
    if (found === undefined) return undefined;
    const moment = momentOf(
      Temporal.Instant.fromEpochMilliseconds(found).toZonedDateTimeISO("UTC").toPlainDateTime(),
      timezone,
    );
    if (moment > from) return moment;
    at = found;
  }
}

/** The next runs after `from`. Throws `InvalidCron` for an expression that never comes, or more often than once a minute. */
export function requireRuns(cron: CronTimes, from: number, count = CHECKED_RUNS): number[] {
  const runs: number[] = [];
  for (let at = cron.next(from); at !== undefined && runs.length < count; at = cron.next(at)) {
    const last = runs.at(-1);
    if (last !== undefined && at - last < MINUTE) throw new InvalidCron("A schedule runs once a minute at most.");
    runs.push(at);
  }
  if (runs.length === 0) throw new InvalidCron("This cron expression never comes: there is no such day.");
  return runs;
}
