// How much memory a plain value takes: roughly, for figures that people look at.

const REFERENCE = 8;
const OBJECT = 16;
/** A UTF-16 unit; text of Latin letters alone takes half. */
const UNIT = 2;

/** Bytes of text, numbers, and lists, maps and objects of them, each at every place where it is found. */
export function heldBytes(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === "string") return OBJECT + UNIT * value.length;
  if (typeof value !== "object" || value === null) return REFERENCE;
  const inside = value instanceof Map ? [...value] : Array.isArray(value) ? value : Object.values(value);
  return inside.reduce<number>((sum, one) => sum + REFERENCE + heldBytes(one), OBJECT);
}
