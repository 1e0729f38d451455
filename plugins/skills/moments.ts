// Points in time as models write them, read in a time zone.
import { declined } from "./tool.ts";

/** The zone by its name; the agent's own when none is named, UTC when that one is not valid. Throws for an unknown name. */
export function zoneOf(named: string | undefined, own: string): string {
  if (named !== undefined) {
    if (isZone(named)) return named;
    throw declined(`There is no time zone "${named}". Use an IANA name such as Europe/Berlin.`);
  }
  return isZone(own) ? own : "UTC";
}

function isZone(name: string): boolean {
  try {
    Temporal.Now.zonedDateTimeISO(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * ISO 8601 with or without an offset, a date alone (its midnight), or a time alone (today's). What has no offset is
 * meant in `zone`. Throws what the model should do instead.
 */
export function momentOf(text: string, zone: string, now = Date.now()): Temporal.ZonedDateTime {
  const here = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone);
  const moment = text.trim();
  if (/^now$/i.test(moment)) return here;
  try {
    if (TIME_ALONE.test(moment)) return here.withPlainTime(Temporal.PlainTime.from(moment));
    if (HAS_OFFSET.test(moment)) return Temporal.Instant.from(moment).toZonedDateTimeISO(zone);
    return Temporal.PlainDateTime.from(moment).toZonedDateTime(zone);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw declined(`"${text}" is not a time I can read. Write it like 2026-03-01T15:30 or 2026-03-01T15:30+01:00.`);
  }
}
const TIME_ALONE = /^\d{1,2}:\d{2}(:\d{2})?$/;
const HAS_OFFSET = /T.*(Z|[+-]\d{2}:?\d{2})(\[.*\])?$|\d (Z|[+-]\d{2}:?\d{2})$/i;

/** The next time it is that o'clock, where `text` names no date; otherwise the moment itself. */
export function nextMoment(text: string, zone: string, now = Date.now()): Temporal.ZonedDateTime {
  const moment = momentOf(text, zone, now);
  return TIME_ALONE.test(text.trim()) && moment.epochMilliseconds <= now ? moment.add({ days: 1 }) : moment;
}

/** `Friday, 20 November 2026, 13:26 (Europe/Berlin)`. */
export function inWords(moment: Temporal.ZonedDateTime): string {
  words ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short", hourCycle: "h23" });
  return `${words.format(moment.toPlainDateTime())} (${moment.timeZoneId})`;
}
/** Made at first use: the locale data behind it costs 10 ms and 3 MB. */
let words: Intl.DateTimeFormat | undefined;
