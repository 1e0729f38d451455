// The only waiting and randomness that tests use: polling with a deadline, conditions that are notified of changes, and a
// seeded random generator.

/** A machine that runs other work may need several times as long as a quiet one, for which the limits of waiting are written. */
const BUSY = 6;

/** A limit in milliseconds, extended for a busy machine. A limit below two seconds stays: it is for what may not happen. */
export const patient = (limitMs: number): number => (limitMs < 2_000 ? limitMs : limitMs * BUSY);

/** How long and how often to check, in milliseconds; `what` names the condition in the failure message. */
export interface WaitOptions {
  timeoutMs?: number;
  everyMs?: number;
  what?: string;
}

/** A condition did not become true in time. */
export class ConditionTimeout extends Error {
  override readonly name = "ConditionTimeout";
}

/**
 * Calls `check` repeatedly until it returns a truthy value, and returns that. An exception counts as "not yet",
 * so `check` may use `expect`. Throws `ConditionTimeout` with the last result. By default it calls every 10 ms and waits
 * for `patient(10_000)` ms.
 *
 * @example
 * const agent = await eventually(() => client.agents().find((agent) => agent.status === "active"));
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 10_000, everyMs = 10, what }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const started = performance.now();
  let seen: unknown;
  let failure: unknown;
  for (;;) {
    try {
      const value = await check();
      if (value) return value;
      seen = value;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    const waited = performance.now() - started;
    if (waited > patient(timeoutMs)) throw conditionTimeout(what ?? String(check), waited, seen, failure);
    await Bun.sleep(everyMs);
  }
}

/** The shortest of three runs, in milliseconds: the run that other processes on the machine disturbed least. */
export async function fastestRun(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 3; n++) {
    const since = performance.now();
    await work();
    times.push(performance.now() - since);
  }
  return Math.min(...times);
}

/** Waits for conditions over state whose owner calls `changed()`, so that nothing is polled. */
export interface Watch {
  /** Must be called after every change. */
  changed(): void;
  /** Resolves with the first truthy value of `check`, now or after a change; throws `ConditionTimeout`. */
  waitFor<T>(check: () => T, timeoutMs?: number, what?: string): Promise<NonNullable<T>>;
}

export function createWatch(): Watch {
  const waiting = new Set<() => void>();
  return {
    changed() {
      for (const look of [...waiting]) look();
    },
    waitFor<T>(check: () => T, timeoutMs = 10_000, what = String(check)) {
      return new Promise<NonNullable<T>>((resolve, reject) => {
        const finish = () => {
          clearTimeout(deadline);
          waiting.delete(look);
        };
        let seen: unknown;
        const look = () => {
          try {
            const value = check();
            seen = value;
            if (!value) return;
            finish();
            resolve(value);
          } catch (error) {
            finish();
            reject(error);
          }
        };
        const deadline = setTimeout(() => {
          finish();
          look();
          reject(conditionTimeout(what, patient(timeoutMs), seen, undefined));
        }, patient(timeoutMs));
        waiting.add(look);
        look();
      });
    },
  };
}

function conditionTimeout(what: string, waitedMs: number, seen: unknown, failure: unknown): ConditionTimeout {
  const last = failure instanceof Error ? `threw: ${failure.message}` : `returned ${Bun.inspect(failure ?? seen)}`;
  return new ConditionTimeout(`Not within ${Math.round(waitedMs)} ms: ${what}\nThe last check ${last}`, {
    cause: failure,
  });
}

/** A generator of the same numbers for the same seed; print `seed`, so that a failure can be repeated. */
export interface Seeded {
  readonly seed: number;
  /** In [0, 1). */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  integer(low: number, high: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** A new array in another order. */
  shuffle<T>(from: readonly T[]): T[];
}

/** mulberry32: 32 bits of state, good enough to scatter events over a test. */
export function seeded(seed = Math.floor(Math.random() * 2 ** 32)): Seeded {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    seed: seed >>> 0,
    next,
    integer,
    chance: (probability) => next() < probability,
    pick<T>(from: readonly T[]) {
      if (from.length === 0) throw new Error("Nothing to pick from.");
      return from[integer(0, from.length - 1)] as T;
    },
    shuffle<T>(from: readonly T[]) {
      const left = [...from];
      const taken: T[] = [];
      while (left.length > 0) taken.push(...left.splice(integer(0, left.length - 1), 1));
      return taken;
    },
  };
}
