// When the continuous copy counts as late, and when a backup is asked for.
import { expect, test } from "bun:test";
import { AppError } from "../../../src/kernel/errors.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { openServer } from "../../../tests/support/server.ts";
import type { CopyRound } from "./backup-work.ts";
import { createCopyWatch } from "./copy-watch.ts";

const NOON = Date.parse("2026-11-26T12:00:00.000Z");
const ROUND: CopyRound = { copiedAt: undefined, bytes: 0, segments: 0, needsBackup: false, problem: undefined };

async function watch(beginBackup: () => Promise<unknown> = async () => undefined) {
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
  expect(copy.health()).toEqual({ copiedAt: NOON, lateSince: NOON, problem: "The disk of /mnt is full." });
  expect(await copy.check()).toHaveLength(1);
  expect(await copy.check()).toBeUndefined();
  copy.listener.onRound({ ...ROUND, copiedAt: copy.clock.at });
  expect([copy.read("late"), await copy.check(), copy.health().problem]).toEqual([0, undefined, undefined]);
});

test("without any round since the start, it is late by the time of the start", async () => {
  await using copy = await watch();
  copy.clock.at = NOON + 2 * MINUTE;
  expect(copy.health()).toEqual({ copiedAt: undefined, lateSince: NOON, problem: undefined });
});

test("a backup is asked for once, and again if it does not come", async () => {
  await using copy = await watch();
  for (let n = 0; n < 3; n++) copy.listener.onRound({ ...ROUND, needsBackup: true });
  expect(copy.asked()).toBe(1);
  copy.clock.at += 5 * MINUTE;
  copy.listener.onRound({ ...ROUND, needsBackup: true });
  expect(copy.asked()).toBe(2);
});

test("while one is made that has begun too early, it is asked for again within seconds", async () => {
  await using copy = await watch(async () => {
    throw new AppError(409, "BACKUP_RUNNING", "A backup is being made already.");
  });
  copy.listener.onRound({ ...ROUND, needsBackup: true });
  await Promise.resolve();
  copy.clock.at += 5 * SECOND;
  copy.listener.onRound({ ...ROUND, needsBackup: true });
  expect(copy.asked()).toBe(2);
});
