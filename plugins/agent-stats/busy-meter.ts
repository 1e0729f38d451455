// How long something was busy over the last minute, when several things may be so at once: two numbers, and their past in steps.
import { SAMPLE_SLOTS, type SampleClock } from "./sample-clock.ts";

/** A plain object, since there is one for each active agent. Written by the functions here alone. */
export interface BusyMeter {
  /** How many are busy now. */
  running: number;
  /** Busy time of those that have ended, less the time at which each running one began. */
  sum: number;
  /** The last step that is in `past`. */
  lastStep: number;
  /** Busy time altogether at each of the last steps. */
  readonly history: Float64Array;
}

export const createBusyMeter = ({ step }: SampleClock): BusyMeter => ({
  running: 0,
  sum: 0,
  lastStep: step,
  history: new Float64Array(SAMPLE_SLOTS),
});

export function beginBusy(meter: BusyMeter, clock: SampleClock): void {
  catchUp(meter, clock);
  meter.sum -= clock.now();
  meter.running++;
}

export function endBusy(meter: BusyMeter, clock: SampleClock): void {
  catchUp(meter, clock);
  meter.sum += clock.now();
  meter.running--;
}

/** Busy milliseconds since the clock's first step; two that were busy side by side count twice. */
export function busyMs(meter: BusyMeter, clock: SampleClock): number {
  catchUp(meter, clock);
  return meter.sum + meter.running * clock.now() - (meter.history[clock.firstStep() % SAMPLE_SLOTS] ?? 0);
}

/** Nothing has changed since it was last written, so that what was at each step since then can be told. */
function catchUp(meter: BusyMeter, clock: SampleClock): void {
  for (let step = Math.max(meter.lastStep + 1, clock.firstStep()); step <= clock.step; step++) {
    meter.history[step % SAMPLE_SLOTS] = meter.sum + meter.running * clock.stepStart(step);
  }
  meter.lastStep = clock.step;
}
