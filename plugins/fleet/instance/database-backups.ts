// Makes backups of the whole database as a background job, and lists, hands out and deletes their files.
import { chmod, mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Statement } from "../../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { HOUR } from "../../../src/kernel/util/time.ts";
import { BACKUP_NAME, backupFolder, newestDatabaseBackup, timeOfBackup } from "./backup-files.ts";

/** Writes a checked copy of the database to this path, without blocking the service. Rejects with a sentence for admins. */
export type BackUpDatabase = (target: string, signal: AbortSignal) => Promise<void>;

/** A backup file, or one that is being written or could not be. */
export interface DatabaseBackup {
  name: string;
  state: "waiting" | "running" | "done" | "failed";
  /** 0 to 1, by the size of the database. */
  progress: number;
  bytes: number;
  /** Epoch ms. */
  createdAt: number;
  error: string | null;
}

const JOB = "fleet.back-up-database";
const UNFINISHED = ".unfinished";
/** A copy takes seconds to minutes; a job that hangs must end some time. */
const TIMEOUT_MS = 6 * HOUR;

type Deps = Pick<Kernel, "config" | "database" | "jobs" | "log">;

export function createDatabaseBackups({ config, database, jobs, log }: Deps) {
  const folder = backupFolder(config.dataDir);
  let backUp: BackUpDatabase | undefined;
  /** The latest backup that this process was asked for. */
  let current: { name: string; state: DatabaseBackup["state"]; error: string | null } | undefined;

  const bytesOf = async (path: string) => (await stat(path).catch(() => undefined))?.size ?? 0;

  jobs.handle(
    JOB,
    async (payload, { signal }) => {
      const name = String((payload as { name?: unknown }).name);
      if (!backUp || !BACKUP_NAME.test(name)) return;
      current = { name, state: "running", error: null };
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        // Left by a process that was killed while it wrote.
        for (const file of await readdir(folder)) {
          if (file.endsWith(UNFINISHED) || file === name) await rm(join(folder, file), { force: true });
        }
        await backUp(join(folder, name), signal);
        await chmod(join(folder, name), 0o600);
        current = { name, state: "done", error: null };
      } catch (error) {
        // Not tried again by itself: the admin sees why it failed, and a full disk would only get fuller.
        const text = error instanceof Error ? error.message : String(error);
        log.error("a backup of the database failed", { error });
        current = { name, state: "failed", error: text };
      }
    },
    { concurrency: 1, timeoutMs: TIMEOUT_MS },
  );

  async function pending(): Promise<DatabaseBackup[]> {
    if (!current || current.state === "done") return [];
    const { name, state, error } = current;
    const written = await bytesOf(join(folder, name + UNFINISHED));
    const expected = database.file === undefined ? 0 : await bytesOf(database.file);
    // The last part is the check of the copy.
    const progress = state === "running" && expected > 0 ? Math.min(0.95, written / expected) : 0;
    return [{ name, state, progress, bytes: written, createdAt: timeOfBackup(name), error }];
  }

  async function pathOf(name: string): Promise<string> {
    const path = join(folder, name);
    if (!BACKUP_NAME.test(name) || !(await Bun.file(path).exists()))
      throw notFound("There is no such backup.", "BACKUP_NOT_FOUND");
    return path;
  }

  return {
    /** Sets how a copy is written; until then there are no backups. */
    registerDatabaseBackup(write: BackUpDatabase): void {
      backUp = write;
    },

    /** Newest first. */
    async list(): Promise<DatabaseBackup[]> {
      const names = (await readdir(folder).catch(() => [])).filter((name) => BACKUP_NAME.test(name));
      const files = await Promise.all(
        names.map(async (name): Promise<DatabaseBackup> => {
          const bytes = await bytesOf(join(folder, name));
          return { name, state: "done", progress: 1, bytes, createdAt: timeOfBackup(name), error: null };
        }),
      );
      const waiting = (await pending()).filter(({ name }) => !names.includes(name));
      return [...files, ...waiting].sort((a, b) => b.createdAt - a.createdAt);
    },

    /**
     * Begins a backup, in one write with the given statements. 409 `DATABASE_ON_SERVER`, 409 `BACKUP_RUNNING`.
     */
    async begin(statementsFor: (name: string) => Statement[], now = Date.now()): Promise<DatabaseBackup> {
      if (database.file === undefined || !backUp) {
        throw new AppError(409, "DATABASE_ON_SERVER", "The database is on a server. Use that server's own backup.");
      }
      if (current?.state === "running" || current?.state === "waiting") {
        throw new AppError(409, "BACKUP_RUNNING", "A backup is being made already. Wait until it has ended.");
      }
      const name = `berth-${new Date(now).toISOString().replace(/[:.]/g, "-")}.db`;
      const earlier = current;
      current = { name, state: "waiting", error: null };
      try {
        const job = jobs.enqueueStatement(JOB, { name }, { uniqueKey: "database" });
        await database.write([job, ...statementsFor(name)]);
      } catch (error) {
        current = earlier;
        throw error;
      }
      return { name, state: "waiting", progress: 0, bytes: 0, createdAt: now, error: null };
    },

    /** 404 `BACKUP_NOT_FOUND`. */
    pathOf,

    /** 404 `BACKUP_NOT_FOUND`. */
    async remove(name: string): Promise<void> {
      await rm(await pathOf(name), { force: true });
    },

    /** When the newest backup was made, epoch ms; undefined without one. */
    async newest(): Promise<number | undefined> {
      return (await newestDatabaseBackup(config.dataDir))?.createdAt;
    },
  };
}

export type DatabaseBackups = ReturnType<typeof createDatabaseBackups>;
