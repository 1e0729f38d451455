// How often a platform may post for one bot: far more than any platform does, far less than would hurt the others.

/** Posts at once, and then one every so many ms. */
const BURST = 5_000;
const EVERY = 1;

export interface Meter {
  /** Counts one post; 0, or the milliseconds until there is room for it. */
  take(): number;
}

/** The generic cell rate algorithm: one number, the time at which the burst is whole again. */
export function createMeter({ burst = BURST, every = EVERY, now = () => performance.now() } = {}): Meter {
  let whole = 0;
  return {
    take() {
      const time = now();
      const wait = whole - (burst - 1) * every - time;
      if (wait > 0) return wait;
      whole = Math.max(whole, time) + every;
      return 0;
    },
  };
}
