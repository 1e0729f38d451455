// Watches the continuous copy: its metrics, the backup that it needs, and the event when it is late. Loaded only if there is one.
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import type { CopyListener, CopyRound } from "./backup-work.ts";

/** A place may be away for a moment, and a first backup takes its time. */
const GRACE_MS = MINUTE;
const CHECK_INTERVAL_MS = MINUTE;
/** How long a backup that was asked for may be missing, or has failed, until it is asked for again. */
const ASK_AGAIN_MS = 5 * MINUTE;
const LATE_CHECK = "fleet.check-copy";

/** Times in epoch ms. */
export interface CopyHealth {
  /** The last moment that can be restored; undefined as long as none is known since the start. */
  copiedAt: number | undefined;
  /** Since when the copy stands still, if it is late. */
  lateSince: number | undefined;
  /** Why the last round has stored nothing. */
  problem: string | undefined;
  /** It has begun anew, and is put on top of a backup that is not there yet. */
  needsBackup: boolean;
}

interface Deps extends Pick<Kernel, "events" | "jobs" | "log" | "metrics"> {
  intervalMs: number;
  /** Begins a backup. Rejects with 409 while one is made. */
  beginBackup(): Promise<unknown>;
  /** Whether the latest backup has failed. */
  hasBackupFailed(): boolean;
  now?: () => number;
}

export function createCopyWatch({ intervalMs, beginBackup, hasBackupFailed, now = Date.now, ...kernel }: Deps) {
  const { events, jobs, log, metrics } = kernel;
  const startedAt = now();
  const lateMs = 2 * intervalMs + GRACE_MS;
  let copiedAt: number | undefined;
  let problem: string | undefined;
  let needsBackup = false;
  let asked: { at: number; chains: string } | undefined;
  let isReported = false;
  const segments = metrics.counter("berth_backup_copy_segments_total", "Segments that the continuous copy has stored.");
  const bytes = metrics.counter("berth_backup_copy_bytes_total", "Bytes that the continuous copy has stored.");
  const age = () => now() - (copiedAt ?? startedAt);
  const isLate = () => age() > lateMs;
  metrics.gauge(
    "berth_backup_copy_age_seconds",
    "Time since the last moment that the continuous copy can restore; since the start if there is none.",
    () => age() / 1000,
  );
  metrics.gauge("berth_backup_copy_late", "1 if the continuous copy has stood still for a minute.", () =>
    isLate() ? 1 : 0,
  );

  jobs.every(LATE_CHECK, CHECK_INTERVAL_MS, async () => {
    if (!isLate()) isReported = false;
    if (!isLate() || isReported) return;
    isReported = true;
    const data = { copiedAt: new Date(copiedAt ?? startedAt).toISOString(), error: problem ?? null };
    log.error("the continuous copy is late", data);
    return [events.recordStatement("backup.copy_late", { data })];
  });

  function askForBackup(chains: string): void {
    // If the copy has begun anew since it asked, that backup does not fit. What made one fail would make the next one fail, too.
    const isAnswered = asked && (asked.chains === chains || hasBackupFailed());
    if (asked && isAnswered && now() - asked.at < ASK_AGAIN_MS) return;
    const asking = { at: now(), chains };
    asked = asking;
    log.info("the continuous copy begins anew, with a backup");
    beginBackup().catch((error: unknown) => {
      // One that is being made may have begun too early: it is asked for again once it has ended.
      if (error instanceof AppError && error.code === "BACKUP_RUNNING") asking.at = now() - ASK_AGAIN_MS + 5 * SECOND;
      else log.warn("the backup for the continuous copy could not be begun", { error });
    });
  }

  const listener: CopyListener = {
    onRound(round: CopyRound) {
      segments.inc(round.segments);
      bytes.inc(round.bytes);
      if (round.problem !== undefined && round.problem !== problem)
        log.warn("the continuous copy could not be stored", { problem: log.redactForms(round.problem) });
      problem = round.problem && log.redactForms(round.problem).slice(0, 1000);
      if (round.copiedAt !== undefined) [copiedAt, asked, needsBackup] = [round.copiedAt, undefined, false];
      if (round.needsBackup === undefined) return;
      needsBackup = true;
      askForBackup(round.needsBackup);
    },
  };

  return {
    listener,
    health: (): CopyHealth => ({
      copiedAt,
      problem,
      needsBackup,
      lateSince: isLate() ? (copiedAt ?? startedAt) : undefined,
    }),
  };
}

export type CopyWatch = ReturnType<typeof createCopyWatch>;
