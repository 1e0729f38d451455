// Copies of a cell's file that all nodes can read: a new copy begins with the newest one, and follows the log from there.
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress, createZstdDecompress } from "node:zlib";
import { inspectFile } from "../../kernel/database/file-inspection.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import type { BlobStore } from "../engine.ts";
import { readPlace } from "../log/copy.ts";

export interface Snapshot {
  name: string;
  /** Of the last entry of the log that it holds. */
  number: number;
  /** Compressed bytes. */
  size: number;
  /** Epoch ms. */
  takenAt: number;
}

export interface Snapshots {
  /** Newest first. */
  list(): Promise<Snapshot[]>;
  /** Takes one of a file, which may be written meanwhile, and deletes all but the newest two. */
  take(file: string): Promise<Snapshot>;
  /** Takes one in place of all others, which have what the file has no more. */
  replace(file: string): Promise<Snapshot>;
  /** Puts the newest one that is whole in place of a file, which must not be open; undefined if there is none. */
  restore(file: string, options?: RestoreOptions): Promise<Snapshot | undefined>;
}

export interface RestoreOptions {
  /** Only one that has later entries than this will do. */
  after?: number;
  /** Called once a whole one is there, before the file is removed. */
  beforeReplace?(): void;
}

export interface SnapshotDeps {
  blobs: BlobStore;
  cell: number;
  /** Of the migrations that this binary knows. */
  knownMigrations?: ReadonlySet<string>;
  log?: Pick<Log, "warn" | "debug">;
}

const KEPT = 2;
const NAME = /^cell-(\d+)-(\d+)-(\d+)\.db\.zst$/;

export function createSnapshots({ blobs, cell, knownMigrations = new Set(), log }: SnapshotDeps): Snapshots {
  async function list(): Promise<Snapshot[]> {
    const found = (await blobs.list()).flatMap(({ name, size }): Snapshot[] => {
      const [, of, number, takenAt] = NAME.exec(name) ?? [];
      return Number(of) === cell ? [{ name, number: Number(number), size, takenAt: Number(takenAt) }] : [];
    });
    return found.sort((a, b) => b.number - a.number || b.takenAt - a.takenAt);
  }

  /** Brings one to this path. Throws if it is not whole. */
  async function bring({ name, number }: Snapshot, path: string): Promise<void> {
    const content = await blobs.get(name);
    if (!content) throw new Error(`The snapshot ${name} is gone.`);
    await pipeline(
      Readable.fromWeb(content as never),
      createZstdDecompress(),
      createWriteStream(path, { mode: 0o600 }),
    );
    inspectFile(path, knownMigrations, true);
    const found = readPlace(path)?.number;
    if (found !== number) throw new Error(`The snapshot ${name} holds the entries up to ${found}.`);
  }

  /** @param kept how many are left, with this one */
  async function take(file: string, kept: number): Promise<Snapshot> {
    const path = `${file}.snapshot`;
    try {
      rmSync(path, { force: true });
      await vacuumInto(file, path);
      const number = readPlace(path)?.number;
      if (number === undefined) throw new Error(`${file} is no file of a cluster.`);
      // Those that were interrupted would fill the disks of NATS.
      await blobs.sweep().catch((error: unknown) => log?.debug("interrupted snapshots could not be swept", { error }));
      const takenAt = Date.now();
      const name = `cell-${cell}-${number}-${takenAt}.db.zst`;
      const [content, compressed] = [createReadStream(path), createZstdCompress()];
      const compressing = pipeline(content, compressed);
      try {
        await Promise.all([compressing, blobs.put(name, Readable.toWeb(compressed) as never)]);
      } catch (error) {
        // Otherwise it waits for a reader that is gone, and the file stays open: its space is free only once it is closed.
        content.destroy();
        compressed.destroy();
        await compressing.catch(() => undefined);
        throw error;
      }
      for (const old of (await list()).slice(kept)) await blobs.remove(old.name);
      const size = (await list()).find((one) => one.name === name)?.size ?? statSync(path).size;
      return { name, number, size, takenAt };
    } finally {
      rmSync(path, { force: true });
    }
  }

  return {
    list,
    take: (file) => take(file, KEPT),
    replace: (file) => take(file, 1),

    async restore(file, { after = -1, beforeReplace } = {}) {
      const path = `${file}.restoring`;
      try {
        for (const snapshot of (await list()).filter(({ number }) => number > after)) {
          try {
            await bring(snapshot, path);
          } catch (error) {
            log?.warn("a snapshot can't be used; trying an older one", { snapshot: snapshot.name, error });
            removeFile(path);
            continue;
          }
          beforeReplace?.();
          removeFile(file);
          renameSync(path, file);
          return snapshot;
        }
        return undefined;
      } finally {
        removeFile(path);
      }
    },
  };
}

function removeFile(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

/** Runs on a thread of the addon, so that the event loop goes on. */
async function vacuumInto(file: string, target: string): Promise<void> {
  if (!existsSync(file)) throw new Error(`${file} is missing.`);
  const { default: Libsql } = await import("libsql/promise");
  const connection = new Libsql(file, {});
  try {
    const statement = await connection.prepare("VACUUM INTO ?");
    await statement.run(target);
  } finally {
    connection.close();
  }
}
