// Puts a snapshot in place of a cell's file that is missing or can't go on, and keeps what was there.
import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import type { Log } from "../../kernel/telemetry/log.ts";
import { SnapshotNeeded } from "../log/catch-up.ts";
import { readPlace } from "../log/copy.ts";
import type { Snapshots } from "./snapshots.ts";

export interface RenewalDeps {
  file: string;
  snapshots: Pick<Snapshots, "restore">;
  log: Log;
}

/** Beside the file: what was set aside. */
const KEPT = [".diverged", ".diverged-2", ".diverged-3"];
const SUFFIXES = ["", "-wal", "-shm"];

/**
 * Returns what makes sure that there is a file to go on with, given why the present one can't; it says whether the file is another
 * one now. The present one stays where it is until a whole snapshot has come, and throws if it can't be used without one.
 */
export function createFileRenewal({ file, snapshots, log }: RenewalDeps): (broken: unknown) => Promise<boolean> {
  return async (broken) => {
    const isNew = isEmptyFile(file);
    if (!isNew && broken === undefined) return false;
    const began = performance.now();
    // What lacks entries is no better off with a snapshot that lacks them, too.
    const isBehind = broken instanceof SnapshotNeeded;
    const restored = await snapshots.restore(file, {
      after: isBehind && !isNew ? numberOf(file) : -1,
      beforeReplace() {
        if (isNew) return;
        log.warn("this node's copy can't go on, and a snapshot takes its place", {
          kept: setAside(file),
          error: broken,
        });
      },
    });
    if (restored) log.info("a copy begins with a snapshot", { ...restored, ms: Math.round(performance.now() - began) });
    else if (!isNew && !isBehind)
      throw new Error("This node's copy can't go on, and there is no snapshot to begin with.");
    return restored !== undefined;
  };
}

export const isEmptyFile = (file: string) => sizeOf(file) === 0;

/** Returns where the file is now; undefined if it is not kept. Of one too many, the one that has least is not. */
function setAside(file: string): string | undefined {
  const places = KEPT.map((suffix) => file + suffix);
  const kept =
    places.find((place) => !existsSync(place)) ??
    places.toSorted(byContent).find((place) => byContent(place, file) <= 0);
  if (kept === undefined) return undefined;
  for (const suffix of SUFFIXES) {
    rmSync(kept + suffix, { force: true });
    if (existsSync(file + suffix)) renameSync(file + suffix, kept + suffix);
  }
  return kept;
}

/** Files that have more come later. */
const byContent = (a: string, b: string) => numberOf(a) - numberOf(b) || sizeOf(a) - sizeOf(b);
const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** The last entry that a file has applied; -1 for one that can't be read. */
function numberOf(file: string): number {
  try {
    return readPlace(file)?.number ?? 0;
  } catch {
    return -1;
  }
}
