// Watches a table as long as somebody wants to know, whatever the engine does meanwhile.
import type { Table, TableEntry } from "../engine.ts";

export interface Watching {
  table: Table;
  /** Ends it. */
  signal: AbortSignal;
  onEntry(entry: TableEntry): void;
  /** Called before it begins anew: the table may be another one, whose revisions begin with 1. */
  onRestart?(): void;
  onError(error: unknown): void;
  /** Ends one watch, so that the next begins. */
  restarts?: () => AbortSignal;
  retryMs: number;
}

export async function keepWatching(deps: Watching): Promise<void> {
  const { table, signal, onEntry, onRestart, onError, restarts, retryMs } = deps;
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      if (!isFirst) onRestart?.();
      const ends = restarts ? AbortSignal.any([signal, restarts()]) : signal;
      for await (const entry of table.watch(ends)) onEntry(entry);
    } catch (error) {
      onError(error);
    }
    if (!signal.aborted) await Bun.sleep(retryMs);
  }
}
