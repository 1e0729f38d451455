// The clock skill: the current or another time in any time zone, additions to it, and the duration between two times.
import { Type as t } from "@sinclair/typebox";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { defineTool, type Skill, toolDeclined } from "../skill.ts";
import { formatInWords, parseTime, resolveTimeZone } from "./time-parsing.ts";

const amount = t.Optional(t.Integer({ minimum: -1_000_000, maximum: 1_000_000 }));

const clockTool = defineTool({
  name: "clock",
  class: "read",
  description:
    "The current date, time and weekday. Also looks at another moment (`at`), moves it (`add`), or measures how long it is until another (`until`). Use it for every question about dates, instead of reckoning yourself.",
  input: t.Object({
    timezone: t.Optional(
      t.String({ description: "IANA name, such as Asia/Tokyo. Default: this agent's.", maxLength: 64 }),
    ),
    at: t.Optional(t.String({ description: "The moment to look at, ISO 8601. Default: now.", maxLength: 64 })),
    add: t.Optional(
      t.Object(
        { years: amount, months: amount, weeks: amount, days: amount, hours: amount, minutes: amount },
        { description: "What to add to it; negative takes away.", additionalProperties: false },
      ),
    ),
    until: t.Optional(t.String({ description: "Measures from `at` to this moment, ISO 8601.", maxLength: 64 })),
  }),
  execute({ timezone, at, add, until }, context) {
    const zone = resolveTimeZone(timezone, context.timezone);
    const now = Date.now();
    const moment = addDuration(parseTime(at ?? "now", zone, now), add);
    return {
      dateTime: moment.toString({ timeZoneName: "never", smallestUnit: "second" }),
      date: moment.toPlainDate().toString(),
      time: moment.toPlainTime().toString({ smallestUnit: "minute" }),
      weekday: moment.toLocaleString("en", { weekday: "long" }),
      timezone: zone,
      inWords: formatInWords(moment),
      ...(until === undefined ? {} : { until: durationBetween(moment, parseTime(until, zone, now)) }),
    };
  },
});

interface DurationParts {
  years?: number;
  months?: number;
  weeks?: number;
  days?: number;
  hours?: number;
  minutes?: number;
}

/**
 * Adds years to days by the calendar and hours and minutes by elapsed time, so that both are right across a clock
 * change.
 */
function addDuration(moment: Temporal.ZonedDateTime, add: DurationParts | undefined): Temporal.ZonedDateTime {
  if (!add || Object.keys(add).length === 0) return moment;
  try {
    const { hours = 0, minutes = 0, ...calendar } = add;
    const moved = Object.keys(calendar).length > 0 ? moment.add(withOneSign(calendar)) : moment;
    return moved.add({ minutes: hours * 60 + minutes });
  } catch (error) {
    if (error instanceof RangeError) throw toolDeclined("That date is too far away. Use a smaller amount.");
    throw error;
  }
}

/**
 * Sums years with months and weeks with days, since a Temporal duration can't mix signs; declines what remains mixed.
 */
function withOneSign({ years = 0, months = 0, weeks = 0, days = 0 }: DurationParts): DurationParts {
  const allMonths = years * 12 + months;
  const allDays = weeks * 7 + days;
  if (allMonths * allDays < 0) throw toolDeclined("Add and take away in two calls.");
  return { months: allMonths, days: allDays };
}

function durationBetween(from: Temporal.ZonedDateTime, to: Temporal.ZonedDateTime) {
  const { sign, years, months, days, hours, minutes } = from.until(to, {
    largestUnit: "years",
    smallestUnit: "minutes",
  });
  const parts = Object.entries({ years, months, days, hours, minutes })
    .map(([unit, count]) => [unit, Math.abs(count)] as const)
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => `${count} ${count === 1 ? unit.slice(0, -1) : unit}`);
  const calendarDays = from.toPlainDate().until(to.toPlainDate(), { largestUnit: "days" }).days;
  return {
    inWords: parts.length === 0 ? "the same minute" : `${parts.join(", ")}${sign < 0 ? " earlier" : ""}`,
    calendarDays,
    minutes: Math.round((to.epochMilliseconds - from.epochMilliseconds) / MINUTE),
    weekday: to.toLocaleString("en", { weekday: "long" }),
  };
}

const tools = [clockTool];

export const clockSkill: Skill = {
  id: "clock",
  name: "Clock",
  description: "Knows the date and time in any time zone, and reckons with dates.",
  category: "core",
  version: "1.0.0",
  enabledByDefault: true,
  tools: () => tools,
};
