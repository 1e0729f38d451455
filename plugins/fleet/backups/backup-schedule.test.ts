// When scheduled backups are made, tried again, and late.
import { afterAll, describe, expect, test } from "bun:test";
import { StartError } from "../../../src/kernel/errors.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { openServer } from "../../../tests/support/server.ts";
import { type BackupHistory, readHistory, recordStatements } from "./backup-runs.ts";
import { createBackupSchedule } from "./backup-schedule.ts";

const server = await openServer();
const { kernel } = server;
afterAll(() => server[Symbol.asyncDispose]());

/** A full hour. */
const NOON = Date.parse("2026-11-26T12:00:00.000Z");
const NEVER: BackupHistory = { newestAt: undefined, latestAt: undefined, failure: undefined };
const good = (at: number): BackupHistory => ({ newestAt: at, latestAt: at, failure: undefined });
const failed = (at: number, newestAt?: number): BackupHistory => ({
  newestAt,
  latestAt: at,
  failure: { at, error: "full" },
});

let count = 0;
/** A schedule for each full hour, with a history and a clock of its own. */
function hourly(history: BackupHistory, expression = "0 * * * *") {
  const clock = { at: NOON };
  const planned: [at: number, retry: number][] = [];
  const plan = (at: number, retry: number) => {
    planned.push([(at - NOON) / MINUTE, retry]);
    return { sql: "SELECT 1", args: [] };
  };
  const gauges = new Map<string, () => number>();
  const name = `check-${count++}`;
  const schedule = createBackupSchedule({
    ...kernel,
    jobs: { ...kernel.jobs, every: (_, ...rest) => kernel.jobs.every(name, ...rest) },
    metrics: {
      ...kernel.metrics,
      gauge: (gauge: string, _: string, read: unknown) => gauges.set(gauge, read as () => number),
    },
    expression,
    plan,
    history: () => history,
    readHistory: async () => history,
    now: () => clock.at,
  });
  return { schedule, clock, planned, read: (gauge: string) => gauges.get(gauge)?.() };
}

describe("after a start", () => {
  test.each([
    ["the first is made at once", NEVER, 3 / 60],
    ["the next comes at its time", good(NOON - 10 * MINUTE), 3 / 60],
    ["a young one is followed at the next hour", good(NOON + 1), 60],
    ["what was slept through is made up for", good(NOON - DAY), 3 / 60],
  ])("%s", async (_, history, minutes) => {
    const { schedule, planned } = hourly(history);
    await schedule.start();
    expect(planned).toEqual([[minutes, 0]]);
  });

  test("an expression that never comes is refused with the name of the setting", async () => {
    for (const wrong of ["0 3 31 2 *", "x y z a b"]) {
      const starting = hourly(NEVER, wrong).schedule.start();
      await expect(starting).rejects.toThrow(StartError);
      await expect(starting).rejects.toThrow("BACKUP_SCHEDULE");
    }
  });
});

describe("after a backup", () => {
  test("a good one is followed at the next time; a failed one is tried twice more, then at the next time", async () => {
    const { schedule, planned } = hourly(good(NOON));
    await schedule.start();
    planned.length = 0;
    schedule.nextStatements(good(NOON), 0);
    schedule.nextStatements(failed(NOON), 0);
    schedule.nextStatements(failed(NOON), 1);
    schedule.nextStatements(failed(NOON), 2);
    expect(planned).toEqual([
      [60, 0],
      [15, 1],
      [15, 2],
      [60, 0],
    ]);
  });

  test("one that was planned by an earlier schedule waits for the time of the present one", async () => {
    const { schedule, clock } = hourly(NEVER);
    await schedule.start();
    expect(schedule.isDue(good(NOON), 0)).toBe(false);
    expect(schedule.isDue(good(NOON), 1)).toBe(true);
    clock.at += HOUR;
    expect(schedule.isDue(good(NOON), 0)).toBe(true);
  });
});

describe("late", () => {
  test("is what is missing for an hour after its time, by the newest good one", async () => {
    const { schedule, clock, read } = hourly(failed(NOON + HOUR, NOON));
    await schedule.start();
    clock.at = NOON + 2 * HOUR;
    expect(schedule.lateSince(good(NOON))).toBeUndefined();
    expect([read("berth_backup_age_seconds"), read("berth_backup_late")]).toEqual([7200, 0]);
    clock.at += SECOND;
    expect(schedule.lateSince(good(NOON))).toBe(NOON + HOUR);
    expect(schedule.lateSince(NEVER)).toBe(NOON + HOUR);
    expect([read("berth_backup_age_seconds"), read("berth_backup_late")]).toEqual([7201, 1]);
    expect(schedule.lateSince(good(NOON + HOUR))).toBeUndefined();
  });

  test("without any good one, the age is infinite, so that every alert sees it", async () => {
    const { read } = hourly(NEVER);
    expect(read("berth_backup_age_seconds")).toBe(Number.POSITIVE_INFINITY);
  });
});

test("the history outlives a restart: the newest good one, and the failure of the latest", async () => {
  const run = { name: "berth.tar.gz", bytes: 5, error: null };
  expect(await readHistory(kernel.database)).toEqual(NEVER);
  await kernel.database.write(recordStatements({ ...run, startedAt: 1000, endedAt: 2000 }));
  expect(await readHistory(kernel.database)).toEqual(good(1000));
  await kernel.database.write(recordStatements({ ...run, startedAt: 3000, endedAt: 4000, bytes: null, error: "full" }));
  expect(await readHistory(kernel.database)).toEqual({
    newestAt: 1000,
    latestAt: 3000,
    failure: { at: 4000, error: "full" },
  });
  for (let at = 5000; at < 5300; at++)
    await kernel.database.write(recordStatements({ ...run, startedAt: at, endedAt: at }));
  const { rows } = await kernel.database.read("SELECT count(*) AS count FROM backup_runs");
  expect(rows[0]).toMatchObject({ count: 200 });
});
