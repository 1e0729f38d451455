// Tests when schedules run: around changes of the clocks, in several zones, and after times were missed.
import { describe, expect, test } from "bun:test";
import { InvalidCron } from "../../src/kernel/util/cron/cron.ts";
import { DAY, HOUR, MINUTE } from "../../src/kernel/util/time.ts";
import type { MissedPolicy } from "./schema.ts";
import { nextRuns, parseMoment, planRuns } from "./timing.ts";
import { inWords } from "./words.ts";

const runsOf = async (cron: string, timezone: string, from: string) =>
  (await nextRuns({ cron, at: null, timezone }, Date.parse(from))).map((at) => new Date(at).toISOString().slice(0, 16));

describe("around a change of the clocks", () => {
  test("a time that does not exist runs once, when the skipped hour ends", async () => {
    // Berlin: 29 March 2026, 02:00 becomes 03:00.
    expect((await runsOf("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z")).slice(0, 2)).toEqual([
      "2026-03-29T01:00",
      "2026-03-30T00:30",
    ]);
    // New York: 8 March 2026.
    expect((await runsOf("30 2 * * *", "America/New_York", "2026-03-07T12:00Z")).slice(0, 2)).toEqual([
      "2026-03-08T07:00",
      "2026-03-09T06:30",
    ]);
  });

  test("a time that comes twice runs once, the first time", async () => {
    // Berlin: 25 October 2026, 03:00 becomes 02:00.
    expect((await runsOf("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z")).slice(0, 2)).toEqual([
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
    expect((await runsOf("30 1 * * *", "America/New_York", "2026-10-31T12:00Z")).slice(0, 2)).toEqual([
      "2026-11-01T05:30",
      "2026-11-02T06:30",
    ]);
    // Asked between both.
    expect((await runsOf("30 2 * * *", "Europe/Berlin", "2026-10-25T00:45Z"))[0]).toBe("2026-10-26T01:30");
  });

  test.each(["2026-03-29T00:00Z", "2026-10-25T00:00Z"])("steps stay even from %s", async (from) => {
    const runs = (await runsOf("*/30 * * * *", "Europe/Berlin", from)).map((at) => Date.parse(`${at}Z`));
    expect(runs.map((at) => at - Date.parse(from))).toEqual([1, 2, 3, 4, 5].map((n) => n * 30 * MINUTE));
  });

  test.each([
    // Vienna: 28 March 2027, 02:00 becomes 03:00 (01:00Z).
    ["30 2,14 28 3 *", "2027-03-27T12:00Z", ["2027-03-28T01:00", "2027-03-28T12:30"]],
    ["*/15 2 28 3 *", "2027-03-27T12:00Z", ["2027-03-28T01:00", "2028-03-28T00:00"]],
    ["15,45 2-3 28 3 *", "2027-03-27T12:00Z", ["2027-03-28T01:00", "2027-03-28T01:15", "2027-03-28T01:45"]],
    // 31 October 2027, 03:00 becomes 02:00 (01:00Z).
    ["30 2,3 31 10 *", "2027-10-30T12:00Z", ["2027-10-31T00:30", "2027-10-31T02:30", "2028-10-31T01:30"]],
    ["0 */2 31 10 *", "2027-10-30T21:59Z", ["2027-10-30T22:00", "2027-10-31T00:00", "2027-10-31T03:00"]],
    ["*/15 2 31 10 *", "2027-10-31T00:20Z", ["2027-10-31T00:30", "2027-10-31T00:45", "2028-10-31T01:00"]],
  ])("several times of a day are neither lost nor doubled: %s", async (cron, from, expected) => {
    expect((await runsOf(cron, "Europe/Vienna", from)).slice(0, expected.length)).toEqual(expected);
  });

  test("a single moment that is skipped is when the skipped hour ends", () => {
    expect(new Date(parseMoment("2027-03-28T02:30", "Europe/Vienna") ?? 0).toISOString()).toBe(
      "2027-03-28T01:00:00.000Z",
    );
    expect(new Date(parseMoment("2027-10-31T02:30", "Europe/Vienna") ?? 0).toISOString()).toBe(
      "2027-10-31T00:30:00.000Z",
    );
  });

  test("noon is noon in every zone", async () => {
    expect((await runsOf("0 12 * * *", "Asia/Tokyo", "2026-03-29T00:00Z"))[0]).toBe("2026-03-29T03:00");
    expect((await runsOf("0 12 * * *", "America/New_York", "2026-03-29T00:00Z"))[0]).toBe("2026-03-29T16:00");
    expect((await runsOf("0 12 * * *", "Asia/Kathmandu", "2026-03-29T00:00Z"))[0]).toBe("2026-03-29T06:15");
  });
});

describe("the problem is named", () => {
  test.each([
    ["nonsense", "UTC", /five fields/],
    ["* * * * * *", "UTC", /Seconds/],
    ["0 9 1 1 * 2030", "UTC", /Seconds/],
    ["2030-01-01T00:00", "UTC", /five fields/],
    ["0 0 31 2 *", "UTC", /never comes/],
    ["99 * * * *", "UTC", /five fields/],
    ["@reboot", "UTC", /five fields|never/],
    ["0 9 * * *", "Europe/Atlantis", /no time zone/],
  ])("of %s in %s", async (cron, timezone, message) => {
    const failed = await nextRuns({ cron, at: null, timezone }, Date.now()).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(InvalidCron);
    expect(String(failed)).toMatch(message);
  });

  test("of a time that is over", async () => {
    const now = Date.now();
    expect(nextRuns({ cron: null, at: now, timezone: "UTC" }, now)).rejects.toThrow("over");
    expect(await nextRuns({ cron: null, at: now + 1, timezone: "UTC" }, now)).toEqual([now + 1]);
  });
});

describe("missed times", () => {
  const noon = Date.parse("2026-06-01T12:00:00Z");
  const plan = (missed: MissedPolicy, late: number, cron: string | null = "0 12 * * *") =>
    planRuns({ cron, timezone: "UTC", missed, nextRunAt: noon }, noon + late);

  test.each(["skip", "once", "all"] as const)("on time, %s runs once and goes on", async (policy) => {
    const expected = { runs: [{ dueAt: noon, cause: "time", missed: 0 }], skipped: undefined, next: noon + DAY };
    expect(await plan(policy, 0)).toEqual(expected as never);
    expect(await plan(policy, 4 * MINUTE)).toEqual(expected as never);
  });

  test("skip leaves them out, but not the one that is due now", async () => {
    expect(await plan("skip", HOUR)).toEqual({
      runs: [],
      skipped: { dueAt: noon, cause: "missed", missed: 0 },
      next: noon + DAY,
    });
    expect(await plan("skip", 2 * DAY + MINUTE)).toEqual({
      runs: [{ dueAt: noon + 2 * DAY, cause: "time", missed: 0 }],
      skipped: { dueAt: noon + DAY, cause: "missed", missed: 1 },
      next: noon + 3 * DAY,
    });
  });

  test("once runs one for all", async () => {
    expect((await plan("once", 3 * DAY + HOUR)).runs).toEqual([{ dueAt: noon + 3 * DAY, cause: "missed", missed: 3 }]);
    expect((await plan("once", 3 * DAY)).runs).toEqual([{ dueAt: noon + 3 * DAY, cause: "time", missed: 3 }]);
  });

  test("all runs each, a hundred at most", async () => {
    const { runs, next } = await plan("all", 2 * DAY + HOUR);
    expect(runs.map(({ dueAt, cause }) => [dueAt, cause])).toEqual([0, 1, 2].map((n) => [noon + n * DAY, "missed"]));
    expect(next).toBe(noon + 3 * DAY);
    const many = await plan("all", 400 * DAY);
    expect(many.runs.length).toBeLessThanOrEqual(101);
    expect(many.next).toBe(noon + 401 * DAY);
  });

  test("a single run does not come again", async () => {
    expect(await plan("once", DAY, null)).toEqual({
      runs: [{ dueAt: noon, cause: "missed", missed: 0 }],
      skipped: undefined,
      next: null,
    });
  });

  test("a year of minutes is planned without holding up other work", async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const { runs } = await plan("once", 365 * DAY, "* * * * *");
    clearInterval(timer);
    expect(runs).toHaveLength(1);
    expect(ticks).toBeGreaterThan(0);
  });
});

test("moments are read in the zone unless they have an offset", () => {
  expect(parseMoment("2030-01-31T09:00", "Asia/Tokyo")).toBe(Date.parse("2030-01-31T00:00Z"));
  expect(parseMoment("2030-01-31T09:00:00+01:00", "Asia/Tokyo")).toBe(Date.parse("2030-01-31T08:00Z"));
  expect(parseMoment("2030-01-31 09:00Z", "Asia/Tokyo")).toBe(Date.parse("2030-01-31T09:00Z"));
  for (const text of ["tomorrow", "2030-13-01T00:00", ""]) expect(parseMoment(text, "UTC")).toBeUndefined();
});

test.each([
  ["* * * * *", "Every minute (UTC)"],
  ["*/15 * * * *", "Every 15 minutes (UTC)"],
  ["5 * * * *", "Every hour, 5 minutes past (UTC)"],
  ["@daily", "Every day at 00:00 (UTC)"],
  ["30 9 * * 1-5", "Every weekday at 09:30 (UTC)"],
  ["0 9 * * MON,4", "Every Monday and Thursday at 09:00 (UTC)"],
  ["0 9 1 * *", "On day 1 of every month at 09:00 (UTC)"],
  ["0 9 L * *", "By the cron expression 0 9 L * * (UTC)"],
])("%s is %s", (cron, words) => expect(inWords({ cron, at: null, timezone: "UTC" })).toBe(words));
