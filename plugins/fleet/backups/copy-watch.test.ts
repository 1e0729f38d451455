// When the continuous copy counts as late, and when a backup is asked for.
import { expect, test } from "bun:test";
import { AppError } from "../../../src/kernel/errors.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { openServer } from "../../../tests/support/server.ts";
import type { CopyRound } from "./backup-work.ts";
import { createCopyWatch } from "./copy-watch.ts";

const NOON = Date.parse("2026-11-26T12:00:00.000Z");
const ROUND: CopyRound = { copiedAt: undefined, bytes: 0, segments: 0, needsBackup: undefined, problem: undefined };

async function watch(beginBackup: () => Promise<unknown> = async () => undefined, hasBackupFailed = () => false) {
  const server = await openServer();
  const { kernel } = server;
  const clock = { at: NOON };
  const gauges = new Map<string, () => number>();
  let check: () => Promise<unknown> = async () => undefined;
  let asked = 0;
  const copy = createCopyWatch({
    ...kernel,
    jobs: {
      ...kernel.jobs,
      every(_, __, handler) {
        check = handler as typeof check;
      },
    },
    metrics: {
      ...kernel.metrics,
      gauge: (name: string, _: string, read: unknown) => gauges.set(name, read as () => number),
    },
    intervalMs: 5 * SECOND,
    beginBackup: () => {
      asked++;
      return beginBackup();
    },
    hasBackupFailed,
    now: () => clock.at,
  });
  return {
    ...copy,
    clock,
    check: () => check(),
    asked: () => asked,
    read: (name: string) => gauges.get(`berth_backup_copy_${name}`)?.(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test("it is late once it has stood still for a minute more than two rounds, which is said once, with the reason", async () => {
  await using copy = await watch();
  copy.listener.onRound({ ...ROUND, copiedAt: NOON });
  copy.clock.at = NOON + MINUTE + 10 * SECOND;
  expect([copy.read("age_seconds"), copy.read("late"), await copy.check()]).toEqual([70, 0, undefined]);
  copy.listener.onRound({ ...ROUND, problem: "The disk of /mnt is full." });
  copy.clock.at++;
  expect(copy.read("late")).toBe(1);
  expect(copy.health()).toEqual({
    copiedAt: NOON,
    lateSince: NOON,
    problem: "The disk of /mnt is full.",
    needsBackup: false,
  });
  expect(await copy.check()).toHaveLength(1);
  expect(await copy.check()).toBeUndefined();
  copy.listener.onRound({ ...ROUND, copiedAt: copy.clock.at });
  expect([copy.read("late"), await copy.check(), copy.health().problem]).toEqual([0, undefined, undefined]);
});

test("without any round since the start, it is late by the time of the start", async () => {
  await using copy = await watch();
  copy.clock.at = NOON + 2 * MINUTE;
  expect(copy.health()).toEqual({ copiedAt: undefined, lateSince: NOON, problem: undefined, needsBackup: false });
});

test("a backup is asked for once, and again if it does not come", async () => {
  await using copy = await watch();
  for (let n = 0; n < 3; n++) copy.listener.onRound({ ...ROUND, needsBackup: "c1" });
  expect(copy.asked()).toBe(1);
  copy.clock.at += 5 * MINUTE;
  copy.listener.onRound({ ...ROUND, needsBackup: "c1" });
  expect(copy.asked()).toBe(2);
});

test("if it begins anew again before it has seen the backup, the next one is asked for at once", async () => {
  await using copy = await watch();
  copy.listener.onRound({ ...ROUND, needsBackup: "c1" });
  copy.clock.at += 5 * SECOND;
  copy.listener.onRound({ ...ROUND, needsBackup: "c2" });
  expect(copy.asked()).toBe(2);
  copy.listener.onRound({ ...ROUND, needsBackup: "c2" });
  expect([copy.asked(), copy.health().needsBackup]).toEqual([2, true]);
  copy.listener.onRound({ ...ROUND, copiedAt: copy.clock.at });
  expect(copy.health().needsBackup).toBe(false);
});

test("after one that has failed, it is asked for in five minutes, however often the copy begins anew", async () => {
  let hasFailed = false;
  await using copy = await watch(undefined, () => hasFailed);
  copy.listener.onRound({ ...ROUND, needsBackup: "c1" });
  hasFailed = true;
  copy.listener.onRound({ ...ROUND, needsBackup: "c2" });
  expect(copy.asked()).toBe(1);
  copy.clock.at += 5 * MINUTE;
  copy.listener.onRound({ ...ROUND, needsBackup: "c3" });
  expect(copy.asked()).toBe(2);
});

test("while one is made that has begun too early, it is asked for again within seconds", async () => {
  await using copy = await watch(async () => {
    throw new AppError(409, "BACKUP_RUNNING", "A backup is being made already.");
  });
  copy.listener.onRound({ ...ROUND, needsBackup: "c1" });
  await Promise.resolve();
  copy.clock.at += 5 * SECOND;
  copy.listener.onRound({ ...ROUND, needsBackup: "c1" });
  expect(copy.asked()).toBe(2);
});
