// Ends what waits for a process or node that another one has replaced: one that was stopped, or whose machine has lost its power, is
// silent and closes no connection.
import type { Place } from "./router.ts";

export interface DeparturesDeps {
  placeOf(cell: number): Place | undefined;
  /** Resolves when a place may have changed, or after `ms`. */
  changed(ms: number): Promise<void>;
}

const LOOK_MS = 250;

export function watchDepartures({ placeOf, changed }: DeparturesDeps) {
  /** Of all requests that wait, with one look at their places for all. */
  const waiting = new Set<{ cell: number; address: string; gone: AbortController }>();
  let isLooking = false;

  async function keepLooking(): Promise<void> {
    isLooking = true;
    while (waiting.size > 0) {
      await changed(LOOK_MS);
      for (const { cell, address, gone } of waiting) {
        const place = placeOf(cell);
        // Unknown is not elsewhere: this node itself may not see the others for a moment.
        if (place && (place.kind === "here" || place.address !== address)) gone.abort();
      }
    }
    isLooking = false;
  }

  return {
    /** Runs `work` with a signal that aborts when the cell is somewhere else than at this address. */
    async during<Result>(cell: number, address: string, work: (gone: AbortSignal) => Promise<Result>): Promise<Result> {
      const one = { cell, address, gone: new AbortController() };
      waiting.add(one);
      if (!isLooking) void keepLooking();
      try {
        return await work(one.gone.signal);
      } finally {
        waiting.delete(one);
      }
    },
  };
}
