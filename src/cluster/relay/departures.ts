// Ends what waits for a process or node that another one has replaced: one that was stopped, or whose machine has lost its power, is
// silent and closes no connection.
import type { Place } from "./place.ts";

export interface DeparturesDeps {
  placeOf(cell: number): Place | undefined;
  /** Resolves when a place may have changed, or after `ms`. */
  changed(ms: number): Promise<void>;
}

const LOOK_MS = 250;
/** A node that gives a cell up in good order answers within this time what it still has, or says that it has done nothing. */
const GRACE_MS = 500;

export interface Departure {
  /** Aborts when the cell is somewhere else than at the address. */
  readonly gone: AbortSignal;
  end(): void;
}

interface Waiting {
  cell: number;
  address: string;
  gone: AbortController;
  /** Monotonic ms: since when the cell is elsewhere. */
  goneAt?: number;
}

export function watchDepartures({ placeOf, changed }: DeparturesDeps) {
  /** Of all requests that wait, with one look at their places for all. */
  const waiting = new Set<Waiting>();
  let isLooking = false;

  /** Unknown is not elsewhere: this node itself may not see the others for a moment. */
  function isElsewhere({ cell, address }: Waiting): boolean {
    const place = placeOf(cell);
    return place !== undefined && (place.kind === "here" || place.address !== address);
  }

  async function keepLooking(): Promise<void> {
    isLooking = true;
    while (waiting.size > 0) {
      await changed(LOOK_MS);
      const now = performance.now();
      for (const one of waiting) {
        if (isElsewhere(one)) one.goneAt ??= now;
        if (one.goneAt !== undefined && now - one.goneAt >= GRACE_MS) one.gone.abort();
      }
    }
    isLooking = false;
  }

  return {
    /** Watches until `end` is called. */
    watch(cell: number, address: string): Departure {
      const one: Waiting = { cell, address, gone: new AbortController() };
      waiting.add(one);
      if (!isLooking) void keepLooking();
      return { gone: one.gone.signal, end: () => void waiting.delete(one) };
    },
  };
}

/** Passes on what comes and calls `end` after the last of it. */
export function untilEnded(response: Response, end: () => void): Response {
  const reader = response.body?.getReader();
  if (!reader) {
    end();
    return response;
  }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      end();
    },
    cancel(reason) {
      end();
      return reader.cancel(reason);
    },
  });
  return new Response(body, response);
}
