// Parses times as models write them, in a time zone.
import { isTimeZone } from "../../../src/kernel/util/time-zone.ts";
import { toolDeclined } from "../skill.ts";

/** The named zone, else the agent's own, else UTC if that one is invalid. Declines an unknown name. */
export function resolveTimeZone(named: string | undefined, own: string): string {
  if (named !== undefined) {
    if (isTimeZone(named)) return named;
    throw toolDeclined(`There is no time zone "${named}". Use an IANA name such as Europe/Berlin.`);
  }
  return isTimeZone(own) ? own : "UTC";
}

/** No time is longer. The time that the pattern of offsets takes grows with the square of the length. */
const MAX_LENGTH = 100;

/**
 * Parses ISO 8601 with or without an offset, a date alone (its midnight), a time alone (today), or `now`. Without an
 * offset the time is in `zone`. Declines anything else with an example of the format.
 */
export function parseTime(text: string, zone: string, now = Date.now()): Temporal.ZonedDateTime {
  const nowInZone = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone);
  const moment = text.trim().slice(0, MAX_LENGTH);
  if (/^now$/i.test(moment)) return nowInZone;
  try {
    if (TIME_ONLY.test(moment)) return nowInZone.withPlainTime(Temporal.PlainTime.from(moment));
    if (HAS_OFFSET.test(moment)) return Temporal.Instant.from(moment).toZonedDateTimeISO(zone);
    return Temporal.PlainDateTime.from(moment).toZonedDateTime(zone);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw toolDeclined(
      `"${moment}" is not a time I can read. Write it like 2026-03-01T15:30 or 2026-03-01T15:30+01:00.`,
    );
  }
}
const TIME_ONLY = /^\d{1,2}:\d{2}(:\d{2})?$/;
const HAS_OFFSET = /T.*(Z|[+-]\d{2}:?\d{2})(\[.*\])?$|\d (Z|[+-]\d{2}:?\d{2})$/i;

/** As `parseTime`, but a time alone is its next occurrence, today or tomorrow. */
export function parseNextTime(text: string, zone: string, now = Date.now()): Temporal.ZonedDateTime {
  const moment = parseTime(text, zone, now);
  return TIME_ONLY.test(text.trim()) && moment.epochMilliseconds <= now ? moment.add({ days: 1 }) : moment;
}

/** `Friday, 20 November 2026, 13:26 (Europe/Berlin)`. */
export function formatInWords(moment: Temporal.ZonedDateTime): string {
  wordsFormat ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short", hourCycle: "h23" });
  return `${wordsFormat.format(moment.toPlainDateTime())} (${moment.timeZoneId})`;
}
/** Created at first use, since its locale data costs 10 ms and 3 MB. */
let wordsFormat: Intl.DateTimeFormat | undefined;
