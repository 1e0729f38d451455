// Estimates the memory that a plain value takes, for statistics that people read.

const REFERENCE_BYTES = 8;
const OBJECT_BYTES = 16;
/** Text of only Latin letters takes half as much. */
const UTF16_UNIT_BYTES = 2;

/** Returns the bytes of text, numbers, and lists, maps and objects of them. Shared values are counted at each place. */
export function estimateMemorySize(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === "string") return OBJECT_BYTES + UTF16_UNIT_BYTES * value.length;
  if (typeof value !== "object" || value === null) return REFERENCE_BYTES;
  const children = value instanceof Map ? [...value] : Array.isArray(value) ? value : Object.values(value);
  return children.reduce<number>((sum, one) => sum + REFERENCE_BYTES + estimateMemorySize(one), OBJECT_BYTES);
}
