// What the overview says about backups: a failure before lateness, and lateness before age.
import { expect, test } from "bun:test";
import { DAY } from "../../../../src/kernel/util/time.ts";
import { backupProblems } from "./backup-problems.ts";

const NOW = Date.parse("2026-11-26T12:00:00.000Z");
const GOOD = { newestAt: NOW - 1000, databaseCreatedAt: NOW - 90 * DAY, failure: undefined, lateSince: undefined };
const codes = (backups: Parameters<typeof backupProblems>[0]) =>
  backupProblems(backups, NOW).map(({ code, severity }) => `${severity} ${code}`);

test("a young backup is no problem, nor is a database on a server", () => {
  expect([codes(GOOD), codes(undefined)]).toEqual([[], []]);
});

test("a failure is said with its reason, and hides what follows from it", () => {
  const failed = { ...GOOD, failure: { at: NOW, error: "The disk of /backups is full." }, lateSince: NOW - DAY };
  expect(codes(failed)).toEqual(["error BACKUP_FAILED"]);
  expect(backupProblems(failed, NOW)[0]?.message).toContain("The disk of /backups is full.");
});

test("a continuous copy that stands still is an error of its own, with the reason", () => {
  const copy = { lateSince: NOW - DAY, problem: "s3://b can't be used: no.", needsBackup: false };
  expect(codes({ ...GOOD, copy, lateSince: NOW - DAY })).toEqual(["error BACKUP_COPY_LATE", "error BACKUP_LATE"]);
  expect(backupProblems({ ...GOOD, copy }, NOW)[0]?.message).toContain("since 2026-11-25T12:00:00.000Z: s3://b");
  expect(codes({ ...GOOD, copy: { lateSince: undefined, problem: "one round failed", needsBackup: false } })).toEqual(
    [],
  );
});

test("one that has begun anew waits for its backup, which the service or a command makes", () => {
  const copy = { lateSince: NOW - DAY, problem: undefined, needsBackup: true };
  const [waits] = backupProblems({ ...GOOD, copy }, NOW);
  expect(waits).toMatchObject({ code: "BACKUP_COPY_WAITS", severity: "error" });
  expect(waits?.message).toContain("since 2026-11-25T12:00:00.000Z: it has begun anew");
  expect(waits?.action).toContain("berth backup");
});

test("one that is missing is an error; without a schedule, an old one or none is a hint", () => {
  expect(codes({ ...GOOD, lateSince: NOW - DAY })).toEqual(["error BACKUP_LATE"]);
  expect(codes({ ...GOOD, newestAt: NOW - 8 * DAY })).toEqual(["info OLD_BACKUP"]);
  expect(codes({ ...GOOD, newestAt: undefined })).toEqual(["info NO_BACKUP"]);
  expect(codes({ ...GOOD, newestAt: undefined, databaseCreatedAt: NOW - DAY })).toEqual([]);
});
