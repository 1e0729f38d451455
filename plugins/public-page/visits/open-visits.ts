// Keeps the answers that visitors' browsers read while their connections break and return: the requests with one key share one
// request to the backend, and each of them reads its stream from the beginning.
import { MINUTE } from "../../../src/kernel/util/time.ts";

export interface OpenVisits {
  /**
   * Resolves with the stream for one reader. `begin` opens it for the first one; its signal aborts when no reader has been there
   * for a minute, or at `stop`. Rejects as `begin`.
   */
  read(key: string, signal: AbortSignal, begin: Begin): Promise<ReadableStream<Uint8Array>>;
  /** Aborts the request with this key; false if none is open. */
  stop(key: string): boolean;
}

type Begin = (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;

interface Visit {
  readonly controller: AbortController;
  readonly chunks: Uint8Array[];
  /** Wake the readers that have read all chunks. */
  readonly wakes: Set<() => void>;
  opened: Promise<unknown>;
  hasEnded: boolean;
  failure?: unknown;
  readers: number;
  leaving?: Timer;
}

/** How long an answer goes on without a reader. */
const GRACE_MS = MINUTE;

export function createOpenVisits({ graceMs = GRACE_MS }: { graceMs?: number } = {}): OpenVisits {
  const visits = new Map<string, Visit>();

  function open(key: string, begin: Begin): Visit {
    const visit: Visit = {
      controller: new AbortController(),
      chunks: [],
      wakes: new Set(),
      opened: Promise.resolve(),
      hasEnded: false,
      readers: 0,
    };
    visits.set(key, visit);
    visit.opened = begin(visit.controller.signal).then(
      (body) => void collect(key, visit, body),
      (error: unknown) => {
        end(key, visit);
        throw error;
      },
    );
    return visit;
  }

  async function collect(key: string, visit: Visit, body: ReadableStream<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of body) {
        visit.chunks.push(chunk);
        wakeAll(visit);
      }
    } catch (error) {
      visit.failure = error;
    }
    end(key, visit);
  }

  function end(key: string, visit: Visit): void {
    visit.hasEnded = true;
    clearTimeout(visit.leaving);
    visits.delete(key);
    wakeAll(visit);
  }

  /** Returns the function that counts the reader out, safe to call twice. */
  function enter(visit: Visit): () => void {
    clearTimeout(visit.leaving);
    visit.readers++;
    let isHere = true;
    return () => {
      if (!isHere) return;
      isHere = false;
      if (--visit.readers > 0 || visit.hasEnded) return;
      visit.leaving = setTimeout(() => visit.controller.abort(), graceMs);
      visit.leaving.unref();
    };
  }

  return {
    async read(key, signal, begin) {
      const visit = visits.get(key) ?? open(key, begin);
      const leave = enter(visit);
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave, { once: true });
      await visit.opened;
      return streamOf(visit, leave);
    },
    stop(key) {
      const visit = visits.get(key);
      visit?.controller.abort();
      return visit !== undefined;
    },
  };
}

function wakeAll({ wakes }: Visit): void {
  for (const wake of wakes) wake();
  wakes.clear();
}

function streamOf(visit: Visit, leave: () => void): ReadableStream<Uint8Array> {
  let read = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (read === visit.chunks.length && !visit.hasEnded)
        await new Promise<void>((resolve) => void visit.wakes.add(resolve));
      const chunk = visit.chunks[read++];
      if (chunk) return controller.enqueue(chunk);
      leave();
      if (visit.failure === undefined) controller.close();
      else controller.error(visit.failure);
    },
    cancel: leave,
  });
}
