// A clock with steps of five seconds. It samples the time and the process's CPU time at each step, to measure the last minute.
import { SECOND } from "../../src/kernel/util/time.ts";

/** Steps in the measured minute. */
const WINDOW_STEPS = 12;
const STEP_MS = 5 * SECOND;
/** The size of a ring buffer with a value for each of these steps and for the current one. */
export const SAMPLE_SLOTS = WINDOW_STEPS + 1;

export interface SampleClock {
  /** Monotonic milliseconds. */
  now(): number;
  /** The number of the current step, from 0. */
  readonly step: number;
  /** The start time of a step; only for the last `SAMPLE_SLOTS` of them. */
  stepStart(step: number): number;
  /** The first step of the last minute: 60 to 65 seconds ago, or step 0 of a younger process. */
  firstStep(): number;
  /** The process's CPU time since the first step, and the time elapsed since then; both in ms. */
  cpuUsage(): { cpuMs: number; ms: number };
  /** Begins the next step. */
  advance(): void;
  /** Advances every five seconds until `stop`. */
  start(): void;
  stop(): void;
}

const processCpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

export function createSampleClock({ now = () => performance.now(), cpu = processCpuMs } = {}): SampleClock {
  const times = new Float64Array(SAMPLE_SLOTS);
  const cpus = new Float64Array(SAMPLE_SLOTS);
  let step = 0;
  let timer: Timer | undefined;

  function sample(): void {
    times[step % SAMPLE_SLOTS] = now();
    cpus[step % SAMPLE_SLOTS] = cpu();
  }
  sample();

  function advance(): void {
    step++;
    sample();
  }

  const stepStart = (which: number) => times[which % SAMPLE_SLOTS] ?? 0;
  const firstStep = () => Math.max(0, step - WINDOW_STEPS);

  return {
    now,
    get step() {
      return step;
    },
    stepStart,
    firstStep,
    cpuUsage: () => ({ cpuMs: cpu() - (cpus[firstStep() % SAMPLE_SLOTS] ?? 0), ms: now() - stepStart(firstStep()) }),
    advance,
    start() {
      timer ??= setInterval(advance, STEP_MS).unref();
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
