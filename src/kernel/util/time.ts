// Lengths of time in milliseconds.

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The smallest UUIDv7 (RFC 9562, section 5.7) of this time (epoch ms) or later, for ranges of ids. */
export function firstIdAt(at: number): string {
  const hex = Math.max(0, Math.floor(at)).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** The time in a UUIDv7, epoch ms. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
