// Time in steps of five seconds, with the process's own processor time at each, so that "the last minute" can be asked for.

/** Steps that are looked back on. */
const STEPS = 12;
const STEP_MS = 5_000;
/** Places in a ring that holds what was at each of these steps, and at the one that is under way. */
export const RING = STEPS + 1;

export interface Clock {
  /** Milliseconds; never goes back. */
  now(): number;
  /** The number of the last step that began, from 0. */
  readonly step: number;
  /** When a step began; for the last `RING` of them. */
  began(step: number): number;
  /** The first step of the last minute: 60 to 65 seconds ago, later for a process that is younger. */
  first(): number;
  /** What the process has used of the processor since the first step, over how long; both in ms. */
  used(): { cpuMs: number; ms: number };
  /** Begins a step. */
  advance(): void;
  /** Has one begin every five seconds. */
  start(): void;
  stop(): void;
}

const processCpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

export function createClock({ now = () => performance.now(), cpu = processCpu } = {}): Clock {
  const times = new Float64Array(RING);
  const cpus = new Float64Array(RING);
  let step = 0;
  let timer: Timer | undefined;

  function note(): void {
    times[step % RING] = now();
    cpus[step % RING] = cpu();
  }
  note();

  function advance(): void {
    step++;
    note();
  }

  const began = (which: number) => times[which % RING] ?? 0;
  const first = () => Math.max(0, step - STEPS);

  return {
    now,
    get step() {
      return step;
    },
    began,
    first,
    used: () => ({ cpuMs: cpu() - (cpus[first() % RING] ?? 0), ms: now() - began(first()) }),
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
