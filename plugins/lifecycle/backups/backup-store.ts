// Where backups lie: a folder for each agent, a file for each time, the newest few kept.
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { isAgentId } from "../../agents/index.ts";
import { writeElements } from "./backup-file.ts";

/** Of each agent. */
export const MAX_BACKUPS = 20;
const FOLDER = "backups";
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.json\.gz$/;
/** A folder whose agent is gone stays for so long: the database may have been put back to an earlier day. */
const ORPHAN_RETENTION_MS = 7 * 86_400_000;

export interface BackupStore {
  /** Writes one; answers its path relative to the data folder. Throws 500 `BACKUP_FAILED`, with nothing left behind. */
  write(agentId: string, elements: AsyncIterable<string>): Promise<string>;
  /** Where the file is, for a path as `write` gave it, of this agent alone; it is kept until it is let go. Throws 400 `UNKNOWN_BACKUP`. */
  pin(agentId: string, path: string): Promise<string>;
  unpin(path: string): void;
  /** All of an agent's go with it. */
  remove(agentId: string): Promise<void>;
  /** Removes what agents left that are gone since days. */
  deleteOrphans(exists: (agentId: string) => Promise<boolean>): Promise<void>;
}

export function createBackupStore({ dataDir, log }: { dataDir: string; log: Log }): BackupStore {
  const root = join(dataDir, FOLDER);
  const pinned = new Set<string>();
  const folderOf = (agentId: string) => join(root, agentId);
  const pathOf = (agentId: string, name: string) => `${FOLDER}/${agentId}/${name}`;

  /** Also what a killed process left unfinished; operations on one agent come one after the other. */
  async function prune(agentId: string): Promise<void> {
    const files = (await readdir(folderOf(agentId))).sort().reverse();
    const old = files.filter((file) => NAME.test(file)).slice(MAX_BACKUPS);
    const obsolete = [...old.filter((name) => !pinned.has(pathOf(agentId, name))), ...files.filter(isUnfinished)];
    await Promise.all(obsolete.map((name) => rm(join(folderOf(agentId), name), { force: true })));
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
        // The backup is there: a failure to tidy up takes nothing from it.
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
      // Nothing of what was given is made part of a path unless it is one that was made here.
      const isOurs = NAME.test(name) && path === pathOf(agentId, name);
      const file = join(folderOf(agentId), name);
      if (!isOurs || !(await isFile(file))) {
        const text = "This agent has no such backup. Give the path as it was answered, relative to the data folder.";
        throw new AppError(400, "UNKNOWN_BACKUP", text);
      }
      pinned.add(path);
      return file;
    },

    unpin: (path) => void pinned.delete(path),
    remove: (agentId) => rm(folderOf(agentId), { recursive: true, force: true }),

    async deleteOrphans(exists) {
      // What an operator put beside them is nobody's of ours.
      for (const agentId of (await readdir(root).catch(emptyIfMissing)).filter(isAgentId)) {
        const { mtimeMs } = await stat(folderOf(agentId));
        if (Date.now() - mtimeMs < ORPHAN_RETENTION_MS || (await exists(agentId))) continue;
        await rm(folderOf(agentId), { recursive: true, force: true });
      }
    },
  };
}

const nameAt = (at: number) => `${new Date(at).toISOString().replace(/[:.]/g, "-")}.json.gz`;
const isUnfinished = (name: string) => name.endsWith(".json.gz.unfinished");

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    emptyIfMissing(error);
    return false;
  }
}

/** Nothing is there; any other trouble is one. */
function emptyIfMissing(error: unknown): string[] {
  if (codeOf(error) === "ENOENT") return [];
  throw error;
}

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "");

/** In words, for errors of the file system; the path stays in the log. */
function toBackupError(cause: unknown): unknown {
  const code = codeOf(cause);
  if (!/^E[A-Z0-9]+$/.test(code)) return cause;
  const isDiskFull = ["ENOSPC", "EDQUOT", "EFBIG"].includes(code);
  const text = isDiskFull
    ? "There is no room left for a backup, so nothing was changed. Make room on the disk, then try again."
    : "A backup could not be written, so nothing was changed. The operator finds the reason in the log.";
  return new AppError(500, "BACKUP_FAILED", text, {}, { cause });
}
