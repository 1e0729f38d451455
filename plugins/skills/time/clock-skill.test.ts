// Tests the clock skill: time zones, calendar arithmetic, and the formats that it reads.
import { describe, expect, test } from "bun:test";
import { silent } from "../../../tests/support/database.ts";
import { callTool, toolContext } from "../../../tests/support/skills.ts";
import { prepareTool } from "../prepared-tool.ts";
import { clockSkill } from "./clock-skill.ts";
import { parseNextTime, parseTime } from "./time-parsing.ts";

async function ask(input: object, timezone = "Europe/Berlin") {
  const [tool] = clockSkill.tools("agent");
  if (!tool) throw new Error("The clock has no tool.");
  const { ok, text } = await callTool(prepareTool(tool, "clock", silent), input, toolContext("agent", { timezone }));
  return ok ? JSON.parse(text) : text;
}

test("returns the current time in the agent's zone or the given one", async () => {
  const before = Math.floor(Date.now() / 1000) * 1000;
  const here = await ask({});
  expect(Date.parse(here.dateTime)).toBeWithin(before, Date.now() + 1);
  expect(here.timezone).toBe("Europe/Berlin");
  expect(await ask({ at: "2026-03-01T12:00:00Z", timezone: "Asia/Tokyo" })).toEqual({
    dateTime: "2026-03-01T21:00:00+09:00",
    date: "2026-03-01",
    time: "21:00",
    weekday: "Sunday",
    timezone: "Asia/Tokyo",
    inWords: "Sunday, 1 March 2026 at 21:00 (Asia/Tokyo)",
  });
});

test("declines an unknown zone; uses UTC for an agent whose own zone is unknown", async () => {
  expect(await ask({ timezone: "Mars/Olympus" })).toContain("Mars/Olympus");
  expect((await ask({ at: "2026-01-01" }, "Nowhere")).dateTime).toBe("2026-01-01T00:00:00+00:00");
});

test("a text of any length is declined at once", () => {
  for (const text of ["T".repeat(100_000), `${"1".repeat(100_000)}Z`]) {
    expect(() => parseTime(text, "UTC")).toThrow("is not a time");
  }
});

describe("adding", () => {
  test.each([
    ["2024-01-31", { months: 1 }, "2024-02-29T00:00:00+01:00"],
    ["2026-03-28T02:30", { days: 1 }, "2026-03-29T03:30:00+02:00"],
    ["2026-03-28T12:00", { days: 1 }, "2026-03-29T12:00:00+02:00"],
    ["2026-03-28T12:00", { hours: 24 }, "2026-03-29T13:00:00+02:00"],
    ["2026-01-01", { years: 1, months: -1 }, "2026-12-01T00:00:00+01:00"],
    ["2026-01-01", { weeks: -1, minutes: 90 }, "2025-12-25T01:30:00+01:00"],
  ])("%s and %j is %s", async (at, add, dateTime) => {
    expect((await ask({ at, add })).dateTime).toBe(dateTime);
  });

  test("declines amounts that are too large or unknown", async () => {
    expect(await ask({ at: "2026-01-01", add: { years: 900_000 } })).toContain("too far");
    expect(await ask({ at: "2026-01-01", add: { fortnights: 2 } })).toContain("add.fortnights: is not known");
  });
});

describe("measuring", () => {
  test("returns calendar units, days and minutes", async () => {
    expect((await ask({ at: "2026-01-30", until: "2026-03-01T12:30" })).until).toEqual({
      inWords: "1 month, 1 day, 12 hours, 30 minutes",
      calendarDays: 30,
      minutes: 43_950,
      weekday: "Sunday",
    });
  });
  test("works backwards, and for the same time", async () => {
    expect((await ask({ at: "2026-01-02", until: "2026-01-01" })).until).toMatchObject({
      inWords: "1 day earlier",
      calendarDays: -1,
    });
    expect((await ask({ at: "2026-01-02", until: "2026-01-02" })).until.inWords).toBe("the same minute");
  });
});

describe("parsing times", () => {
  const now = Date.parse("2026-06-15T12:00:00Z");
  test.each([
    ["now", "2026-06-15T14:00:00+02:00"],
    ["2026-03-01", "2026-03-01T00:00:00+01:00"],
    ["2026-03-01 15:30", "2026-03-01T15:30:00+01:00"],
    ["2026-03-01T15:30", "2026-03-01T15:30:00+01:00"],
    ["2026-03-01T15:30:00.000Z", "2026-03-01T16:30:00+01:00"],
    ["2026-03-01T15:30+03:00", "2026-03-01T13:30:00+01:00"],
    ["09:15", "2026-06-15T09:15:00+02:00"],
  ])("%s", (text, expected) => {
    const moment = parseTime(text, "Europe/Berlin", now);
    expect(moment.toString({ timeZoneName: "never", smallestUnit: "second" })).toBe(expected);
  });

  test.each(["", "tomorrow", "2026-02-30", "25:00", "2026-13-01T00:00", "1e9"])("%j is declined", (text) => {
    expect(() => parseTime(text, "Europe/Berlin", now)).toThrow("not a time I can read");
  });

  test("a time alone is its next occurrence", () => {
    expect(parseNextTime("13:59", "Europe/Berlin", now).toPlainDate().toString()).toBe("2026-06-16");
    expect(parseNextTime("14:01", "Europe/Berlin", now).toPlainDate().toString()).toBe("2026-06-15");
  });
});
