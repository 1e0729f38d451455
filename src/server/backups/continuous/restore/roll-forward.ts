// Puts the segments of the continuous copy on top of an unpacked backup, up to a moment, as far as they follow each other without a gap.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "../../../../kernel/errors.ts";
import { KEPT_FOLDERS } from "../../../../kernel/files.ts";
import { DATABASE_FILE, unpackBytesInto, unpackInto } from "../../archive.ts";
import type { LogPlace } from "../../manifest.ts";
import { moveFiles } from "../../moved-files.ts";
import type { BackupStorage } from "../../place/storage.ts";
import { applySegment, readSegment, type Segment } from "../segment.ts";
import { type StoredSegment, segmentsAfter } from "./stored-log.ts";

export interface Reached {
  /** Epoch ms: nothing in the database is from later. */
  at: number;
  /** Why it is not all that was stored. */
  problem: string | undefined;
}

interface Options {
  storage: BackupStorage;
  place: LogPlace;
  /** With the database and the files of the backup. */
  folder: string;
  identities: readonly string[];
  /** Epoch ms. */
  until: number;
}

/**
 * The database is left as it is, or at the end of a segment. A damaged or missing segment ends the way: those after it don't fit.
 */
export async function rollForward({ storage, place, folder, identities, until }: Options): Promise<Reached> {
  const work = join(folder, "log");
  let reached: Reached = { at: place.at, problem: undefined };
  let previous = place.previous;
  /** Until the place of the backup is passed, what is unpacked is older than some of its pages. */
  let waiting: { folder: string; segment: Segment }[] = [];
  let isPassed = false;
  try {
    for await (const stored of segmentsAfter(storage, place, join(folder, "pack"))) {
      if ("missing" in stored) {
        reached.problem = `Segment ${stored.missing} of the continuous copy is missing, so what follows can't be used.`;
        break;
      }
      if (stored.at > until) break;
      const unpacked = join(work, String(stored.number));
      try {
        const { segment, sha256 } = await unpackSegment(stored, unpacked, identities);
        requireNext(segment, { ...place, number: stored.number, previous });
        previous = sha256;
        waiting.push({ folder: unpacked, segment });
      } catch (error) {
        reached.problem = `${stored.address} is damaged or does not belong here (${reasonOf(error)}), so it and what follows can't be used.`;
        break;
      }
      isPassed ||= waiting.some(({ segment }) => passes(segment, place));
      if (!isPassed) continue;
      for (const one of waiting) {
        applySegment(one.folder, one.segment, join(folder, DATABASE_FILE));
        for (const kept of KEPT_FOLDERS) moveFiles(join(one.folder, kept), join(folder, kept));
        rmSync(one.folder, { recursive: true, force: true });
      }
      waiting = [];
      reached = { at: Math.max(place.at, stored.at), problem: undefined };
    }
  } catch (error) {
    reached.problem = `A pack of the continuous copy is damaged (${reasonOf(error)}), so it and what follows can't be used.`;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return reached;
}

/** Throws what is no damage: a place that can't be read, or a key that does not open it. */
function reasonOf(error: unknown): string {
  if (error instanceof StartError) throw error;
  return error instanceof Error ? error.message.replace(/\s+/g, " ") : String(error);
}

async function unpackSegment(stored: StoredSegment, folder: string, identities: readonly string[]) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const hash = new Bun.CryptoHasher("sha256");
  const content = await stored.open();
  if (content instanceof Uint8Array) {
    hash.update(content);
    await unpackBytesInto(folder, content, identities);
  } else {
    const watched = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        hash.update(chunk);
        controller.enqueue(chunk);
      },
    });
    await unpackInto(folder, content.pipeThrough(watched), identities);
  }
  return { segment: readSegment(folder), sha256: hash.digest("hex") };
}

function requireNext(segment: Segment, expected: Pick<LogPlace, "cell" | "chain" | "number" | "previous">): void {
  const isOfChain = segment.cell === expected.cell && segment.chain === expected.chain;
  if (!isOfChain || segment.number !== expected.number) throw new Error("it is another segment than its name says");
  if (segment.previous !== expected.previous) throw new Error("it follows another segment than the one before it");
}

/** Whether a segment ends at or after the place. */
const passes = ({ logs }: Segment, { generation, frame }: LogPlace) =>
  logs.some((log) => log.generation === generation && log.to >= frame);
