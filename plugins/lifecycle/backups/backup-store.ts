// Stores backup files: a folder for each agent, named by time, of which the newest 20 are kept.
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../src/kernel/errors.ts";
import type { SharedFiles } from "../../../src/kernel/files.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { isAgentId } from "../../agents/index.ts";
import { writeElements } from "./backup-file.ts";

/** Backups kept of each agent. */
export const MAX_BACKUPS = 20;
const FOLDER = "backups";
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.json\.gz$/;
/** How long the folder of a missing agent stays: an operator may restore a database in which the agent exists. */
const ORPHAN_RETENTION_MS = 7 * DAY;

export interface StoredBackup {
  /** Relative to the data folder. */
  path: string;
  /** The absolute path. */
  file: string;
  /** Bytes. */
  size: number;
  /** Epoch ms. */
  createdAt: number;
}

export interface BackupStore {
  /**
   * Writes a backup; returns its path relative to the data folder. Throws 500 `BACKUP_FAILED`, with no file left
   * behind.
   */
  write(agentId: string, elements: AsyncIterable<string>): Promise<string>;
  /**
   * The absolute path of this agent's backup, which is not deleted until `unpin`. 400 `UNKNOWN_BACKUP` unless `write`
   * returned `path`.
   */
  pin(agentId: string, path: string): Promise<string>;
  unpin(path: string): void;
  /** The backups of an agent, newest first. */
  list(agentId: string): Promise<StoredBackup[]>;
  /** Deletes those that were made at this time (epoch ms) or later; returns how many. */
  removeSince(agentId: string, since: number): Promise<number>;
  /** Deletes all backups of an agent. */
  remove(agentId: string): Promise<void>;
  /** Deletes the folders of missing agents after a week. */
  deleteOrphans(exists: (agentId: string) => Promise<boolean>): Promise<void>;
}

export interface BackupStoreDeps {
  dataDir: string;
  log: Log;
  /** In a cluster: where the other machines find the files. */
  files?: SharedFiles | undefined;
}

export function createBackupStore({ dataDir, log, files: shared }: BackupStoreDeps): BackupStore {
  const root = join(dataDir, FOLDER);
  const pinned = new Set<string>();
  const folderOf = (agentId: string) => join(root, agentId);
  const pathOf = (agentId: string, name: string) => `${FOLDER}/${agentId}/${name}`;
  /** Of what is kept for all machines, by name. */
  const keptOf = async (agentId: string) => {
    const kept = (await shared?.list(`${FOLDER}/${agentId}/`)) ?? [];
    return new Map(kept.map(({ path, size }) => [path.slice(path.lastIndexOf("/") + 1), { path, size }]));
  };

  /**
   * Deletes old backups, and files that a killed process left unfinished: no other backup of the agent is being
   * written.
   */
  async function prune(agentId: string): Promise<void> {
    const files = await readdir(folderOf(agentId));
    const names = new Set([...files, ...(await keptOf(agentId)).keys()]);
    const old = [...names]
      .filter((file) => NAME.test(file))
      .sort()
      .reverse()
      .slice(MAX_BACKUPS);
    const unpinned = old.filter((name) => !pinned.has(pathOf(agentId, name)));
    const obsolete = [...unpinned, ...files.filter(isUnfinished)];
    await Promise.all(obsolete.map((name) => rm(join(folderOf(agentId), name), { force: true })));
    await shared?.forget(unpinned.map((name) => pathOf(agentId, name)));
  }

  return {
    async write(agentId, elements) {
      const folder = folderOf(agentId);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const taken = new Set(await readdir(folder));
        let at = Date.now();
        while (taken.has(nameAt(at))) at++;
        const name = nameAt(at);
        await writeElements(join(folder, name), elements);
        await shared?.keep(pathOf(agentId, name));
        // The backup itself is complete, so this is no failure of the call.
        await prune(agentId).catch((error: unknown) =>
          log.warn("old backups could not be removed", { agentId, error }),
        );
        return pathOf(agentId, name);
      } catch (error) {
        throw toBackupError(error);
      }
    },

    async pin(agentId, path) {
      const name = path.slice(path.lastIndexOf("/") + 1);
      // Only a name of our own form becomes part of a path of the file system.
      const isOurs = NAME.test(name) && path === pathOf(agentId, name);
      const file = join(folderOf(agentId), name);
      const isHere = isOurs && ((await isFile(file)) || (await shared?.bring(path)) === true);
      if (!isHere) {
        const text =
          "This agent has no such backup. Give the path that the operation returned, relative to the data folder.";
        throw new AppError(400, "UNKNOWN_BACKUP", text);
      }
      pinned.add(path);
      return file;
    },

    unpin: (path) => void pinned.delete(path),

    async list(agentId) {
      const kept = await keptOf(agentId);
      const here = await readdir(folderOf(agentId)).catch(emptyIfMissing);
      const names = [...new Set([...here, ...kept.keys()])].filter((name) => NAME.test(name));
      const backups = await Promise.all(
        names.sort().map(async (name): Promise<StoredBackup[]> => {
          const file = join(folderOf(agentId), name);
          // A file that is gone was removed to make room for a newer one, or is on another machine.
          const found = (await stat(file).catch(() => undefined)) ?? kept.get(name);
          return found ? [{ path: pathOf(agentId, name), file, size: found.size, createdAt: timeOf(name) }] : [];
        }),
      );
      return backups.flat().reverse();
    },

    async removeSince(agentId, since) {
      const files = await readdir(folderOf(agentId)).catch(emptyIfMissing);
      const names = [...new Set([...files, ...(await keptOf(agentId)).keys()])].filter(
        (name) => (NAME.test(name) && timeOf(name) >= since) || isUnfinished(name),
      );
      await Promise.all(names.map((name) => rm(join(folderOf(agentId), name), { force: true })));
      await shared?.forget(names.map((name) => pathOf(agentId, name)));
      return names.length;
    },

    async remove(agentId) {
      await rm(folderOf(agentId), { recursive: true, force: true });
      await shared?.forget([...(await keptOf(agentId)).values()].map(({ path }) => path));
    },

    async deleteOrphans(exists) {
      // Files and folders of other names belong to the operator.
      for (const agentId of (await readdir(root).catch(emptyIfMissing)).filter(isAgentId)) {
        const { mtimeMs } = await stat(folderOf(agentId));
        if (Date.now() - mtimeMs < ORPHAN_RETENTION_MS || (await exists(agentId))) continue;
        await rm(folderOf(agentId), { recursive: true, force: true });
      }
      for (const { path } of (await shared?.list(`${FOLDER}/`)) ?? []) {
        const [, agentId = "", name = ""] = path.split("/");
        const isOld = NAME.test(name) && Date.now() - timeOf(name) >= ORPHAN_RETENTION_MS;
        if (isAgentId(agentId) && isOld && !(await exists(agentId))) await shared?.forget([path]);
      }
    },
  };
}

const nameAt = (at: number) => `${new Date(at).toISOString().replace(/[:.]/g, "-")}.json.gz`;
/** The time in a name of `nameAt`. */
const timeOf = (name: string) =>
  Date.parse(name.replace(/^(.{10})T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z.*$/, "$1T$2:$3:$4.$5Z"));
const isUnfinished = (name: string) => name.endsWith(".json.gz.unfinished");

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    emptyIfMissing(error);
    return false;
  }
}

/** An empty list for ENOENT; rethrows any other error. */
function emptyIfMissing(error: unknown): string[] {
  if (codeOf(error) === "ENOENT") return [];
  throw error;
}

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "");

/** 500 `BACKUP_FAILED` for an error of the file system, without its path; any other error unchanged. */
function toBackupError(cause: unknown): unknown {
  const code = codeOf(cause);
  if (!/^E[A-Z0-9]+$/.test(code)) return cause;
  const isDiskFull = ["ENOSPC", "EDQUOT", "EFBIG"].includes(code);
  const text = isDiskFull
    ? "The disk has no room for a backup, so nothing was changed. Make room on it, then try again."
    : "A backup could not be written, so nothing was changed. The operator finds the reason in the log.";
  return new AppError(500, "BACKUP_FAILED", text, {}, { cause });
}
