// Keeps backups in a folder: written under another name, synced, then renamed.

import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isBackupName, UNFINISHED_SUFFIX } from "../../../../plugins/fleet/backups/backup-names.ts";
import { StartError } from "../../../kernel/errors.ts";
import type { BackupStorage } from "./storage.ts";

/** @param usedNote the file that says that backups of this service are there, if there is one: if they are not, their disk is not */
export function createFolderStorage(
  folder: string,
  usedNote: () => string | undefined = () => undefined,
): BackupStorage {
  const pathOf = (name: string) => join(folder, name);

  /** Throws StartError, with nothing made on the disk below a mount point, which is there without its disk. */
  async function requireIfUsed(): Promise<void> {
    const note = usedNote();
    if (note === undefined) return;
    const names = await readdir(folder).catch(undefinedIfMissing);
    if (names?.some(isBackupName)) return;
    const what = names
      ? "has none of the backups that were made there"
      : "with the backups of this service is not there";
    throw new StartError(
      `The folder ${folder} ${what}. If it is on a disk that is not mounted, mount it. If backups are to begin anew there, delete ${note} first.`,
    );
  }

  /** For the first backup. Only the last part of the path is made, since the others may be on a disk that is not mounted. */
  async function makeFolder(): Promise<void> {
    await requireIfUsed();
    try {
      await mkdir(folder, { mode: 0o700 });
    } catch (error) {
      if (codeOf(error) === "ENOENT")
        throw new StartError(
          `There is no folder ${dirname(folder)}, in which BACKUP_TO would be made. Mount its disk, or make it, then try again.`,
        );
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }

  async function writeFile(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const unfinished = pathOf(name) + UNFINISHED_SUFFIX;
    await makeFolder();
    try {
      const file = await open(unfinished, "w", 0o600);
      try {
        for await (const chunk of chunks) await writeAll(file, chunk);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, pathOf(name));
      await syncFolder(folder);
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  return {
    addressOf: pathOf,
    write: (name, chunks) => saying(folder, "written", () => writeFile(name, chunks)),
    read: (name) =>
      saying(folder, "read", async () => {
        const size = await stat(pathOf(name)).then(({ size }) => size, undefinedIfMissing);
        return size === undefined ? undefined : { body: Bun.file(pathOf(name)).stream(), bytes: size };
      }),
    readListed: (name) => saying(folder, "read", () => Bun.file(pathOf(name)).bytes()),
    list: () =>
      saying(folder, "read", async () => {
        await requireIfUsed();
        const names = (await readdir(folder).catch(undefinedIfMissing)) ?? [];
        const files = await Promise.all(
          names.map(async (name) => {
            const found = await stat(pathOf(name)).catch(undefinedIfMissing);
            return found?.isFile() ? [{ name, bytes: found.size }] : [];
          }),
        );
        return files.flat();
      }),
    remove: (name) => saying(folder, "written", () => rm(pathOf(name), { force: true })),
  };
}

async function writeAll(file: { write(bytes: Uint8Array): Promise<{ bytesWritten: number }> }, chunk: Uint8Array) {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk.subarray(at))).bytesWritten;
}

/** So that the new name survives a power cut. Not every file system can do it. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().catch(() => undefined);
  await handle.close();
}

function undefinedIfMissing(error: unknown): undefined {
  if (codeOf(error) !== "ENOENT") throw error;
}

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "");

async function saying<Result>(folder: string, verb: "read" | "written", work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = codeOf(error);
    if (!/^E[A-Z0-9]+$/.test(code)) throw error;
    // Without the cause, by which the command line would say that the data folder's disk is full.
    if (["ENOSPC", "EDQUOT", "EFBIG"].includes(code))
      throw new StartError(
        `The disk of ${folder} is full. Free some space there, or keep fewer backups (BACKUP_KEEP). Earlier ones are untouched.`,
      );
    const text = `The folder ${folder} can't be ${verb} (${code}). Check that it is there and belongs to this user, or set BACKUP_TO to another.`;
    throw new StartError(text, { cause: error });
  }
}
