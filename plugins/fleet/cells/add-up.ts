// Adds up what several cells count of the same things.

const MICRO = 1e6;

/**
 * Numbers are added up; of two times called `oldestAt` the earlier one counts, null is no time and no number, and other values are
 * those of the first. Dollars stay exact to a millionth, in which they are kept.
 */
export function addUp<Value>(one: Value, other: Value): Value {
  if (typeof one === "number" && typeof other === "number") return sum(one, other) as Value;
  if (one === null) return other;
  if (!isRecord(one) || !isRecord(other)) return one;
  const merged = Object.entries(one).map(([key, value]) => [
    key,
    key === "oldestAt" ? earlier(value, other[key]) : addUp(value, other[key]),
  ]);
  return Object.fromEntries(merged) as Value;
}

/** Adds up rows with the same key, in the order in which the keys come first. */
export function addUpBy<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  return [...Map.groupBy(rows, keyOf).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [others.reduce(addUp, first)],
  );
}

/** The earlier of two times of one kind, epoch ms or ISO 8601; null and undefined are none. */
export function earlier<Time>(one: Time, other: Time): Time {
  if (one === null || one === undefined) return other;
  return other !== null && other !== undefined && other < one ? other : one;
}

const sum = (one: number, other: number) =>
  Number.isInteger(one) && Number.isInteger(other) ? one + other : Math.round((one + other) * MICRO) / MICRO;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
