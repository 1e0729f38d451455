// Applies a log to a copy: all that it has now, or all that comes.
import { EngineUnavailable, type LogEngine } from "../engine.ts";
import { createEntryJoiner, entryIdOf, type LogEntry } from "./cell-log.ts";
import { type Copy, CopyBroken } from "./copy.ts";
import { decodeEntry, type Entry } from "./entry.ts";
import { finishRestart } from "./restart.ts";

/** The log does not have entries that this copy has still to apply: it has to begin with a snapshot that has them. */
export class SnapshotNeeded extends Error {
  override readonly name = "SnapshotNeeded";
}

/** The log ends before this copy, or begins anew: the engine has lost entries, which this copy has. */
export class LogLost extends Error {
  override readonly name = "LogLost";
}

/**
 * Applies the log from where the copy is. `onMessage` is called after each message; applying ends once it returns true, or the
 * signal aborts. `onCheck` is called at the entry of a check, and nothing more is applied until it resolves. Throws `SnapshotNeeded`, `LogLost`, `CopyBroken`, `CopyUnwritable`, and `EngineUnavailable`, after which it may be called again.
 */
export async function applyLog(
  engine: LogEngine,
  copy: Copy,
  signal: AbortSignal,
  onMessage: (number: number) => boolean,
  onCheck?: (id: string) => Promise<void>,
): Promise<void> {
  const { number: applied, id, done, after: before } = copy.progress;
  const after = done === null ? applied : before;
  const { first, last } = await engine.bounds();
  const newest = last >= first ? await engine.read(last) : undefined;
  await finishRestart(engine, newest);
  if (last < applied) throw new LogLost(`The log ends with ${last}, and this copy has applied ${applied}.`);
  if (first > after + 1) throw trimmed(first, after);
  const message = applied >= first ? await engine.read(applied) : undefined;
  if (message && entryIdOf(message) !== id)
    throw new CopyBroken(`The log has another entry ${applied} than the one that this copy has applied.`);
  // Without its last message, a log would be waited for that has no more to send.
  if (last > after && newest === undefined) throw await whyMissing(engine, last);
  if (last === after && onMessage(after)) return;
  let next = after + 1;
  const join = createEntryJoiner();
  const stop = new AbortController();
  try {
    for await (const message of engine.follow(after, AbortSignal.any([signal, stop.signal]))) {
      if (message.number !== next) throw await whyMissing(engine, next);
      next++;
      await finishRestart(engine, message.bytes);
      const entry = join(message);
      if (entry) {
        const decoded = decode(entry);
        await copy.apply(entry, decoded);
        if (decoded.kind === "check") await onCheck?.(decoded.id);
      }
      if (onMessage(message.number)) return;
    }
  } finally {
    stop.abort();
  }
  if (!signal.aborted) throw new EngineUnavailable("The log stopped coming.");
}

/** What can't be read is as good as lost. */
function decode({ number, bytes }: LogEntry): Entry {
  try {
    return decodeEntry(bytes);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SnapshotNeeded(`Entry ${number} of the log can't be read: ${why}`, { cause });
  }
}

const trimmed = (first: number, applied: number) =>
  new SnapshotNeeded(`The log begins with ${first}, and this copy has applied ${applied}.`);

/** Why a message did not come although later ones are there. */
async function whyMissing(engine: LogEngine, number: number): Promise<Error> {
  const found = await engine.read(number);
  if (found !== undefined) return new EngineUnavailable(`The log did not send its message ${number}.`);
  const { first } = await engine.bounds();
  if (first > number) return trimmed(first, number - 1);
  return new SnapshotNeeded(`The log has lost its message ${number}.`);
}

/** Applies all that the log has now. */
export async function catchUp(engine: LogEngine, copy: Copy, signal: AbortSignal): Promise<number> {
  const { last } = await engine.bounds();
  await applyLog(engine, copy, signal, (number) => number >= last);
  return last;
}
