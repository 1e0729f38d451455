// How much memory a plain value takes: roughly, for figures that people look at.

const REFERENCE_BYTES = 8;
const OBJECT_BYTES = 16;
/** A UTF-16 unit; text of Latin letters alone takes half. */
const UTF16_UNIT_BYTES = 2;

/** Bytes of text, numbers, and lists, maps and objects of them, each at every place where it is found. */
export function estimateMemorySize(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === "string") return OBJECT_BYTES + UTF16_UNIT_BYTES * value.length;
  if (typeof value !== "object" || value === null) return REFERENCE_BYTES;
  const children = value instanceof Map ? [...value] : Array.isArray(value) ? value : Object.values(value);
  return children.reduce<number>((sum, one) => sum + REFERENCE_BYTES + estimateMemorySize(one), OBJECT_BYTES);
}
