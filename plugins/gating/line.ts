// A few works side by side; the others wait in line, but not for long.
export type Line = <T>(work: () => Promise<T>) => Promise<T>;

export interface LineOptions {
  places: number;
  /** How long somebody waits for a place. */
  patienceMs: number;
  /** Thrown where no place got free in time. */
  tooLong: () => Error;
}

export function createLine({ places, patienceMs, tooLong }: LineOptions): Line {
  let taken = 0;
  const waiting = new Set<() => void>();

  function place(): Promise<void> {
    if (taken < places) {
      taken++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const come = () => {
        clearTimeout(deadline);
        waiting.delete(come);
        resolve();
      };
      const deadline = setTimeout(() => {
        waiting.delete(come);
        reject(tooLong());
      }, patienceMs);
      waiting.add(come);
    });
  }

  return async (work) => {
    await place();
    try {
      return await work();
    } finally {
      // The place goes from hand to hand.
      const [next] = waiting;
      if (next) next();
      else taken--;
    }
  };
}
