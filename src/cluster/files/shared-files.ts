// Keeps files of the data folder in the engine's object store, and brings those that this machine does not have.
import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError } from "../../kernel/errors.ts";
import type { SharedFiles } from "../../kernel/files.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import type { BlobStore } from "../engine.ts";

export interface SharedFilesDeps {
  blobs: BlobStore;
  dataDir: string;
  log: Pick<Log, "warn">;
}

export function createSharedFiles({ blobs, dataDir, log }: SharedFilesDeps): SharedFiles {
  /** Two that ask for one file share its way here. */
  const coming = new Map<string, Promise<boolean>>();

  async function fetchFile(path: string): Promise<boolean> {
    const content = await available(() => blobs.get(path));
    if (!content) return false;
    const target = join(dataDir, path);
    const unfinished = `${target}.unfinished`;
    try {
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await pipeline(Readable.fromWeb(content as never), createWriteStream(unfinished, { mode: 0o600 }));
      await rename(unfinished, target);
      return true;
    } catch (cause) {
      await rm(unfinished, { force: true });
      throw filesUnavailable(cause);
    }
  }

  return {
    keep: (path) => available(() => blobs.put(path, Bun.file(join(dataDir, path)).stream())),
    bring(path) {
      const running =
        coming.get(path) ??
        fetchFile(path).finally(() => {
          coming.delete(path);
        });
      coming.set(path, running);
      return running;
    },
    async forget(paths) {
      for (const path of paths) {
        await blobs.remove(path).catch((error: unknown) => {
          log.warn("a shared file could not be forgotten; the next sweep tries again", { path, error });
        });
      }
    },
    list: (folder) =>
      available(async () =>
        (await blobs.list())
          .filter(({ name }) => name.startsWith(folder))
          .map(({ name, size }) => ({ path: name, size })),
      ),
  };
}

async function available<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (cause) {
    throw filesUnavailable(cause);
  }
}

const filesUnavailable = (cause: unknown) =>
  new AppError(
    503,
    "FILES_UNAVAILABLE",
    "Files can't be stored or read right now. Try again in a few seconds.",
    {},
    { cause },
  );
