// Time in steps of five seconds, with the process's own processor time at each, so that "the last minute" can be asked for.

/** Steps that are looked back on. */
const WINDOW_STEPS = 12;
const STEP_MS = 5_000;
/** Places in a ring that holds what was at each of these steps, and at the one that is under way. */
export const SAMPLE_SLOTS = WINDOW_STEPS + 1;

export interface SampleClock {
  /** Milliseconds; never goes back. */
  now(): number;
  /** The number of the last step that began, from 0. */
  readonly step: number;
  /** When a step began; for the last `RING` of them. */
  stepStart(step: number): number;
  /** The first step of the last minute: 60 to 65 seconds ago, later for a process that is younger. */
  firstStep(): number;
  /** What the process has used of the processor since the first step, over how long; both in ms. */
  cpuUsage(): { cpuMs: number; ms: number };
  /** Begins a step. */
  advance(): void;
  /** Has one begin every five seconds. */
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
