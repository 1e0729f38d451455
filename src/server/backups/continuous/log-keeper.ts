// Keeps a copy of the write-ahead log each time before it restarts, until the continuous copy has stored it. It runs in the service, while
// no transaction is committed.

import { constants, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { LogKeeper } from "../../../kernel/database/background/log-keeper.ts";
import type { Log } from "../../../kernel/telemetry/log.ts";
import { readLogHeader } from "./wal.ts";

/** A log that has ended. `next`: the generation that began right after its last frame; undefined until one has. */
export interface KeptLog {
  path: string;
  generation: string;
  frames: number;
  next: string | undefined;
  bytes: number;
}

/** What is kept when nothing stores it: a backup begins the copy anew after that. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;
/** The database as it was closed: if it is still that one, its next log follows the last one. */
const CLOSED_FILE = "closed.json";
const NAME = /^kept-([0-9a-f]{16})-(\d+)(?:-([0-9a-f]{16}))?\.wal$/;

/** Beside the database, so that it is on the same disk. */
export const copyFolderOf = (databaseFile: string) => `${databaseFile}.copy`;

export function listKeptLogs(folder: string): KeptLog[] {
  return namesIn(folder).flatMap((name) => {
    const [, generation, frames, next] = NAME.exec(name) ?? [];
    const path = join(folder, name);
    const bytes = statSync(path, { throwIfNoEntry: false })?.size;
    return generation === undefined || bytes === undefined
      ? []
      : [{ path, generation, frames: Number(frames), next, bytes }];
  });
}

/** The place at which a closed database ends; undefined if it has been changed since, or was not closed by the service. */
export function readClosedPlace(databaseFile: string): { generation: string; frame: number } | undefined {
  try {
    const closed = JSON.parse(readFileSync(join(copyFolderOf(databaseFile), CLOSED_FILE), "utf8"));
    if (closed.state !== stateOf(databaseFile)) return undefined;
    return { generation: String(closed.generation), frame: Number(closed.frame) };
  } catch {
    return undefined;
  }
}

export function createLogKeeper(databaseFile: string, log: Pick<Log, "warn">): LogKeeper {
  const folder = copyFolderOf(databaseFile);
  const logFile = `${databaseFile}-wal`;
  const closedFile = join(folder, CLOSED_FILE);
  /** The log that has ended, as long as the one after it has not been seen. */
  let ended: { generation: string; frame: number } | undefined;

  return {
    opening() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      ended = readClosedPlace(databaseFile);
      // Of a service that was killed between a restart and its note: what follows is not known.
      for (const { path, next, generation } of listKeptLogs(folder))
        if (next === undefined && generation !== ended?.generation) rmSync(path, { force: true });
    },
    async ending(frame) {
      const generation = readLogHeader(logFile)?.start.generation;
      if (generation === undefined) return;
      ended = { generation, frame };
      const kept = listKeptLogs(folder);
      const isFull = kept.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_KEPT_BYTES;
      try {
        if (isFull) for (const { path } of kept) rmSync(path, { force: true });
        await copyFile(logFile, join(folder, "unfinished"), constants.COPYFILE_FICLONE);
        renameSync(join(folder, "unfinished"), keptPath(folder, ended));
      } catch (error) {
        ended = undefined;
        rmSync(join(folder, "unfinished"), { force: true });
        log.warn("a log could not be kept for the continuous copy, which begins anew", { error });
      }
    },
    noteNext() {
      if (!ended) return;
      const next = readLogHeader(logFile)?.start.generation;
      if (next === undefined) return;
      const path = keptPath(folder, ended);
      // A reader of an earlier state has kept the log from restarting.
      if (next === ended.generation) rmSync(path, { force: true });
      else rename(path, keptPath(folder, ended, next));
      rmSync(closedFile, { force: true });
      ended = undefined;
    },
    closed() {
      if (!ended) return;
      writeFileSync(closedFile, JSON.stringify({ ...ended, state: stateOf(databaseFile) }), { mode: 0o600 });
    },
  };
}

const keptPath = (folder: string, { generation, frame }: { generation: string; frame: number }, next?: string) =>
  join(folder, `kept-${generation}-${frame}${next === undefined ? "" : `-${next}`}.wal`);

/** Changes with each write to the file. */
function stateOf(databaseFile: string): string {
  const { ino, size, mtimeNs } = statSync(databaseFile, { bigint: true });
  return [ino, size, mtimeNs].join(" ");
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** It is gone if the copy had stored all of it, and was asked for more room. */
function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
