// Which of the backups that the continuous copy asks for are its own, and which are the schedule's.
import { expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { openServer } from "../../../tests/support/server.ts";
import { readHistory } from "./backup-runs.ts";

test("a backup for the continuous copy is marked as such, unless the schedule asks for one, too", async () => {
  await using server = await openServer({ env: { BACKUP_SCHEDULE: "@yearly" } });
  const { app, kernel } = server;
  const made: boolean[] = [];
  app.instance.registerBackupWork({
    async make({ name, isForCopy }) {
      made.push(isForCopy);
      return { name, bytes: 6, createdAt: Date.now(), verified: "opened" };
    },
    list: async () => [],
    read: async () => undefined,
    remove: async () => undefined,
  });
  await kernel.jobs.start();
  await app.start();
  const copy = await app.instance.listenToCopy();
  const ask = (needsBackup: string) =>
    copy.onRound({ copiedAt: undefined, bytes: 0, segments: 0, needsBackup, problem: undefined });
  ask("c1");
  await eventually(async () => (await readHistory(kernel.database)).newestAt !== undefined);
  ask("c2");
  await eventually(() => made.length === 2);
  expect(made).toEqual([false, true]);
});
