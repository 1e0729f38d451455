// Room for so much at once: whoever finds it full waits, and the first to wait is the first to come in.

export interface Room {
  /** Resolves with what leaves again, once there is room for `size`; one larger than the room comes in alone. */
  enter(size: number, signal: AbortSignal): Promise<() => void>;
}

export function createRoom(most: number): Room {
  let held = 0;
  const waiting = new Set<{ size: number; come(): void }>();

  function leave(size: number): void {
    held -= size;
    for (const next of waiting) {
      if (held > 0 && held + next.size > most) return;
      waiting.delete(next);
      next.come();
    }
  }

  return {
    async enter(size, signal) {
      signal.throwIfAborted();
      if (size === 0) return () => undefined;
      if (waiting.size > 0 || (held > 0 && held + size > most)) {
        const turn = Promise.withResolvers<void>();
        const place = {
          size,
          come() {
            held += size;
            turn.resolve();
          },
        };
        const gone = () => {
          if (waiting.delete(place)) turn.reject(signal.reason);
        };
        waiting.add(place);
        signal.addEventListener("abort", gone, { once: true });
        await turn.promise.finally(() => signal.removeEventListener("abort", gone));
      } else held += size;
      let inside = true;
      return () => {
        if (inside) leave(size);
        inside = false;
      };
    },
  };
}
