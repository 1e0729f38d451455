// Applies the entries of a log to a file, each once and alike on every node, and stops at the first sign that copies differ.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { openReadOnly } from "../../kernel/database/connection.ts";
import type { Statement } from "../../kernel/database/database.ts";
import { sqliteCode } from "../../kernel/database/errors.ts";
import type { StorageEngine } from "../../kernel/database/local-engine.ts";
import type { Outcome } from "../../kernel/database/write-queue.ts";
import { AppError } from "../../kernel/errors.ts";
import type { EntryPlace } from "./cell-log.ts";
import type { Entry, WriteEntry } from "./entry.ts";

/** The entry that a file has applied last, or is applying. Stored in the file, in the transaction of what it counts. */
export interface Progress extends EntryPlace {
  /** Batches of that entry that are applied; null for all. */
  done: number | null;
  /** Rows that they have changed. */
  changed: number;
}

/** This copy can't go on: its file is damaged, or differs from the one that wrote the log. It must be made anew. */
export class CopyBroken extends Error {
  override readonly name = "CopyBroken";
}

/** This copy can't go on now, such as on a full disk. Its file is whole, and behind its log. */
export class CopyUnwritable extends Error {
  override readonly name = "CopyUnwritable";
}

export interface Copy {
  readonly progress: Progress;
  /**
   * Applies an entry and returns what became of its batches. Those that an earlier process has applied are left out. Throws
   * `CopyBroken` and `CopyUnwritable`.
   */
  apply(place: EntryPlace, entry: Entry): Promise<Outcome[]>;
}

type Storage = Pick<StorageEngine, "commit" | "commitLong" | "read" | "afterCommit">;

/** Every copy has this table, which is not part of the schema: the log may begin with the first migration. */
const CREATE = `CREATE TABLE IF NOT EXISTS log_progress
  (id INTEGER PRIMARY KEY CHECK (id = 1), after INTEGER NOT NULL, number INTEGER NOT NULL, entry TEXT NOT NULL, done INTEGER,
   changed INTEGER NOT NULL, cluster TEXT NOT NULL) STRICT`;
/** Other statements report what an earlier one has changed. */
const CHANGES_ROWS = /^\s*(?:insert|update|delete|replace|with)\b/i;

/** @param cluster the id of the cluster, which a file that is new in it gets */
export async function openCopy(storage: Storage, cluster: string): Promise<Copy> {
  let progress = await readProgress(storage, cluster);

  async function applyWrite({ after, number, id }: EntryPlace, { batches, isLong }: WriteEntry): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    const isResumed = progress.number === number;
    const first = isResumed ? (progress.done ?? batches.length) : 0;
    let changed = isResumed ? progress.changed : 0;
    for (let done = first; done < batches.length; ) {
      const rest = batches.slice(done);
      let next = progress;
      const note = (made: readonly Outcome[]) => {
        // Before anything is committed: what other copies have must not be noted as applied without it.
        requireSame(made);
        const end = done + made.length;
        next = {
          after,
          number,
          id,
          done: end === batches.length ? null : end,
          changed: changed + countChanged(rest, made),
        };
        return noteStatement(next);
      };
      const made = isLong ? [await commitLong(storage, rest[0] ?? [], note)] : await storage.commit(rest, note);
      requireSame(made);
      outcomes.push(...made);
      done += made.length;
      progress = next;
      changed = next.changed;
      if (done < batches.length) await yieldToEventLoop();
    }
    // A copy that follows has no database above it to do so: its file's log would grow, and a takeover would have to write all of it into the file.
    storage.afterCommit();
    return outcomes;
  }

  return {
    get progress() {
      return progress;
    },
    async apply(place, entry) {
      const { number } = place;
      if (entry.kind === "write") {
        if (progress.number < number && entry.changedBefore !== progress.changed) {
          throw new CopyBroken(
            `Entry ${number} expects that the one before it has changed ${entry.changedBefore} rows, and here it has changed ${progress.changed}.`,
          );
        }
        return applyWrite(place, entry);
      }
      const next: Progress = { ...progress, ...place, done: null };
      await store(storage, noteStatement(next));
      progress = next;
      return [];
    },
  };
}

/** A batch without results of its own: `commitLong` rejects with the error that undid it. */
async function commitLong(
  storage: Storage,
  batch: readonly Statement[],
  note: (outcomes: readonly Outcome[]) => Statement,
): Promise<Outcome> {
  try {
    // How many rows it changes is not known before it ends, so it counts none on every copy.
    const results = await storage.commitLong([...batch, note([{ results: [] }])]);
    return { results: results.slice(0, -1) };
  } catch (error) {
    const outcome = { error };
    requireSame([outcome]);
    await store(storage, note([outcome]));
    return outcome;
  }
}

/** SQLite's codes for what is wrong with the statements or their values: every copy has the same outcome. */
const SAME_ON_ALL = /^SQLITE_(?:CONSTRAINT|ERROR|MISMATCH|RANGE|TOOBIG)/;
const DAMAGED = /^SQLITE_(?:CORRUPT|NOTADB)/;

/** Any other error than those that every copy has is of this machine: of its disk, its memory or its file. */
function requireSame(outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) {
    if (!("error" in outcome)) continue;
    const cause = outcome.error;
    // The note found it, and the whole group was undone.
    if (cause instanceof CopyBroken || cause instanceof CopyUnwritable) throw cause;
    const code = sqliteCode(cause);
    const isSame = code === "" ? !(cause instanceof AppError && cause.status === 503) : SAME_ON_ALL.test(code);
    if (isSame) continue;
    if (DAMAGED.test(code)) throw new CopyBroken("The file is damaged.", { cause });
    throw new CopyUnwritable("The file can't be written.", { cause });
  }
}

async function store({ commit }: Storage, statement: Statement): Promise<void> {
  const [outcome] = await commit([[statement]]);
  if (!outcome || !("error" in outcome)) return;
  requireSame([outcome]);
  throw new CopyBroken("The file can't be written.", { cause: outcome.error });
}

const countChanged = (batches: readonly Statement[][], outcomes: readonly Outcome[]) =>
  outcomes.reduce((sum, outcome, at) => {
    if ("error" in outcome) return sum;
    const rows = outcome.results.map(({ rowsAffected }, n) =>
      CHANGES_ROWS.test(batches[at]?.[n]?.sql ?? "") ? rowsAffected : 0,
    );
    return sum + rows.reduce((total, count) => total + count, 0);
  }, 0);

const noteStatement = ({ after, number, id, done, changed }: Progress): Statement => ({
  sql: "UPDATE log_progress SET after = ?, number = ?, entry = ?, done = ?, changed = ?",
  args: [after, number, id, done, changed],
});

/** A file that was in use before it had a log has applied nothing of it. */
async function readProgress(storage: Storage, cluster: string): Promise<Progress> {
  await store(storage, { sql: CREATE, args: [] });
  const [found] = (await storage.read("SELECT after, number, entry, done, changed FROM log_progress")).rows;
  if (!found) {
    const begin = "INSERT INTO log_progress (id, after, number, entry, changed, cluster) VALUES (1, 0, 0, '', 0, ?)";
    await store(storage, { sql: begin, args: [cluster] });
    return { after: 0, number: 0, id: "", done: null, changed: 0 };
  }
  const [after, number, changed] = [found.after, found.number, found.changed].map(Number) as [number, number, number];
  return { after, number, id: String(found.entry), done: found.done === null ? null : Number(found.done), changed };
}

/** What a file that is not open says of itself; undefined for one that never was in a cluster. */
export function readPlace(file: string): { cluster: string; number: number } | undefined {
  const connection = openReadOnly(file);
  try {
    const isNoted = connection.run("SELECT 1 FROM sqlite_schema WHERE name = 'log_progress'").rows.length > 0;
    const [found] = isNoted ? connection.run("SELECT cluster, number FROM log_progress").rows : [];
    return found && { cluster: String(found.cluster), number: Number(found.number) };
  } finally {
    connection.close();
  }
}
