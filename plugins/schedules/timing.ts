// Calculates when a schedule runs, and which of its due times get a run after it was missed.
import { type CronTimes, InvalidCron, readCron, requireRuns } from "../../src/kernel/util/cron/cron.ts";
import { momentOf } from "../../src/kernel/util/cron/wall-time.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import { isTimeZone } from "../../src/kernel/util/time-zone.ts";
import type { Schedule } from "./schema.ts";

/** A run that begins within this time counts as on time, since many schedules name the same minute. */
export const LATE_AFTER_MS = 5 * MINUTE;
/** After a longer outage so many missed times are counted, and with the policy `all` run. */
export const MAX_MISSED = 100;

/** A run to be stored: the time that it is for, and how many further times it stands for. */
export interface PlannedRun {
  dueAt: number;
  cause: "time" | "missed";
  missed: number;
}

export interface RunPlan {
  runs: readonly PlannedRun[];
  /** Times that get no run, by the policy. */
  skipped: PlannedRun | undefined;
  /** Null after the last run. */
  next: number | null;
}

/** A cron expression or one time, in epoch ms. */
export type Timing = Pick<Schedule, "cron" | "at" | "timezone">;

/** The next runs, at most five. Throws `InvalidCron` for a time that is over or never comes. */
export async function nextRuns({ cron, at, timezone }: Timing, from: number): Promise<number[]> {
  if (!isTimeZone(timezone))
    throw new InvalidCron(`There is no time zone "${timezone}". Use a name such as Europe/Berlin.`);
  if (cron !== null) return requireRuns(await readCron(cron, timezone), from);
  if (at === null || at <= from) throw new InvalidCron("This time is over. Choose a later one.");
  return [at];
}

/** A time in ISO 8601; without an offset it is a time in the zone. Undefined for anything else. */
export function parseMoment(text: string, timezone: string): number | undefined {
  try {
    if (/(?:Z|[+-]\d\d:?\d\d)$/i.test(text)) return Temporal.Instant.from(text.replace(" ", "T")).epochMilliseconds;
    return momentOf(Temporal.PlainDateTime.from(text), timezone);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** What a schedule does at `now`, when its next run is due. */
export async function planRuns(
  { cron, nextRunAt, timezone, missed: policy }: Pick<Schedule, "cron" | "timezone" | "missed"> & { nextRunAt: number },
  now: number,
): Promise<RunPlan> {
  const times = cron === null ? undefined : await readCron(cron, timezone);
  const due = [nextRunAt];
  for (
    let at = times?.next(nextRunAt);
    at !== undefined && at <= now && due.length < MAX_MISSED;
    at = times?.next(at)
  ) {
    due.push(at);
    // A hundred calculations take longer than other requests should wait.
    if (due.length % 20 === 0) await Bun.sleep(0);
  }
  const next = times?.next(now) ?? null;
  const current = latestOnTime(times, nextRunAt, now);
  const late = due.filter((at) => at !== current);
  const onTime: PlannedRun[] = current === undefined ? [] : [{ dueAt: current, cause: "time", missed: 0 }];
  const [latest] = late.slice(-1);

  if (policy === "all") {
    return {
      runs: [...late.map((dueAt): PlannedRun => ({ dueAt, cause: "missed", missed: 0 })), ...onTime],
      skipped: undefined,
      next,
    };
  }
  if (policy === "skip") {
    const skipped: PlannedRun | undefined =
      latest === undefined ? undefined : { dueAt: latest, cause: "missed", missed: late.length - 1 };
    return { runs: onTime, skipped, next };
  }
  const once: PlannedRun =
    current === undefined
      ? { dueAt: latest ?? nextRunAt, cause: "missed", missed: due.length - 1 }
      : { dueAt: current, cause: "time", missed: late.length };
  return { runs: [once], skipped: undefined, next };
}

/** The last due time that is not late. */
function latestOnTime(times: CronTimes | undefined, nextRunAt: number, now: number): number | undefined {
  const since = now - LATE_AFTER_MS;
  let latest = nextRunAt > since ? nextRunAt : undefined;
  for (let at = times?.next(Math.max(since, nextRunAt)); at !== undefined && at <= now; at = times?.next(at))
    latest = at;
  return latest;
}
