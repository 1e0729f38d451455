// Figures as people read them.

export const formatPercent = (share: number) => `${(100 * share).toFixed(2)}%`;

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** `1.5 KiB`; whole bytes below one. */
export function formatBytes(count: number): string {
  let unit = 0;
  let value = count;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${unit === 0 || Number.isInteger(value) ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** `1d 2h 3m 4s`, from the first unit that is not 0. */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(first < 0 ? -1 : first)
    .map(([count, unit]) => `${count}${unit}`)
    .join(" ");
}
