// What operators have asked for: nodes to give their cells up, and cells to be owned by another node.
import type { Table } from "../engine.ts";
import { keepWatching } from "./keep-watching.ts";
import { keyOf } from "./lease.ts";

export interface Orders {
  isDraining(address: string): boolean;
  /** The address of the node that the cell is to move to. */
  wantedOwner(cell: number): string | undefined;
  /** Whether operators have put the cell where it is: it does not move to even out. */
  isKept(cell: number): boolean;
  /** Forgets the wish, if it was for this node. */
  done(cell: number, address: string): Promise<void>;
  stop(): void;
}

export const drainKey = (address: string) => `drain.${keyOf(address)}`;
export const keepKey = (cell: number) => `keep.${cell}`;
export const moveKey = (cell: number | "") => `move.${cell}`;

export interface OrdersDeps {
  table: Table;
  onChange(): void;
  onError(error: unknown): void;
  retryMs?: number;
}

export function watchOrders({ table, onChange, onError, retryMs = 1_000 }: OrdersDeps): Orders {
  const stopped = new AbortController();
  const known = new Map<string, string>();

  void keepWatching({
    table,
    signal: stopped.signal,
    onEntry({ key, value }) {
      if (value === undefined) known.delete(key);
      else known.set(key, value);
      onChange();
    },
    onRestart: () => known.clear(),
    onError,
    retryMs,
  });

  return {
    isDraining: (address) => known.has(drainKey(address)),
    wantedOwner: (cell) => known.get(moveKey(cell)),
    isKept: (cell) => known.has(keepKey(cell)),
    async done(cell, address) {
      const key = moveKey(cell);
      if (known.get(key) !== address) return;
      known.delete(key);
      try {
        await table.remove(key);
      } catch (error) {
        known.set(key, address);
        throw error;
      }
    },
    stop: () => stopped.abort(),
  };
}
