// Makes backups at the times of BACKUP_SCHEDULE, tries a failed one again, and says when they are late. Made only if there is a schedule.
import type { Statement } from "../../../src/kernel/database/database.ts";
import { StartError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { type CronTimes, InvalidCron, readCron, requireRuns } from "../../../src/kernel/util/cron/cron.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import type { BackupHistory } from "./backup-runs.ts";

/** The first backup is made soon after the start, so that a mistake in the settings shows at once. */
const FIRST_DELAY_MS = 3 * SECOND;
const RETRY_DELAY_MS = 15 * MINUTE;
const MAX_RETRIES = 2;
/** A backup may take its time, and a service may be restarted, before it counts as late. */
const GRACE_MS = HOUR;
const CHECK_INTERVAL_MS = 15 * MINUTE;
const LATE_CHECK = "fleet.check-backups";

export interface BackupSchedule {
  /** Reads the expression, and plans the next backup. Throws StartError for one that can't be read. */
  start(): Promise<void>;
  /** The statements that plan the backup after one that has ended. */
  nextStatements(history: BackupHistory, retry: number): Statement[];
  /** Whether a planned backup is due: the schedule may have changed since. */
  isDue(history: BackupHistory, retry: number): boolean;
  /** The time, epoch ms, since which a good backup is missing. */
  lateSince(history: BackupHistory): number | undefined;
}

interface Deps extends Pick<Kernel, "database" | "events" | "jobs" | "log" | "metrics"> {
  expression: string;
  /** The statement that plans a backup at this time. */
  plan(runAt: number, retry: number): Statement;
  /** As far as it is known. */
  history(): BackupHistory | undefined;
  readHistory(): Promise<BackupHistory>;
  now?: () => number;
}

export function createBackupSchedule(deps: Deps): BackupSchedule {
  const { expression, database, events, jobs, log, metrics, plan, history, readHistory, now = Date.now } = deps;
  const startedAt = now();
  let cron: CronTimes | undefined;
  /** The newest good backup when an event said that they are late. */
  let reported: { newestAt: number | undefined } | undefined;

  function lateSince({ newestAt }: BackupHistory): number | undefined {
    const expected = cron?.next(newestAt ?? startedAt);
    return expected !== undefined && now() > expected + GRACE_MS ? expected : undefined;
  }

  metrics.gauge("berth_backup_age_seconds", "Time since the newest verified backup was begun.", () => {
    const newestAt = history()?.newestAt;
    return newestAt === undefined ? Number.POSITIVE_INFINITY : (now() - newestAt) / 1000;
  });
  metrics.gauge("berth_backup_late", "1 if the backup that BACKUP_SCHEDULE asks for is missing for an hour.", () => {
    const known = history();
    return known && lateSince(known) !== undefined ? 1 : 0;
  });

  jobs.every(LATE_CHECK, CHECK_INTERVAL_MS, async () => {
    const known = await readHistory();
    const late = lateSince(known);
    if (late === undefined || (reported && reported.newestAt === known.newestAt)) return;
    reported = { newestAt: known.newestAt };
    const expectedAt = new Date(late).toISOString();
    const newestAt = known.newestAt === undefined ? null : new Date(known.newestAt).toISOString();
    log.error("a backup is late", { expectedAt, newestAt });
    return [events.recordStatement("backup.late", { data: { expectedAt, newestAt } })];
  });

  return {
    async start() {
      cron = await readSchedule(expression, now());
      const { latestAt } = await readHistory();
      const due = latestAt === undefined ? 0 : (cron.next(latestAt) ?? 0);
      await database.write([plan(Math.max(now() + FIRST_DELAY_MS, due), 0)]);
    },
    isDue({ latestAt }, retry) {
      if (retry > 0 || latestAt === undefined) return true;
      const due = cron?.next(latestAt);
      return due !== undefined && due <= now();
    },
    nextStatements({ latestAt, failure }, retry) {
      const due = cron?.next(latestAt ?? now());
      if (due === undefined) return [];
      const again = now() + RETRY_DELAY_MS;
      return failure && retry < MAX_RETRIES && again < due ? [plan(again, retry + 1)] : [plan(due, 0)];
    },
    lateSince,
  };
}

/** In the time zone of the machine. Throws StartError for an expression that can't be read or never comes. */
export async function readSchedule(expression: string, from = Date.now()): Promise<CronTimes> {
  try {
    const cron = await readCron(expression, Intl.DateTimeFormat().resolvedOptions().timeZone);
    requireRuns(cron, from);
    return cron;
  } catch (error) {
    if (error instanceof InvalidCron) throw new StartError(`BACKUP_SCHEDULE: ${error.message}`, { cause: error });
    throw error;
  }
}
