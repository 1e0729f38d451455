// Joins what each cell has seen of the same AI providers.
import { addUp } from "./add-up.ts";

interface Recent {
  calls: number;
  failed: number;
}

interface Seen {
  id: string;
  breaker: "closed" | "half-open" | "open";
  reachable?: boolean | null | undefined;
  recent: Recent;
}

/**
 * A provider is in trouble if it is for one cell. Calls are added up; times can't be, so they are those of the cell that has called
 * it most.
 */
export function joinProviders<Provider extends Seen>(lists: readonly (readonly Provider[])[]): Provider[] {
  return [...Map.groupBy(lists.flat(), ({ id }) => id).values()].flatMap((same) => {
    const busiest = same.toSorted((one, other) => other.recent.calls - one.recent.calls)[0];
    if (!busiest) return [];
    const { calls, failed } = same.map(({ recent }) => ({ calls: recent.calls, failed: recent.failed })).reduce(addUp);
    return [
      {
        ...busiest,
        breaker: same.find(({ breaker }) => breaker === "open")?.breaker ?? busiest.breaker,
        reachable: same.some(({ reachable }) => reachable === false) ? false : busiest.reachable,
        recent: { ...busiest.recent, calls, failed },
      },
    ];
  });
}
