// Ends what waits for a process or node that another one has replaced: one that was stopped, or whose machine has lost its power, is
// silent and closes no connection.

export interface DeparturesDeps {
  /** Undefined while this node knows none. */
  placeOf(cell: number): { kind: "here" } | { kind: "process" | "node"; address: string } | undefined;
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

export interface PassedOn {
  /** See `untilEnded`. */
  quietMs: number;
  /** Ends the body, as if its sender had. */
  closing?: AbortSignal | undefined;
  /** Called once, after the last of it. */
  onEnd?(): void;
}

/**
 * Passes on what comes, and ends the watch after the last of it. Once the cell is gone, the body breaks off when nothing has come
 * for `quietMs` although it is waited for: a node that gave the cell up in good order may still bring it to its end.
 */
export function untilEnded(response: Response, departure: Departure, { quietMs, closing, onEnd }: PassedOn): Response {
  const { gone } = departure;
  const end = () => {
    departure.end();
    onEnd?.();
  };
  const reader = response.body?.getReader();
  if (!reader) {
    end();
    return response;
  }
  let [isReading, isClosed] = [false, false];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let breakOff: () => void = () => undefined;
  let close: () => void = () => undefined;
  const wait = () => {
    if (isReading && gone.aborted) timer = setTimeout(breakOff, quietMs);
  };
  function finish(): void {
    gone.removeEventListener("abort", wait);
    closing?.removeEventListener("abort", close);
    end();
  }
  gone.addEventListener("abort", wait);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      breakOff = () => {
        finish();
        controller.error(new Error("The machine that sent this does not answer any more."));
        void reader.cancel().catch(() => undefined);
      };
      close = () => {
        finish();
        isClosed = true;
        controller.close();
        void reader.cancel().catch(() => undefined);
      };
      closing?.addEventListener("abort", close);
      if (closing?.aborted) close();
    },
    async pull(controller) {
      isReading = true;
      wait();
      try {
        const { done, value } = await reader.read();
        if (isClosed) return;
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        if (isClosed) return;
        controller.error(error);
      } finally {
        isReading = false;
        clearTimeout(timer);
      }
      finish();
    },
    cancel(reason) {
      finish();
      return reader.cancel(reason);
    },
  });
  return new Response(body, response);
}
