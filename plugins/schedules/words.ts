// Puts the times of a schedule into words, for people and for models.
import { formatInWords } from "../skills/index.ts";
import type { Timing } from "./timing.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
const DAY_NAMES: readonly string[] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const NICKNAMES: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

/** Such as `Every weekday at 09:00 (Europe/Berlin)`; rarer forms are quoted. */
export function inWords({ cron, at, timezone }: Timing): string {
  if (cron === null) {
    const moment = at === null ? "no day" : momentInWords(at, timezone);
    return `Once, on ${moment}`;
  }
  const words = cronInWords(cron) ?? `By the cron expression ${cron}`;
  return `${words} (${timezone})`;
}

function cronInWords(text: string): string | undefined {
  const cron = NICKNAMES[text.trim().toLowerCase()] ?? text.trim();
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = cron.split(/\s+/);
  const everyDay = isAny(day) && isAny(month) && isAny(weekday);
  const minutes = /^(?:\*|0)\/(\d+)$/.exec(minute)?.[1];
  const hours = /^(?:\*|0)\/(\d+)$/.exec(hour)?.[1];
  if (everyDay && hour === "*") {
    if (minute === "*") return "Every minute";
    // Other steps begin anew with the hour.
    if (minutes !== undefined) return 60 % Number(minutes) === 0 ? `Every ${minutes} minutes` : undefined;
    if (isNumber(minute)) return minute === "0" ? "Every hour" : `Every hour, ${minute} minutes past`;
  }
  if (!isNumber(minute)) return undefined;
  if (everyDay && hours !== undefined && 24 % Number(hours) === 0)
    return `Every ${hours} hours, ${minute} minutes past`;
  if (!isNumber(hour) || !isAny(month)) return undefined;
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (everyDay) return `Every day at ${time}`;
  if (isAny(day) && /^(?:1-5|MON-FRI)$/i.test(weekday)) return `Every weekday at ${time}`;
  if (isAny(day)) {
    const names = weekday.split(",").map(dayName);
    if (names.includes(undefined)) return undefined;
    // The forms with two and three days have translations.
    const [first, second, third] = names;
    if (names.length === 2) return `Every ${first} and ${second} at ${time}`;
    if (names.length === 3) return `Every ${first}, ${second} and ${third} at ${time}`;
    return `Every ${names.join(", ")} at ${time}`;
  }
  return isNumber(day) && isAny(weekday) ? `On day ${day} of every month at ${time}` : undefined;
}

const isAny = (field: string) => field === "*" || field === "?";
const isNumber = (field: string) => /^\d{1,2}$/.test(field);

function dayName(field: string): string | undefined {
  const index = /^[0-7]$/.test(field) ? Number(field) % 7 : DAY_NAMES.indexOf(field.toUpperCase());
  return DAYS[index];
}

/** `Friday, 20 November 2026, 13:26 (Europe/Berlin)`. */
export const momentInWords = (at: number, timezone: string) =>
  formatInWords(Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone));
