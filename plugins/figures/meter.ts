// How long something was busy over the last minute, when several things may be so at once: two numbers, and their past in steps.
import { type Clock, RING } from "./clock.ts";

/** A plain object, since there is one for each active agent. Written by the functions here alone. */
export interface Meter {
  /** How many are busy now. */
  running: number;
  /** Busy time of those that have ended, less the time at which each running one began. */
  sum: number;
  /** The last step that is in `past`. */
  seen: number;
  /** Busy time altogether at each of the last steps. */
  readonly past: Float64Array;
}

export const createMeter = ({ step }: Clock): Meter => ({
  running: 0,
  sum: 0,
  seen: step,
  past: new Float64Array(RING),
});

export function begin(meter: Meter, clock: Clock): void {
  catchUp(meter, clock);
  meter.sum -= clock.now();
  meter.running++;
}

export function end(meter: Meter, clock: Clock): void {
  catchUp(meter, clock);
  meter.sum += clock.now();
  meter.running--;
}

/** Busy milliseconds since the clock's first step; two that were busy side by side count twice. */
export function busy(meter: Meter, clock: Clock): number {
  catchUp(meter, clock);
  return meter.sum + meter.running * clock.now() - (meter.past[clock.first() % RING] ?? 0);
}

/** Nothing has changed since it was last written, so that what was at each step since then can be told. */
function catchUp(meter: Meter, clock: Clock): void {
  for (let step = Math.max(meter.seen + 1, clock.first()); step <= clock.step; step++) {
    meter.past[step % RING] = meter.sum + meter.running * clock.began(step);
  }
  meter.seen = clock.step;
}
