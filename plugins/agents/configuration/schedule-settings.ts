// Reads the schedules of a configuration, and checks when they run.
import { channelIds } from "../../../channels/registry.ts";
import type { Issue } from "../../../src/kernel/errors.ts";
import { InvalidCron, readCron, requireRuns } from "../../../src/kernel/util/cron/cron.ts";
import {
  boolean,
  check,
  InvalidSetting,
  itemPath,
  object,
  oneOf,
  type Reader,
  string,
  timezone,
} from "./value-readers.ts";

/** A configuration may hold so many schedules. */
export const MAX_SCHEDULES = 100;

export interface ScheduleSettings {
  name?: string;
  /** The message that the agent receives at that time. */
  prompt: string;
  /** Five fields, or a name such as `@daily`. Either this or `at` is given. */
  cron?: string;
  /** A single run, in ISO 8601. Without an offset it is a time in `timezone`. */
  at?: string;
  timezone?: string;
  /** Where the reply goes; null or left out: nowhere, it is only stored. */
  deliver?: { platform: string; peer: string } | { webhook: true } | null;
  /** How to treat runs that were missed while the service was down. Default: `once`. */
  missed?: "skip" | "once" | "all";
  enabled?: boolean;
}

/** A date, a time, and either no offset, Z or one such as +02:00. */
const ISO_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/i;

const isoTime = check(
  (value): value is string => typeof value === "string" && ISO_TIME.test(value) && !Number.isNaN(Date.parse(value)),
  'This is a time in ISO 8601, such as "2030-01-31T09:00".',
);

const deliverTo: Reader<NonNullable<ScheduleSettings["deliver"]> | null> = (value, path, onUnknown) => {
  if (value === null) return null;
  const { platform, peer, webhook } = object({
    platform: (platform, where) => oneOf(...channelIds())(platform, where),
    peer: string(200, 1),
    webhook: boolean,
  })(value, path, onUnknown);
  if (webhook === true && platform === undefined && peer === undefined) return { webhook };
  if (webhook === undefined && platform !== undefined && peer !== undefined) return { platform, peer };
  throw new InvalidSetting(path, 'This is { "platform": …, "peer": … }, { "webhook": true } or null.');
};

const scheduleFields: Reader<Partial<ScheduleSettings> & { message?: string }> = (value, path, onUnknown) =>
  object({
    name: string(200, 1),
    prompt: string(16_384, 1),
    // The name of `prompt` in earlier versions.
    message: string(16_384, 1),
    cron: string(200, 1),
    at: isoTime,
    timezone,
    deliver: deliverTo,
    missed: oneOf("skip", "once", "all"),
    enabled: boolean,
  })(value, path, onUnknown);

export const schedule: Reader<ScheduleSettings> = (value, path, onUnknown) => {
  const { prompt: given, message, ...rest } = scheduleFields(value, path, onUnknown);
  const prompt = given ?? message;
  if (prompt === undefined)
    throw new InvalidSetting(`${path}.prompt`, "A schedule needs a prompt: what the agent is told.");
  if ((rest.cron === undefined) === (rest.at === undefined)) {
    throw new InvalidSetting(`${path}.cron`, "A schedule needs either a cron expression or, for a single run, at.");
  }
  return { prompt, ...rest };
};

/**
 * The first schedule whose cron expression can't be read or never comes. Only the first, because the search for a day
 * that never comes takes some milliseconds.
 */
export async function findInvalidSchedule(
  schedules: readonly ScheduleSettings[],
  defaultTimezone: string | undefined,
): Promise<Issue | undefined> {
  for (const [index, { cron, timezone: own }] of schedules.entries()) {
    if (cron === undefined) continue;
    // A rare day takes some milliseconds to find; a hundred in a row would hold up other requests.
    if (index > 0) await Bun.sleep(0);
    try {
      requireRuns(await readCron(cron, own ?? defaultTimezone ?? "UTC"), Date.now(), 1);
    } catch (error) {
      if (!(error instanceof InvalidCron)) throw error;
      return { path: `${itemPath("schedules", index)}.cron`, message: error.message };
    }
  }
  return undefined;
}
