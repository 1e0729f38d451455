// Tells what the failures of a node to open or to follow a cell mean.
import { MINUTE } from "../../kernel/util/time.ts";
import { isOfLostCell } from "../away.ts";
import { EngineUnavailable } from "../engine.ts";
import { SnapshotNeeded } from "../log/catch-up.ts";
import { CopyBroken, CopyUnwritable } from "../log/copy.ts";
import type { CellEntry } from "./cell-table.ts";
import type { NodeState } from "./lease.ts";

/** Milliseconds until a node that could not open or follow the cell may get it again. */
export const FAILED_FOR_MS = 10 * MINUTE;

/**
 * A node that gives its own cells up, or could not open this one a moment ago, does not get it. Both times are by that node's own
 * clock, which may have been set between.
 */
export const canTake = (node: NodeState, entry: CellEntry) => !node.isDraining && !hasFailed(node, entry);

/** Whether a node could not open this cell a moment ago. */
export const hasFailed = ({ address, at }: Pick<NodeState, "address" | "at">, { failed }: Pick<CellEntry, "failed">) =>
  failed?.address === address && Math.abs(at - failed.at) < FAILED_FOR_MS;

/** The engine was away, or the cell went elsewhere: no other node would fare better. */
export function isOfCluster(error: unknown): boolean {
  if (isOfLostCell(error)) return true;
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof EngineUnavailable) return true;
  return false;
}

/** The file has to be made anew, from a snapshot. */
export const isAboutFile = (error: unknown) => error instanceof SnapshotNeeded || error instanceof CopyBroken;

/** Such as a full disk: the file only lags, and another node may go on at once. */
export function isAboutDisk(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof CopyUnwritable || ("code" in at && at.code === "STORAGE_UNAVAILABLE")) return true;
  }
  return false;
}
