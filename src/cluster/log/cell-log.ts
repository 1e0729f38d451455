// Appends to a cell's log: in order, in parts that the engine takes, and until it is known whether each is there.
import { EngineUnavailable, type LogEngine, type LogMessage, Moved } from "../engine.ts";

/** NATS takes messages of up to 1 MiB by default, and replicates smaller ones with fewer stalls. */
const MAX_PART_BYTES = 512 * 1024;
/** Milliseconds between two sends of a message that was not answered. */
const RETRY_MS = 100;
/** Milliseconds after which a message counts as refused for good. Servers of NATS that were all started anew need up to 13 seconds. */
const GIVE_UP_MS = 20_000;

/** What the first byte of a message says. */
const WHOLE = 0;
const PART = 1;
const LAST_PART = 2;
/** Not an entry: see `restartLog`. */
const RESTART = 3;

/** Where an entry is in the log. */
export interface EntryPlace {
  /** Of the message before its first one. */
  after: number;
  /** Of its last message. */
  number: number;
  /** Of the entry itself: logs that have another entry at this place are not the same. */
  id: string;
}

export interface CellLog {
  /** The number of the last message. */
  readonly last: number;
  /**
   * Appends one entry and returns where it is. Rejects with `Moved` once another node has appended, with the signal's reason if it has
   * aborted before, and with `EngineUnavailable` if the signal aborts meanwhile or the engine does not take it for long: then the entry
   * may be in the log all the same.
   */
  append(entry: Uint8Array): Promise<EntryPlace>;
}

/** @param last the number of the last message, as this node has read it */
export function openCellLog(
  engine: LogEngine,
  last: number,
  signal: AbortSignal,
  giveUpMs: number = GIVE_UP_MS,
): CellLog {
  /** The messages of an entry differ from all others: who finds its own at its place has written it. */
  async function appendMessage(bytes: Uint8Array): Promise<void> {
    const deadline = performance.now() + giveUpMs;
    signal.throwIfAborted();
    for (let isFirst = true; ; isFirst = false) {
      try {
        last = await unlessAborted(engine.append(last, bytes), signal);
        return;
      } catch (error) {
        if (!(error instanceof Moved || error instanceof EngineUnavailable)) throw error;
        // An earlier send, whose answer was lost, may be what has moved the log.
        const found =
          error instanceof Moved
            ? await unlessAborted(engine.read(last + 1), signal).catch(() => "unknown" as const)
            : "unknown";
        if (found instanceof Uint8Array && Buffer.from(found).equals(bytes)) {
          last += 1;
          return;
        }
        if (found instanceof Uint8Array || (found === undefined && isFirst)) throw error;
        if (signal.aborted || found === undefined || performance.now() > deadline)
          throw new EngineUnavailable(error.message, { cause: error });
        await Bun.sleep(RETRY_MS);
        if (signal.aborted) throw new EngineUnavailable(error.message, { cause: error });
      }
    }
  }

  return {
    get last() {
      return last;
    },
    async append(entry) {
      const after = last;
      const id = crypto.getRandomValues(new Uint8Array(ID_BYTES));
      const partBytes = Math.min(MAX_PART_BYTES, engine.maxBytes - HEAD_BYTES);
      for (const message of split(entry, id, partBytes)) await appendMessage(message);
      return { after, number: last, id: id.toHex() };
    },
  };
}

/** Rejects with `EngineUnavailable` once the signal aborts: an engine that is silent answers after seconds. */
function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const abort = () => reject(new EngineUnavailable("The answer was not waited for.", { cause: signal.reason }));
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  return promise;
}

/** The messages of an entry. Each has the entry's own id, so that no two are equal. */
function* split(entry: Uint8Array, id: Uint8Array, partBytes: number): Generator<Uint8Array> {
  for (let from = 0; from === 0 || from < entry.length; from += partBytes) {
    const isLast = from + partBytes >= entry.length;
    const head = isLast ? (from === 0 ? WHOLE : LAST_PART) : PART;
    yield Buffer.concat([new Uint8Array([head]), id, entry.subarray(from, from + partBytes)]);
  }
}

const ID_BYTES = 8;
const HEAD_BYTES = 1 + ID_BYTES;

/** The id of the entry that a message belongs to. */
export const entryIdOf = (message: Uint8Array) => message.slice(1, HEAD_BYTES).toHex();

export const isRestart = (message: Uint8Array) => message[0] === RESTART;

/** The number after which the log begins anew. */
export const restartOf = (message: Uint8Array) => Number(Buffer.from(message.subarray(HEAD_BYTES)).toString());

export const restartMessage = (number: number) =>
  Buffer.concat([
    new Uint8Array([RESTART]),
    crypto.getRandomValues(new Uint8Array(ID_BYTES)),
    Buffer.from(String(number)),
  ]);

export interface LogEntry extends EntryPlace {
  bytes: Uint8Array;
}

/**
 * Joins the messages of entries: returns the entry that a message completes. An entry whose writer died before its last part was
 * never written, and is left out.
 */
export function createEntryJoiner(): (message: LogMessage) => LogEntry | undefined {
  let parts: Uint8Array[] = [];
  let open = "";
  let after = 0;
  return ({ number, bytes }) => {
    const [head] = bytes;
    if (head !== WHOLE && head !== PART && head !== LAST_PART)
      throw new Error(`A message of the log has the unknown head ${head}.`);
    const id = entryIdOf(bytes);
    if (id !== open) {
      parts = [];
      after = number - 1;
    }
    open = id;
    parts.push(bytes.subarray(HEAD_BYTES));
    if (head === PART) return undefined;
    const [only, ...more] = parts;
    parts = [];
    return {
      after,
      number,
      id,
      bytes: more.length === 0 && only ? only : Buffer.concat([only ?? new Uint8Array(), ...more]),
    };
  };
}
