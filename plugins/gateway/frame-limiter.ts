// Limits the frames of one socket by a token bucket, since parsing and answering each of them costs work.

/** Frames in a burst, and frames a second after it: far more than pings and cancels need. */
const BURST = 600;
const PER_SECOND = 20;
/** A frame counts once more for each of these units. */
const BYTES_PER_UNIT = 64 * 1024;

export interface FrameLimiter {
  /** Counts a frame; false when the limit is exceeded. */
  tryTake(bytes: number): boolean;
  /** Takes back the count of a frame that counts under another limit. */
  refund(bytes: number): void;
}

const costOf = (bytes: number) => 1 + Math.floor(bytes / BYTES_PER_UNIT);

/** @param now the time in milliseconds */
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
