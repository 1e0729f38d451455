// Joins what the cells show of themselves at one moment into one state of the whole service, for `berth top`.
import { addUp } from "../../../plugins/fleet/cells/add-up.ts";
import { joinProviders } from "../../../plugins/fleet/cells/join-providers.ts";
import type { LiveSnapshot } from "../../../plugins/fleet/index.ts";

/** Undefined if no cell answers. The disk and the moment are the same for all. */
export function joinSnapshots(cells: (LiveSnapshot | undefined)[]): LiveSnapshot | undefined {
  const answering = cells.filter((one) => one !== undefined);
  const [first, ...others] = answering;
  if (!first) return undefined;
  const { at, disk, version, startedAt } = first;
  const lags = answering.flatMap(({ lagMs }) => lagMs ?? []);
  const problems = new Map(answering.flatMap((one) => one.problems).map((problem) => [problem.message, problem]));
  const sum = others.reduce(addUp, first);
  return {
    ...sum,
    ...{ at, disk, version, startedAt, cells },
    lagMs: lags.length > 0 ? Math.max(...lags) : null,
    problems: [...problems.values()],
    providers: joinProviders(answering.map(({ providers }) => providers)),
  };
}
