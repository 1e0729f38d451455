// What one socket may send: each frame is parsed and most are answered, so that they are bounded, whatever is in them.

/** Frames at once, and a second from then on: far more than pings and cancels need. */
const BURST = 600;
const PER_SECOND = 20;
/** A longer frame counts once more for each of these. */
const BYTES_PER_UNIT = 64 * 1024;

export interface FrameLimiter {
  /** False where it was too much. */
  tryTake(bytes: number): boolean;
  /** For a frame that counts elsewhere. */
  refund(bytes: number): void;
}

const costOf = (bytes: number) => 1 + Math.floor(bytes / BYTES_PER_UNIT);

/** `now` in milliseconds. */
export function createFrameLimiter(now: () => number = () => performance.now()): FrameLimiter {
  let available = BURST;
  let at = now();
  return {
    tryTake(bytes) {
      const time = now();
      available = Math.min(BURST, available + ((time - at) * PER_SECOND) / 1_000);
      at = time;
      const cost = costOf(bytes);
      if (available < cost) return false;
      available -= cost;
      return true;
    },
    refund(bytes) {
      available += costOf(bytes);
    },
  };
}
