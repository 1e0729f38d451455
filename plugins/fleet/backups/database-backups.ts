// Makes backups of the whole service as background jobs, by hand and by schedule, and lists, hands out and deletes them.
import type { Statement } from "../../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { backupSettings } from "../settings.ts";
import { type BackupHistory, readHistory, recordStatements } from "./backup-runs.ts";
import type { BackupSchedule } from "./backup-schedule.ts";
import type { BackupWork, CopyListener, KeptBackup, MakeOptions } from "./backup-work.ts";
import type { CopyHealth, CopyWatch } from "./copy-watch.ts";

/** A backup, or one that is being made or could not be. */
export interface DatabaseBackup {
  name: string;
  state: "waiting" | "running" | "done" | "failed";
  /** 0 to 1. */
  progress: number;
  bytes: number;
  /** Epoch ms. */
  createdAt: number;
  error: string | null;
}

/** Loaded at the first use, since few services make a backup soon after their start. */
const backupNames = () => import("./backup-names.ts");

const JOB = "fleet.back-up-database";
/** A backup takes seconds to minutes; a job that hangs must end some time. */
const TIMEOUT_MS = 6 * HOUR;
/** How long the list of a place is kept: a bucket is asked over the network. */
const LIST_MS = { folder: SECOND, s3: MINUTE };

type Deps = Pick<Kernel, "cells" | "config" | "database" | "events" | "files" | "jobs" | "log" | "metrics">;

export function createDatabaseBackups(kernel: Deps) {
  const { cells, config, database, events, files, jobs, log, metrics } = kernel;
  const { schedule: expression, to, recipients, continuousMs } = config.of(backupSettings);
  let work: BackupWork | undefined;
  /** The latest backup that this process was asked for. */
  let current: Pick<DatabaseBackup, "name" | "state" | "error" | "progress"> | undefined;
  let history: BackupHistory | undefined;
  let listed: { at: number; backups: Promise<readonly KeptBackup[]> } | undefined;
  /** The first cell makes the backup of all. */
  const isFirst = cells === undefined || cells.here === 0;
  const planStatement = (runAt: number, retry: number) =>
    jobs.enqueueStatement(JOB, { retry }, { uniqueKey: "schedule", runAt });
  const load = async () => {
    history = await readHistory(database);
    return history;
  };
  const isScheduled = expression !== undefined && isFirst && database.file !== undefined;
  /** Once it has been started. */
  let schedule: BackupSchedule | undefined;
  let copy: CopyWatch | undefined;
  const failures = isScheduled && metrics.counter("berth_backup_failures_total", "Backups that failed.");

  /** What is complete, or an empty list if its place can't be read now. */
  function listKept(): Promise<readonly KeptBackup[]> {
    if (!work) return Promise.resolve([]);
    if (!listed || Date.now() - listed.at > LIST_MS[to.kind]) {
      const backups = work.list().catch((error: unknown) => {
        log.warn("the backups could not be listed", { error });
        return [];
      });
      listed = { at: Date.now(), backups };
    }
    return listed.backups;
  }

  /** In a cluster, this machine may not have all files yet. */
  async function bringFiles(): Promise<void> {
    if (!files) return;
    const { KEPT_FOLDERS } = await import("../../../src/kernel/files.ts");
    for (const folder of KEPT_FOLDERS) for (const { path } of await files.list(`${folder}/`)) await files.bring(path);
  }

  /** Returns the statements that record how it ended. It never throws: a failure is shown, and the schedule tries again. */
  async function make(
    maker: BackupWork,
    { name, isForCopy, signal }: Omit<MakeOptions, "onProgress">,
  ): Promise<Statement[]> {
    const startedAt = Date.now();
    const running = { name, state: "running" as const, error: null, progress: 0 };
    current = running;
    try {
      await bringFiles();
      const onProgress = (progress: number) => void Object.assign(running, { progress });
      const { bytes, verified } = await maker.make({ name, isForCopy, signal, onProgress });
      current = { ...running, state: "done", progress: 1 };
      const endedAt = Date.now();
      history = { newestAt: startedAt, latestAt: startedAt, failure: undefined };
      log.info("a backup was made", { name, bytes, verified, seconds: (endedAt - startedAt) / 1000 });
      const seconds = Math.round((endedAt - startedAt) / 1000);
      return [
        ...recordStatements({ name, startedAt, endedAt, bytes, error: null }),
        events.recordStatement("backup.completed", { data: { name, bytes, verified, seconds } }),
      ];
    } catch (cause) {
      const error = log.redactForms(cause instanceof Error ? cause.message : String(cause)).slice(0, 1000);
      // A stop of the service is no failure: the job runs again after the next start.
      if (signal.aborted) {
        current = undefined;
        throw cause;
      }
      log.error("a backup failed", { name, error: cause });
      if (failures) failures.inc();
      current = { ...running, state: "failed", error };
      const endedAt = Date.now();
      history = { newestAt: history?.newestAt, latestAt: startedAt, failure: { at: endedAt, error } };
      return [
        ...recordStatements({ name, startedAt, endedAt, bytes: null, error }),
        events.recordStatement("backup.failed", { data: { name, error } }),
      ];
    } finally {
      listed = undefined;
    }
  }

  /** A job that is due before the schedule was started is planned again by the start. */
  async function runPlanned(retry: number, maker: BackupWork, signal: AbortSignal): Promise<Statement[]> {
    if (!schedule) return [];
    const before = await load();
    if (!schedule.isDue(before, retry)) return schedule.nextStatements({ ...before, failure: undefined }, 0);
    const { backupNameAt } = await backupNames();
    const name = backupNameAt(Date.now(), recipients.length > 0);
    const ended = await make(maker, { name, isForCopy: false, signal });
    return [...ended, ...(history ? schedule.nextStatements(history, retry) : [])];
  }

  jobs.handle(
    JOB,
    async (payload, { signal }) => {
      if (!work) return;
      const { name, isForCopy = false, retry = 0 } = payload as { name?: string; isForCopy?: boolean; retry?: number };
      if (name === undefined) return runPlanned(retry, work, signal);
      const { isArchiveName } = await backupNames();
      if (!isArchiveName(name)) return [];
      // If the schedule asks for one, too, that is it: a second one is not made.
      const isScheduledToo = isForCopy && schedule?.isDue(await load(), 0);
      return make(work, { name, isForCopy: isForCopy && !isScheduledToo, signal });
    },
    { concurrency: 1, timeoutMs: TIMEOUT_MS },
  );

  async function pending(): Promise<DatabaseBackup[]> {
    if (!current || current.state === "done") return [];
    const pending = current;
    const { timeOfBackup } = await backupNames();
    return [{ ...pending, bytes: 0, createdAt: timeOfBackup(pending.name) }];
  }

  const service = {
    /** Sets what makes backups; until then there are none. */
    registerBackupWork(registered: BackupWork): void {
      work = registered;
    },

    /** Throws StartError for a schedule that can't be read or never comes. */
    async check(): Promise<void> {
      if (isScheduled) await (await import("./backup-schedule.ts")).readSchedule(expression);
    },

    async start(): Promise<void> {
      if (!isScheduled) return;
      const { createBackupSchedule } = await import("./backup-schedule.ts");
      const deps = { ...kernel, expression, plan: planStatement, history: () => history, readHistory: load };
      schedule = createBackupSchedule(deps);
      await schedule.start();
    },

    /** Begins to watch the continuous copy. Returns what is told how it goes. */
    async listenToCopy(): Promise<CopyListener> {
      const { createCopyWatch } = await import("./copy-watch.ts");
      copy = createCopyWatch({
        ...kernel,
        intervalMs: continuousMs ?? 0,
        beginBackup: () => service.begin(() => [], { isForCopy: true }),
        hasBackupFailed: () => current?.state === "failed",
      });
      return copy.listener;
    },

    /** Newest first. */
    async list(): Promise<DatabaseBackup[]> {
      const kept = (await listKept()).map(
        ({ name, bytes, createdAt }): DatabaseBackup => ({
          name,
          state: "done",
          progress: 1,
          bytes,
          createdAt,
          error: null,
        }),
      );
      const waiting = (await pending()).filter(({ name }) => !kept.some((backup) => backup.name === name));
      return [...kept, ...waiting].sort((a, b) => b.createdAt - a.createdAt);
    },

    /**
     * Begins a backup, in one write with the given statements. 409 `DATABASE_ON_SERVER`, 409 `BACKUP_BY_COMMAND`, 409
     * `BACKUP_RUNNING`.
     */
    async begin(
      statementsFor: (name: string) => Statement[],
      { isForCopy = false }: { isForCopy?: boolean } = {},
    ): Promise<DatabaseBackup> {
      const now = Date.now();
      const { backupNameAt } = await backupNames();
      const name = backupNameAt(now, recipients.length > 0);
      if (database.file === undefined || !work) {
        throw new AppError(409, "DATABASE_ON_SERVER", "The database is on a server. Use that server's own backup.");
      }
      if (!isFirst) {
        throw new AppError(
          409,
          "BACKUP_BY_COMMAND",
          "A backup made here would have only a part of the accounts. Run berth backup on the machine, which takes in all cells.",
        );
      }
      if (current?.state === "running" || current?.state === "waiting") {
        throw new AppError(409, "BACKUP_RUNNING", "A backup is being made already. Wait until it has ended.");
      }
      const earlier = current;
      current = { name, state: "waiting", error: null, progress: 0 };
      try {
        const job = jobs.enqueueStatement(JOB, { name, isForCopy }, { uniqueKey: "database" });
        await database.write([job, ...statementsFor(name)]);
      } catch (error) {
        current = earlier;
        throw error;
      }
      return { name, state: "waiting", progress: 0, bytes: 0, createdAt: now, error: null };
    },

    /** 404 `BACKUP_NOT_FOUND`. */
    async require(name: string): Promise<void> {
      if (!(await isBackupName(name)) || !(await listKept()).some((backup) => backup.name === name))
        throw backupNotFound();
    },

    /** 404 `BACKUP_NOT_FOUND`. */
    async read(name: string): Promise<{ body: ReadableStream<Uint8Array>; bytes: number }> {
      const found = (await isBackupName(name)) ? await work?.read(name) : undefined;
      if (!found) throw backupNotFound();
      return found;
    },

    async remove(name: string): Promise<void> {
      await work?.remove(name);
      listed = undefined;
    },

    /** What admins should know. Times in epoch ms. */
    async health(): Promise<BackupHistory & { lateSince: number | undefined; copy: CopyHealth | undefined }> {
      const [known, kept] = await Promise.all([load(), listKept()]);
      // Others may be made by commands.
      const newestAt = Math.max(known.newestAt ?? 0, ...kept.map(({ createdAt }) => createdAt)) || undefined;
      const all = { ...known, newestAt };
      return { ...all, lateSince: schedule?.lateSince(all), copy: copy?.health() };
    },
  };
  return service;
}

const isBackupName = async (name: string): Promise<boolean> => (await backupNames()).isBackupName(name);

const backupNotFound = () => notFound("There is no such backup.", "BACKUP_NOT_FOUND");

export type DatabaseBackups = ReturnType<typeof createDatabaseBackups>;
