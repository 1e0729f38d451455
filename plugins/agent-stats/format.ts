// Formats percentages, bytes and durations as text.
import { DAY, HOUR, MINUTE, SECOND } from "../../src/kernel/util/time.ts";

/** `0.42%` for a share of 0.0042. */
export const formatPercent = (share: number) => `${(100 * share).toFixed(2)}%`;

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** `1.5 KiB`, in the largest unit that gives at least 1. */
export function formatBytes(count: number): string {
  let unit = 0;
  let value = count;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${unit === 0 || Number.isInteger(value) ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** `1d 2h 3m 4s`, without leading units that are 0. */
export function formatDuration(ms: number): string {
  const parts = [
    [Math.floor(ms / DAY), "d"],
    [Math.floor(ms / HOUR) % 24, "h"],
    [Math.floor(ms / MINUTE) % 60, "m"],
    [Math.floor(ms / SECOND) % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(first < 0 ? -1 : first)
    .map(([count, unit]) => `${count}${unit}`)
    .join(" ");
}
