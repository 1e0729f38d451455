// Tests that the editor's choices become cron expressions, and are found again in them.
import { describe, expect, test } from "bun:test";
import { DEFAULT_TIMING, dayName, fromCron, inWords, type Timing, toRequest } from "./timing.ts";

describe("the choices", () => {
  test.each([
    [{ rhythm: "minutes", every: "15" }, "*/15 * * * *", "Every 15 minutes"],
    [{ rhythm: "minutes", every: "1" }, "* * * * *", "Every minute"],
    [{ rhythm: "hours", every: "1" }, "0 * * * *", "Every hour"],
    [{ rhythm: "hours", every: "6" }, "0 */6 * * *", "Every 6 hours"],
    [{ rhythm: "daily", time: "08:05" }, "5 8 * * *", "Every day at 08:05 AM"],
    [{ rhythm: "weekdays", time: "17:30" }, "30 17 * * 1-5", "Every weekday at 05:30 PM"],
    [{ rhythm: "weekly", time: "09:00", days: [4, 1] }, "0 9 * * 1,4", "Every Monday and Thursday at 09:00 AM"],
    [{ rhythm: "monthly", time: "09:00", dayOfMonth: "15" }, "0 9 15 * *", "On day 15 of every month at 09:00 AM"],
  ] as [Partial<Timing>, string, string][])("%j are %s", (choice, cron, words) => {
    expect(toRequest({ ...DEFAULT_TIMING, ...choice })).toEqual({ cron });
    const { rhythm, days, ...found } = fromCron(cron);
    const expected = { ...choice, ...(choice.days && { days: choice.days.toSorted() }) };
    expect({ rhythm, days, ...found }).toMatchObject(expected as never);
    expect(inWords({ cron, at: null }).replaceAll("\u202f", " ")).toBe(words);
  });

  test.each(["0 9 L * *", "0 9 * JAN *", "15W * * * *", "0 9 1 * MON", "1-5 9 * * *", "nonsense", "0 9 * * MON-WED"])(
    "%s stays a cron text",
    (cron) => {
      expect(fromCron(cron)).toMatchObject({ rhythm: "cron", cron });
      expect(inWords({ cron, at: null })).toContain(cron);
    },
  );

  test("are nothing while something is missing", () => {
    for (const timing of [
      { rhythm: "daily", time: "" },
      { rhythm: "weekly", days: [] },
      { rhythm: "once", moment: "" },
      { rhythm: "cron", cron: " " },
    ] as Partial<Timing>[]) {
      expect(toRequest({ ...DEFAULT_TIMING, ...timing })).toBeUndefined();
    }
  });

  test("know the names of days", () => {
    expect([0, 1, 6].map((day) => dayName(day, "long"))).toEqual(["Sunday", "Monday", "Saturday"]);
  });
});
