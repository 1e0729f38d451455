// The copy at its default interval, in a time of its own: whenever the disk goes, no more than the last ten seconds are gone with it.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { silent } from "../../../../tests/support/database.ts";
import { openDatabase } from "../../../kernel/database/database.ts";
import { MINUTE, SECOND } from "../../../kernel/util/time.ts";
import { makeBackup } from "../make-backup.ts";
import { openStorage } from "../place/open-storage.ts";
import type { BackupStorage } from "../place/storage.ts";
import { restoreBackup } from "../restore-backup.ts";
import { type BackupFolder, openBackupFolder, withDatabase } from "../support.test.ts";
import type { CopyMessage } from "./copy-message.ts";
import { follow } from "./follow.ts";
import { createLogKeeper } from "./log-keeper.ts";

/** What the documentation promises. */
const LIMIT_MS = 10 * SECOND;
/** A place as slow as it may be for that. */
const UPLOAD_MS = 4 * SECOND;
const CHECKED_EVERY_MS = 3 * SECOND;

let dir: BackupFolder;
beforeEach(async () => {
  dir = await openBackupFolder((at) => ({ BACKUP_TO: at("to"), BACKUP_CONTINUOUS: "true" }));
});
afterEach(() => dir.remove());

/** As after the loss of the disk: what is in the place is all there is. */
async function restoredKeys(): Promise<Set<string>> {
  rmSync(dir.at("new"), { recursive: true, force: true });
  await restoreBackup(dir.configOf({}, "new"), "latest");
  return withDatabase(dir.at("new"), async ({ read }) => {
    const { rows } = await read("SELECT key FROM meta");
    return new Set(rows.map(({ key }) => String(key)));
  });
}

test("at most ten seconds are lost with the disk, whenever it goes, and also while a segment is on its way", async () => {
  const config = dir.configOf();
  const database = await openDatabase({
    url: `file:${dir.at("data")}/berth.db`,
    dataDir: dir.at("data"),
    log: silent,
    keepLog: createLogKeeper,
  });
  let now = Date.now();
  let hasBase = false;
  /** When each write was acknowledged. */
  const written = new Map<string, number>();
  const lost: number[] = [];
  /** Time passes, in which somebody writes every second. */
  async function pass(ms: number): Promise<void> {
    for (const until = now + ms; now < until; ) {
      now = Math.min(until, now + SECOND);
      const key = `k${written.size}`;
      await database.write([{ sql: "INSERT INTO meta VALUES (?, 'x')", args: [key] }]);
      written.set(key, now);
      if (hasBase && written.size % (CHECKED_EVERY_MS / SECOND) === 0) lost.push(await lostNow());
    }
  }
  async function lostNow(): Promise<number> {
    const there = await restoredKeys();
    const [oldest] = [...written].filter(([key]) => !there.has(key));
    return oldest ? now - oldest[1] : 0;
  }
  const storage = openStorage(config);
  const slow: BackupStorage = {
    ...storage,
    async write(...given) {
      if (hasBase) await pass(UPLOAD_MS);
      return storage.write(...given);
    },
  };
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const end = now + MINUTE;
  let message: CopyMessage | undefined;
  const told = (next: CopyMessage) => {
    message = next;
  };
  async function sleep(ms: number): Promise<void> {
    // As the service does.
    if (message?.needsBackup) await makeBackup(config, { now });
    hasBase ||= message?.needsBackup !== undefined;
    await pass(ms);
    if (now > end) stop();
  }
  await follow(config, told, stopped, { storage: slow, now: () => now, sleep });
  await database.close();
  expect(lost.length).toBeGreaterThan(12);
  // Something is, or nothing was tested.
  expect(Math.max(...lost)).toBeGreaterThan(UPLOAD_MS);
  expect(Math.max(...lost)).toBeLessThan(LIMIT_MS);
});
