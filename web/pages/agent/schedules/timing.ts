// The times of a schedule as people choose them, as cron expressions, and in words of the viewer's language.

import { formatTime, language, t, timeLocale } from "../../../viewer/language.ts";
import { viewerZone } from "../../../viewer/time-zone.ts";

export type Rhythm = "minutes" | "hours" | "daily" | "weekdays" | "weekly" | "monthly" | "once" | "cron";

/** What the editor holds; each rhythm uses some of the fields. */
export interface Timing {
  rhythm: Rhythm;
  /** Minutes or hours between runs. */
  every: string;
  /** HH:MM. */
  time: string;
  /** Weekdays as in cron: 0 is Sunday. */
  days: readonly number[];
  dayOfMonth: string;
  /** Local time of a single run, YYYY-MM-DDTHH:MM. */
  moment: string;
  cron: string;
}

export const DEFAULT_TIMING: Timing = {
  rhythm: "daily",
  every: "30",
  time: "09:00",
  days: [1],
  dayOfMonth: "1",
  moment: "",
  cron: "0 9 * * *",
};

/** The fields of a request; undefined while something is missing. */
export function toRequest(timing: Timing): { cron: string } | { at: string } | undefined {
  const { rhythm, every, days, dayOfMonth, moment, cron } = timing;
  const [hour, minute] = timing.time.split(":").map(Number);
  const at =
    hour === undefined || minute === undefined || Number.isNaN(hour + minute) ? undefined : `${minute} ${hour}`;
  switch (rhythm) {
    case "minutes":
      return { cron: every === "1" ? "* * * * *" : `*/${every} * * * *` };
    case "hours":
      return { cron: every === "1" ? "0 * * * *" : `0 */${every} * * *` };
    case "once":
      return moment === "" ? undefined : { at: moment };
    case "cron":
      return cron.trim() === "" ? undefined : { cron: cron.trim() };
    default:
  }
  if (at === undefined) return undefined;
  if (rhythm === "daily") return { cron: `${at} * * *` };
  if (rhythm === "weekdays") return { cron: `${at} * * 1-5` };
  if (rhythm === "monthly") return { cron: `${at} ${dayOfMonth} * *` };
  return days.length === 0 ? undefined : { cron: `${at} * * ${days.toSorted((a, b) => a - b).join(",")}` };
}

const NAMED: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
};
const DAY_NAMES = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** The choices that stand for a cron expression; rhythm `cron` for one that they can't express. */
export function fromCron(text: string): Timing {
  const cron = text.trim();
  const custom: Timing = { ...DEFAULT_TIMING, rhythm: "cron", cron };
  const [minute = "", hour = "", day = "", month = "", weekday = "", more] = (NAMED[cron.toLowerCase()] ?? cron).split(
    /\s+/,
  );
  if (more !== undefined || !isAny(month)) return custom;
  const everyDay = isAny(day) && isAny(weekday);
  if (everyDay && hour === "*") {
    const every = minute === "*" ? "1" : /^(?:\*|0)\/(\d{1,2})$/.exec(minute)?.[1];
    if (every !== undefined) return { ...custom, rhythm: "minutes", every };
    if (minute === "0") return { ...custom, rhythm: "hours", every: "1" };
  }
  const hours = /^(?:\*|0)\/(\d{1,2})$/.exec(hour)?.[1];
  if (everyDay && minute === "0" && hours !== undefined) return { ...custom, rhythm: "hours", every: hours };
  if (!/^\d{1,2}$/.test(minute) || !/^\d{1,2}$/.test(hour)) return custom;
  const atTime = { ...custom, time: `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}` };
  if (everyDay) return { ...atTime, rhythm: "daily" };
  if (isAny(day)) {
    if (/^(?:1-5|MON-FRI)$/i.test(weekday)) return { ...atTime, rhythm: "weekdays" };
    const days = weekday.split(",").map(dayNumber);
    return days.every((one) => one >= 0) ? { ...atTime, rhythm: "weekly", days } : custom;
  }
  return isAny(weekday) && /^\d{1,2}$/.test(day) ? { ...atTime, rhythm: "monthly", dayOfMonth: day } : custom;
}

const isAny = (field: string) => field === "*" || field === "?";
const dayNumber = (field: string) =>
  /^[0-7]$/.test(field) ? Number(field) % 7 : DAY_NAMES.indexOf(field.toUpperCase());

/** `Every weekday at 09:00`. */
export function inWords({ cron, at }: { cron: string | null; at: string | null }): string {
  if (cron === null) return at === null ? "" : t("Once, on {time}", { time: formatTime(Date.parse(at)) });
  const { rhythm, every, days, dayOfMonth, ...rest } = fromCron(cron);
  const time = clockTime(rest.time);
  switch (rhythm) {
    case "minutes":
      return every === "1" ? t("Every minute") : t("Every {every} minutes", { every });
    case "hours":
      return every === "1" ? t("Every hour") : t("Every {every} hours", { every });
    case "daily":
      return t("Every day at {time}", { time });
    case "weekdays":
      return t("Every weekday at {time}", { time });
    case "weekly":
      return t("Every {days} at {time}", { days: listOf(days.map((day) => dayName(day, "long"))), time });
    case "monthly":
      return t("On day {day} of every month at {time}", { day: dayOfMonth, time });
    default:
      return t("By the cron text {cron}", { cron });
  }
}

/** `08:30` as the language writes it. */
const clockTime = (time: string) =>
  new Intl.DateTimeFormat(timeLocale, { hour: "2-digit", minute: "2-digit", timeZone: "UTC" }).format(
    Date.parse(`1970-01-01T${time}Z`),
  );

const listOf = (items: string[]) => new Intl.ListFormat(language, { type: "conjunction" }).format(items);

/** The name of a weekday; 0 is Sunday. 4 January 1970 was one. */
export const dayName = (day: number, form: "long" | "short") =>
  new Intl.DateTimeFormat(language, { weekday: form, timeZone: "UTC" }).format((day + 3) * 86_400_000);

export const OWN_ZONE = viewerZone;

export const timeZones = (): string[] => {
  const known = Intl.supportedValuesOf("timeZone");
  return known.includes("UTC") ? known : ["UTC", ...known];
};

/** A run, with its weekday: in the zone of the viewer, or another one. */
export const formatRun = (at: string, timeZone = OWN_ZONE): string =>
  formatTime(Date.parse(at), {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    timeZone,
  });

/** A moment as a field for date and time takes it, in a zone. */
export function toFieldTime(iso: string, timeZone: string): string {
  const options = { dateStyle: "short", timeStyle: "short", timeZone } as const;
  return new Intl.DateTimeFormat("sv-SE", options).format(Date.parse(iso)).replace(" ", "T");
}
