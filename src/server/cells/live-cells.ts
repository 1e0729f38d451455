// Joins what the cells show of themselves at one moment into one state of the whole service, for `berth top`.
import type { LiveSnapshot } from "../../../plugins/fleet/index.ts";

/** Numbers are added up; of two times the earlier one counts, and other values are those of the first cell. */
function add<Value>(one: Value, other: Value): Value {
  if (typeof one === "number" && typeof other === "number") return (one + other) as Value;
  if (one === null) return other;
  if (!isRecord(one) || !isRecord(other)) return one;
  const merged = Object.entries(one).map(([key, value]) => [
    key,
    key === "oldestAt" ? earlier(value, other[key]) : add(value, other[key]),
  ]);
  return Object.fromEntries(merged) as Value;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function earlier(one: unknown, other: unknown): unknown {
  if (typeof one !== "string") return other;
  return typeof other === "string" && other < one ? other : one;
}

/** Undefined if no cell answers. The disk and the moment are the same for all. */
export function joinSnapshots(cells: (LiveSnapshot | undefined)[]): LiveSnapshot | undefined {
  const answering = cells.filter((one) => one !== undefined);
  const [first, ...others] = answering;
  if (!first) return undefined;
  const { at, disk, version, startedAt } = first;
  const lags = answering.flatMap(({ lagMs }) => lagMs ?? []);
  const problems = new Map(answering.flatMap((one) => one.problems).map((problem) => [problem.message, problem]));
  const sum = others.reduce((sofar, one) => add(sofar, one), first);
  return {
    ...sum,
    ...{ at, disk, version, startedAt, cells },
    lagMs: lags.length > 0 ? Math.max(...lags) : null,
    problems: [...problems.values()],
    providers: joinProviders(answering),
  };
}

/** A provider is in trouble if it is for one cell; times are those of the cell that has called it most. */
function joinProviders(snapshots: readonly LiveSnapshot[]): LiveSnapshot["providers"] {
  const byId = Map.groupBy(
    snapshots.flatMap(({ providers }) => providers),
    ({ id }) => id,
  );
  return [...byId.values()].flatMap((same) => {
    const busiest = same.toSorted((one, other) => other.recent.calls - one.recent.calls)[0];
    if (!busiest) return [];
    const breaker = same.find((one) => one.breaker === "open")?.breaker ?? busiest.breaker;
    const reachable = same.some((one) => one.reachable === false) ? false : busiest.reachable;
    return [{ ...busiest, breaker, reachable }];
  });
}
