// Remembers how far a cell's continuous copy has come: a small file beside the database, which is replaced after each stored segment.

import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyFolderOf } from "./log-keeper.ts";
import type { LogPosition } from "./wal.ts";

export interface CopyState {
  version: 1;
  /** A copy without a gap. */
  chain: string;
  /** Of the last stored segment; 0 before the first. */
  number: number;
  /** Its SHA-256. */
  previous: string;
  /** Where it ends. */
  position: LogPosition;
  /** Epoch ms. */
  at: number;
  /** Files from before this time, epoch ms, are in a segment or in the backup before it. */
  filesAt: number;
}

const stateFileOf = (databaseFile: string) => join(copyFolderOf(databaseFile), "state.json");

/** Undefined if there is none that can be read: then the copy begins anew. */
export function readCopyState(databaseFile: string): CopyState | undefined {
  try {
    const state: CopyState = JSON.parse(readFileSync(stateFileOf(databaseFile), "utf8"));
    return state.version === 1 ? state : undefined;
  } catch {
    return undefined;
  }
}

export function writeCopyState(databaseFile: string, state: CopyState): void {
  const path = stateFileOf(databaseFile);
  writeFileSync(`${path}.unfinished`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${path}.unfinished`, path);
}

/** Notes, for `berth doctor`, until when everything is stored. */
export function noteCopied(databaseFile: string, at: number): void {
  utimesSync(stateFileOf(databaseFile), at / 1000, at / 1000);
}

/** Undefined if nothing has been. */
export const readCopiedAt = (databaseFile: string): number | undefined =>
  statSync(stateFileOf(databaseFile), { throwIfNoEntry: false })?.mtimeMs;

export const newCopyState = (position: LogPosition, now: number): CopyState => ({
  version: 1,
  chain: randomBytes(8).toString("hex"),
  number: 0,
  previous: "",
  position,
  at: now,
  filesAt: now,
});
