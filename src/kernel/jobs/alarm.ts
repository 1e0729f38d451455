// Calls a function at a time of the clock, also if the clock is set or the machine sleeps meanwhile.
import { MINUTE } from "../util/time.ts";

export interface Alarm {
  /** Sets the alarm for this time (epoch ms) in place of an earlier one. A time that has passed rings at once. */
  setFor(time: number): void;
  clear(): void;
}

export interface AlarmOptions {
  /** Epoch ms. */
  now?: () => number;
  /** The alarm looks at the clock at least this often, in ms: a timer alone does not notice that the clock was set. */
  checkMs?: number;
}

/** The alarm does not keep the process alive. */
export function createAlarm(ring: () => void, { now = Date.now, checkMs = MINUTE }: AlarmOptions = {}): Alarm {
  let timer: Timer | undefined;
  function setFor(time: number): void {
    clearTimeout(timer);
    const wait = time - now();
    timer = wait <= checkMs ? setTimeout(ring, Math.max(0, wait)).unref() : setTimeout(setFor, checkMs, time).unref();
  }
  return { setFor, clear: () => clearTimeout(timer) };
}
