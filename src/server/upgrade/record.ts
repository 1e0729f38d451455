// The record of the last upgrade, in the data folder: it lets a start go back if the new program doesn't get to serve.
import { existsSync, linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../kernel/config/config.ts";

export interface UpgradeRecord {
  /** `switched`: the new program is in place, and has not served yet. */
  state: "switched" | "done" | "failed";
  from: string;
  to: string;
  /** The path of the program. */
  file: string;
  /** The new program's file, which keeps its number when it is renamed: so a start knows whether it is the new one. */
  inode: number;
  /** Starts of the new program so far. */
  starts: number;
  why?: string;
}

/** A program that was killed in its starts is given up after so many. */
export const MAX_STARTS = 3;

const recordPath = ({ dataDir }: Pick<Config, "dataDir">) => join(dataDir, "upgrade.json");

/** The file of the version before. */
export const previousOf = (file: string) => `${file}.previous`;
/** A new file, until it is in place. */
export const newOf = (file: string) => `${file}.new`;

export function readRecord(config: Pick<Config, "dataDir">): UpgradeRecord | undefined {
  const path = recordPath(config);
  if (!existsSync(path)) return undefined;
  return JSON.parse(readFileSync(path, "utf8")) as UpgradeRecord;
}

export function writeRecord(config: Pick<Config, "dataDir">, record: UpgradeRecord): void {
  const path = recordPath(config);
  writeFileSync(`${path}.unfinished`, `${JSON.stringify(record)}\n`, { mode: 0o644, flush: true });
  renameSync(`${path}.unfinished`, path);
}

/** The record of an upgrade that has put this file in place, and has not served yet. */
export function unconfirmedUpgrade(config: Pick<Config, "dataDir">, file: string): UpgradeRecord | undefined {
  const record = readRecord(config);
  const isThis = record?.state === "switched" && record.file === file && record.inode === statSync(file).ino;
  return isThis ? record : undefined;
}

/** Puts the new file in place, and keeps the old one. A kill at any step leaves a whole program under the path. */
export function switchPrograms(file: string): void {
  keepAs(file, previousOf(file));
  renameSync(newOf(file), file);
}

/** Puts the file from before in place. The one that goes is kept as the one from before if `keepsPresent`. */
export function switchBack(file: string, { keepsPresent }: { keepsPresent: boolean }): void {
  const present = `${file}.present`;
  if (keepsPresent) keepAs(file, present);
  renameSync(previousOf(file), file);
  if (keepsPresent) renameSync(present, previousOf(file));
}

function keepAs(file: string, kept: string): void {
  const unfinished = `${kept}.unfinished`;
  rmSync(unfinished, { force: true });
  linkSync(file, unfinished);
  renameSync(unfinished, kept);
}
