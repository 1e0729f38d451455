// Measures the busy time of concurrent tasks over the last minute: a running sum, with its values at the clock's last steps.
import { SAMPLE_SLOTS, type SampleClock } from "./sample-clock.ts";

/** A plain object to save memory, since each active agent has one. Only the functions of this file change it. */
export interface BusyMeter {
  /** Tasks running now. */
  running: number;
  /** Busy ms of ended tasks, minus the start time of each running one. */
  sum: number;
  /** The last step recorded in `history`. */
  lastStep: number;
  /** The total busy ms at each of the last steps: a ring buffer by step number. */
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

/** Busy milliseconds since the clock's first step; concurrent tasks add up. */
export function busyMs(meter: BusyMeter, clock: SampleClock): number {
  catchUp(meter, clock);
  return meter.sum + meter.running * clock.now() - (meter.history[clock.firstStep() % SAMPLE_SLOTS] ?? 0);
}

/** Records the steps since the last call. Nothing began or ended in between, so each step's total can be computed. */
function catchUp(meter: BusyMeter, clock: SampleClock): void {
  for (let step = Math.max(meter.lastStep + 1, clock.firstStep()); step <= clock.step; step++) {
    meter.history[step % SAMPLE_SLOTS] = meter.sum + meter.running * clock.stepStart(step);
  }
  meter.lastStep = clock.step;
}
