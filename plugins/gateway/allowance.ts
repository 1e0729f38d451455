// What one socket may send: each frame is parsed and most are answered, so that they are bounded, whatever is in them.

/** Frames at once, and a second from then on: far more than pings and cancels need. */
const BURST = 600;
const PER_SECOND = 20;
/** A longer frame counts once more for each of these. */
const BYTES = 64 * 1024;

export interface Allowance {
  /** False where it was too much. */
  take(bytes: number): boolean;
  /** For a frame that counts elsewhere. */
  giveBack(bytes: number): void;
}

const costOf = (bytes: number) => 1 + Math.floor(bytes / BYTES);

/** `now` in milliseconds. */
export function createAllowance(now: () => number = () => performance.now()): Allowance {
  let left = BURST;
  let at = now();
  return {
    take(bytes) {
      const time = now();
      left = Math.min(BURST, left + ((time - at) * PER_SECOND) / 1_000);
      at = time;
      const cost = costOf(bytes);
      if (left < cost) return false;
      left -= cost;
      return true;
    },
    giveBack(bytes) {
      left += costOf(bytes);
    },
  };
}
