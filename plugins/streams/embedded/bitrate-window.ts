// Measures a publisher's bit rate over a sliding window of ten seconds, counted in buckets of one second.
import { SECOND } from "../../../src/kernel/util/time.ts";

export const WINDOW_SECONDS = 10;

export interface BitrateWindow {
  /** Counts bytes in the current second. */
  add(bytes: number): void;
  /** Begins a new second and drops the oldest one. Call it once a second. */
  advance(): void;
  /** Bytes in the window. */
  readonly bytes: number;
  /** Average bits per second: over the window, or over the time since `start` (epoch ms) while that is shorter. */
  bitrateSince(start: number): number;
}

export function createBitrateWindow(): BitrateWindow {
  /** Bytes by second, the newest last. */
  const bytesPerSecond = [0];
  let bytes = 0;
  return {
    add(count) {
      bytes += count;
      bytesPerSecond[bytesPerSecond.length - 1] = (bytesPerSecond.at(-1) ?? 0) + count;
    },
    advance() {
      bytesPerSecond.push(0);
      while (bytesPerSecond.length > WINDOW_SECONDS) bytes -= bytesPerSecond.shift() ?? 0;
    },
    get bytes() {
      return bytes;
    },
    bitrateSince(start) {
      const seconds = Math.min(WINDOW_SECONDS, Math.max(1, (Date.now() - start) / SECOND));
      return Math.round((bytes * 8) / seconds);
    },
  };
}
