// Copies the changes of one cell's database: reads its log from where the last segment ends, and stores the next segment.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isPackName, parseLogName, segmentName } from "../../../../plugins/fleet/backups/log-names.ts";
import { packFolder } from "../archive.ts";
import type { BackupStorage } from "../place/storage.ts";
import { type CopyState, newCopyState, noteCopied, readCopyState, writeCopyState } from "./copy-state.ts";
import { copyFolderOf, listKeptLogs } from "./log-keeper.ts";
import { linkNewFiles } from "./new-files.ts";
import { PACKED_FROM, packSegments } from "./packs.ts";
import { type ChangedLog, type Segment, writeDescription, writePages } from "./segment.ts";
import { type LogPosition, readChanges, readLogHeader } from "./wal.ts";

export interface CellCopy {
  /** Undefined as long as the database has no log. */
  readonly chain: string | undefined;
  /** Stores what has changed. Throws StartError if the place can't be used; the next step makes up for it. */
  step(): Promise<CopyStep>;
}

export interface CopyStep {
  /** That were stored. */
  bytes: number;
  /** Whether all is stored that was committed before the step. */
  isWhole: boolean;
}

const NOT_WHOLE: CopyStep = { bytes: 0, isWhole: false };

const hasPages = (logs: readonly ReadLog[]) => logs.some(({ pages }) => pages.size > 0);

interface Options {
  cell: number;
  databaseFile: string;
  dataDir: string;
  storage: BackupStorage;
  recipients: readonly string[];
  now?: () => number;
}

/** A log that restarts can't be found for a moment. After as many steps, it is gone. */
const MAX_MISSES = 25;

type ReadLog = ChangedLog & Segment["logs"][number] & { end: LogPosition; isLive: boolean };

export async function openCellCopy(options: Options): Promise<CellCopy> {
  const { cell, databaseFile, dataDir, storage, recipients, now = Date.now } = options;
  const folder = copyFolderOf(databaseFile);
  const logFile = `${databaseFile}-wal`;
  const work = join(folder, "work");
  let state = readCopyState(databaseFile);
  let misses = 0;
  const stored = (await storage.list()).flatMap(({ name }) => parseLogName(name) ?? []);
  const ofChain = stored.filter((file) => file.cell === cell && file.chain === state?.chain);
  /** Stored by a process that was killed before it noted that. The next segment takes its place. */
  let unnoted = ofChain.filter(({ last }) => last > (state?.number ?? 0));
  // More than one: another service with a copy of this data folder writes to the same place.
  if (unnoted.some(({ last }) => last > (state?.number ?? 0) + 1)) [state, unnoted] = [undefined, []];
  /** Segments that are not in a pack. */
  let loose = ofChain.filter(({ name }) => !isPackName(name)).length;

  /**
   * From the end of the last segment through all logs that have ended since, to the end of the present one. `isLost`: one of them
   * is not there, or not now.
   */
  function readLogs({ position }: CopyState): { logs: ReadLog[]; isLost: boolean } {
    const logs: ReadLog[] = [];
    for (let from = position; ; ) {
      const kept = listKeptLogs(folder).find(({ generation }) => generation === from.generation);
      // A log that could not restart, because of a reader, goes on.
      const live = kept?.next === undefined ? readChanges(logFile, from) : undefined;
      const changes = live ?? (kept && readChanges(kept.path, from, kept.frames));
      if (!changes) return { logs, isLost: true };
      const { end, ...read } = changes;
      const path = live ? logFile : (kept?.path ?? logFile);
      logs.push({
        ...read,
        path,
        generation: end.generation,
        from: from.frame,
        to: end.frame,
        end,
        isLive: live !== undefined,
      });
      if (live || kept?.next === undefined) return { logs, isLost: false };
      from = { generation: kept.next, frame: 0, sums: [0, 0] };
    }
  }

  /** Returns the bytes of the segment; 0 if the last log has restarted while it was read. */
  async function store(from: CopyState, logs: readonly ReadLog[]): Promise<number> {
    const last = logs.at(-1);
    const at = Math.max(now(), from.at + 1);
    const number = from.number + 1;
    rmSync(work, { recursive: true, force: true });
    mkdirSync(work, { recursive: true, mode: 0o700 });
    try {
      const pages = writePages(work, logs);
      const isRead = last && (!last.isLive || readLogHeader(logFile)?.start.generation === last.generation);
      if (!isRead) return 0;
      linkNewFiles(dataDir, from.filesAt, work);
      const { chain, previous } = from;
      const spans = logs.map(({ generation, from, to }) => ({ generation, from, to }));
      writeDescription(work, {
        format: "berth.log",
        version: 1,
        cell,
        chain,
        number,
        previous,
        logs: spans,
        ...pages,
        at,
      });
      const name = segmentName(cell, chain, number, at, recipients.length > 0);
      const hash = new Bun.CryptoHasher("sha256");
      let bytes = 0;
      async function* counted() {
        for await (const chunk of packFolder(work, recipients)) {
          hash.update(chunk);
          bytes += chunk.length;
          yield chunk;
        }
      }
      await storage.write(name, counted(), pages.pages * pages.pageSize);
      state = { ...from, number, previous: hash.digest("hex"), position: last.end, at, filesAt: at };
      writeCopyState(databaseFile, state);
      loose++;
      return bytes;
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }

  function begin(): void {
    const header = readLogHeader(logFile);
    const changes = header && readChanges(logFile, header.start);
    if (!changes) return;
    state = newCopyState(changes.end, now());
    writeCopyState(databaseFile, state);
    [misses, loose, unnoted] = [0, 0, []];
    for (const { path, next, generation } of listKeptLogs(folder))
      if (next !== undefined && generation !== changes.end.generation) rmSync(path, { force: true });
  }

  return {
    get chain() {
      return state?.chain;
    },
    async step() {
      if (state && state.number > 0) await removeUnnoted(state.number);
      if (!state) begin();
      if (!state) return NOT_WHOLE;
      const startedAt = now();
      const { logs, isLost } = readLogs(state);
      const isChanged = hasPages(logs);
      misses = isLost && !isChanged ? misses + 1 : 0;
      if (misses > MAX_MISSES) state = undefined;
      if (!state || misses > 0) return NOT_WHOLE;
      let bytes = isChanged ? await store(state, logs) : 0;
      // Those that have ended don't change any more, however often the present one restarts.
      const ended = logs.slice(0, -1);
      const isCut = isChanged && bytes === 0;
      if (isCut && hasPages(ended)) bytes = await store(state, ended);
      if (isCut && bytes === 0) return NOT_WHOLE;
      const { generation } = state.position;
      for (const { path, next, ...kept } of listKeptLogs(folder))
        if (isChanged && next !== undefined && kept.generation !== generation && logs.some((log) => log.path === path))
          rmSync(path, { force: true });
      if (!isCut && !isLost) noteCopied(databaseFile, startedAt);
      const { chain, number } = state;
      if (loose >= PACKED_FROM)
        loose = await packSegments(storage, join(folder, "pack"), { cell, chain, last: number });
      // After a log that has ended, the next one is not known yet.
      return { bytes, isWhole: !isCut && !isLost && (logs.at(-1)?.isLive ?? false) };
    },
  };

  async function removeUnnoted(number: number): Promise<void> {
    for (const { name, last } of unnoted) if (last <= number) await storage.remove(name);
    unnoted = unnoted.filter(({ last }) => last > number);
  }
}
