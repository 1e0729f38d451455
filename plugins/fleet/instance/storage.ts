// Measures what the data folder holds, and the space that is left on its disk.
import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { createStaleCache } from "../reports/stale-cache.ts";

/** Bytes. */
export interface StorageReport {
  dataDir: string;
  /** Files and folders of the data folder, the largest first. */
  entries: { name: string; bytes: number; files: number }[];
  /** False if there were too many files to measure all. */
  complete: boolean;
  database: { kind: "file" | "server"; bytes: number | null; logBytes: number | null };
  disk: { totalBytes: number; freeBytes: number };
}

const MAX_FILES = 20_000;
const MAX_ENTRIES = 50;

export function createStorageReport({ config, database }: Pick<Kernel, "config" | "database">) {
  const { dataDir } = config;
  const cached = createStaleCache<StorageReport>({ freshMs: 30 * SECOND, staleMs: 10 * MINUTE });

  const sizeOf = async (path: string) => (await stat(path).catch(() => undefined))?.size ?? 0;

  async function measure(): Promise<StorageReport> {
    let left = MAX_FILES;
    /** Sums a file or a folder with everything in it; links are not followed. */
    async function sum(path: string, isFolder: boolean): Promise<{ bytes: number; files: number }> {
      if (!isFolder) {
        left--;
        return { bytes: await sizeOf(path), files: 1 };
      }
      const result = { bytes: 0, files: 0 };
      for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
        if (left <= 0) break;
        if (!entry.isFile() && !entry.isDirectory()) continue;
        const { bytes, files } = await sum(join(path, entry.name), entry.isDirectory());
        result.bytes += bytes;
        result.files += files;
      }
      return result;
    }

    const entries: StorageReport["entries"] = [];
    for (const entry of await readdir(dataDir, { withFileTypes: true })) {
      if (!entry.isFile() && !entry.isDirectory()) continue;
      const name = entry.isDirectory() ? `${entry.name}/` : entry.name;
      entries.push({ name, ...(await sum(join(dataDir, entry.name), entry.isDirectory())) });
    }
    const { file } = database;
    const disk = await statfs(dataDir);
    return {
      dataDir,
      entries: entries.sort((a, b) => b.bytes - a.bytes).slice(0, MAX_ENTRIES),
      complete: left > 0,
      database:
        file === undefined
          ? { kind: "server", bytes: null, logBytes: null }
          : { kind: "file", bytes: await sizeOf(file), logBytes: await sizeOf(`${file}-wal`) },
      disk: { totalBytes: disk.blocks * disk.bsize, freeBytes: disk.bavail * disk.bsize },
    };
  }

  return () => cached("all", measure);
}
