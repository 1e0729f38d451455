// How the owner of a cell writes: each group of writes is in the log first, until another node has the cell.
import type { StorageEngine } from "../../kernel/database/local-engine.ts";
import { AppError } from "../../kernel/errors.ts";
import { brokenRelay, cellMoved } from "../away.ts";
import { EngineUnavailable, type LogEngine, Moved } from "../engine.ts";
import { catchUp, LogLost } from "../log/catch-up.ts";
import { type CellLog, openCellLog } from "../log/cell-log.ts";
import { type Copy, CopyBroken, CopyUnwritable, openCopy } from "../log/copy.ts";
import { encodeEntry } from "../log/entry.ts";
import { createReplicatedCommit } from "../log/replicated-commit.ts";
import { restartLog } from "../log/restart.ts";

type Writer = Pick<StorageEngine, "commit" | "commitLong">;

/** Makes the writing part of a database from its file: what it writes is in the cell's log first. */
export type Replicate = (storage: StorageEngine) => Promise<Writer>;

export interface Writing {
  readonly replicate: Replicate;
  /** Why no write can succeed any more; undefined as long as they can. */
  readonly lost: unknown;
  /** Whether `end` was called. */
  readonly hasEnded: boolean;
  /** The last entry that the file has applied; 0 before the file is open. */
  readonly number: number;
  /** Appends the entry of a check; nothing is written until `pin` resolves. */
  check(id: string, pin: () => Promise<void>): Promise<void>;
  /** Refuses all writes from now on, also those whose outcome is not known. */
  end(): void;
}

export interface WritingDeps {
  engine: LogEngine;
  /** Of this node. */
  address: string;
  /** The id of the cluster. */
  cluster: string;
  /** Resolves when what is known of the other nodes' copies is not old. */
  seeAll(): Promise<void>;
  /** Throws if another node has more of a log that has lost entries than this one. */
  requireMost(number: number): Promise<void>;
  /** Keeps what this file has, before a log that has lost entries begins anew. */
  beforeRestart(error: LogLost): Promise<void>;
  /** Called once, when writes can't succeed any more. */
  onLost(): void;
  onAppend?(ms: number): void;
}

/** A new owner that finds another entry at the end of the log reads it and tries again. */
const MAX_CLAIMS = 20;
/** After these nothing can be written any more. */
const ENDING = [Moved, CopyBroken, CopyUnwritable, EngineUnavailable];

export function createWriting(deps: WritingDeps): Writing {
  const { engine, address, cluster, seeAll, requireMost, beforeRestart, onLost, onAppend } = deps;
  const lifetime = new AbortController();
  let lost: unknown;
  let copy: Copy | undefined;
  let log: CellLog | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  /** Applies the rest of the log, and ends the writing of whoever owned the cell before. */
  async function replicate(storage: StorageEngine): Promise<Writer> {
    const own = { kind: "own" as const, node: address };
    const opened = await openCopy(storage, cluster);
    copy = opened;
    for (let claims = 1; ; claims++) {
      const last = await catchUpOrRestart(opened);
      await requireMost(last);
      const claimed = openCellLog(engine, last, lifetime.signal);
      try {
        await opened.apply(await claimed.append(encodeEntry(own)), own);
        log = claimed;
        return guard(createReplicatedCommit(claimed, opened));
      } catch (error) {
        if (!(error instanceof Moved) || claims === MAX_CLAIMS) throw error;
      }
    }
  }

  async function catchUpOrRestart(opened: Copy): Promise<number> {
    try {
      return await catchUp(engine, opened, lifetime.signal);
    } catch (error) {
      if (!(error instanceof LogLost)) throw error;
      const { number } = opened.progress;
      const bounds = await engine.bounds();
      await seeAll();
      await requireMost(number);
      await beforeRestart(error);
      await restartLog(engine, number, bounds);
      return number;
    }
  }

  /** One at a time: each append names the number of the one before. */
  function inTurn<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const result = turn.then(work, work);
    turn = result;
    return result;
  }

  /** The first write that is refused ends all: whether it is in the log shows whoever reads the log next. */
  async function guarded<Result>(write: () => Result | Promise<Result>): Promise<Result> {
    const began = performance.now();
    try {
      lifetime.signal.throwIfAborted();
      const result = await inTurn(write);
      onAppend?.(performance.now() - began);
      return result;
    } catch (error) {
      if (error instanceof AppError && error.code === "CELL_MOVED") throw error;
      if (!ENDING.some((kind) => error instanceof kind)) throw error;
      if (lost === undefined) {
        lost = error;
        lifetime.abort(cellMoved());
        onLost();
      }
      // The log has refused the entry, or may have it: then the next owner does what it says.
      throw error instanceof Moved ? cellMoved(error) : brokenRelay(error);
    }
  }
  const guard = (writer: Writer): Writer => ({
    commit: (batches, note) => guarded(() => writer.commit(batches, note)),
    commitLong: (batch) => guarded(() => writer.commitLong(batch)),
  });

  return {
    replicate,
    get lost() {
      return lost;
    },
    get hasEnded() {
      return lifetime.signal.aborted;
    },
    get number() {
      return copy?.progress.number ?? 0;
    },
    check: (id, pin) =>
      guarded(async () => {
        if (!log || !copy) throw cellMoved();
        const entry = { kind: "check" as const, id };
        await copy.apply(await log.append(encodeEntry(entry)), entry);
        await pin();
      }),
    end: () => lifetime.abort(cellMoved()),
  };
}
