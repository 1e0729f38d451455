// Says when a snapshot is due, and deletes the log that no copy needs any more.
import type { Log } from "../../kernel/telemetry/log.ts";
import { MINUTE, SECOND } from "../../kernel/util/time.ts";
import type { LogEngine } from "../engine.ts";
import type { Snapshots } from "./snapshots.ts";

export interface ScheduleDeps {
  snapshots: Snapshots;
  engine: LogEngine;
  file: string;
  log: Log;
  /** Whether this node takes them now. */
  isOurs(): boolean;
  /** The last entry that the file has applied. */
  number(): number;
  lookMs?: number;
  /** Epoch ms. */
  now?: () => number;
}

const LOOK_MS = 20_000;
const MAX_AGE_MS = 15 * MINUTE;
/** One that fails may have sent almost all of itself. */
const MAX_PAUSE_MS = 5 * MINUTE;
/** The log goes back to the snapshot before the newest one. */
const MAX_LOG_BYTES = 512 * 1024 * 1024;

export function createSnapshotSchedule({
  snapshots,
  engine,
  file,
  log,
  isOurs,
  number,
  lookMs = LOOK_MS,
  now = Date.now,
}: ScheduleDeps): {
  stop(): void;
} {
  let isLooking = false;
  let pauseMs = 0;
  /** Monotonic ms. */
  let nextAt = 0;

  async function look(): Promise<void> {
    if (isLooking || !isOurs() || performance.now() < nextAt) return;
    isLooking = true;
    try {
      const [newest] = await snapshots.list();
      if (newest && newest.number >= number()) return;
      // By the clock of the machine that took it, which may differ from this one.
      const isOld = newest === undefined || Math.abs(now() - newest.takenAt) > MAX_AGE_MS;
      if (!isOld && (await engine.bounds()).bytes < MAX_LOG_BYTES) return;
      const taken = await snapshots.take(file);
      pauseMs = 0;
      const [, older] = await snapshots.list();
      if (older) await engine.trim(older.number);
      log.info("a snapshot was taken", { number: taken.number, bytes: taken.size });
    } catch (error) {
      pauseMs = Math.min(Math.max(lookMs, pauseMs * 2), MAX_PAUSE_MS);
      nextAt = performance.now() + pauseMs;
      log.warn("a snapshot could not be taken", { nextTryInSeconds: Math.ceil(pauseMs / SECOND), error });
    } finally {
      isLooking = false;
    }
  }

  const timer = setInterval(look, lookMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
