// Says what an owner does about its cell: it keeps it, gives it up, or gives it to another node.
import { type CellTable, type Holder, isHolder } from "./cell-table.ts";
import { canTake } from "./failures.ts";
import type { Lease, NodeState } from "./lease.ts";
import { type createLostEntries, type Loss, longestOf, missingFrom } from "./lost-entries.ts";
import type { Writing } from "./writing.ts";

export type Duty =
  /** `isDue`: it looks again soon. */
  | { kind: "keep"; isDue: boolean }
  | { kind: "giveUp"; why: string }
  /** The engine has lost entries which that node has. */
  | { kind: "yieldTo"; address: string; loss: Loss }
  | { kind: "handOver"; address: string };

export interface OwnerDutyDeps {
  cell: number;
  self: Holder;
  cells: CellTable;
  lease: Pick<Lease, "isTrusted" | "alive">;
  lostEntries: Pick<ReturnType<typeof createLostEntries>, "usable" | "goOnWithout">;
  /** The node that is to follow; `former`: the one that did. */
  standbyAmong(alive: readonly NodeState[], former: string | null): string | null;
  wanted(): string | undefined;
  isDraining(): boolean;
  /** Milliseconds for which an owner waits to hear whether it still is. */
  findMs: number;
}

export interface OwnedCell {
  writing: Pick<Writing, "number" | "lost" | "hasEnded">;
  /** The last entry before anything was asked of the cell here. */
  began: number;
  /** Looks whether the log has all entries. */
  lookForLoss(number: number): Promise<Loss | "unsure">;
}

/** A standby that is so many entries behind catches up within a moment. */
const CLOSE_BEHIND = 500;

const KEEP: Duty = { kind: "keep", isDue: false };
const KEEP_AND_LOOK: Duty = { kind: "keep", isDue: true };
const CUT_OFF: Duty = { kind: "giveUp", why: "The lease ran out." };

export function createOwnerDuty(deps: OwnerDutyDeps): (owned: OwnedCell) => Promise<Duty> {
  const { cell, self, cells, lease, lostEntries, standbyAmong, findMs } = deps;

  /** The owner must not wait for an engine that is silent: it has to end before the others take it for dead. */
  const inTime = <Answer>(asked: Promise<Answer>) =>
    Promise.race([asked.catch(() => "unknown" as const), Bun.sleep(findMs).then(() => "unknown" as const)]);

  return async ({ writing, began, lookForLoss }) => {
    const isCutOff = () => writing.lost !== undefined || writing.hasEnded || !lease.isTrusted();
    if (isCutOff()) return CUT_OFF;
    // More is written while it waits, of which the bounds that it gets know nothing.
    const before = writing.number;
    const [entry, loss] = await Promise.all([inTime(cells.find(cell)), inTime(lookForLoss(before))]);
    if (isCutOff()) return CUT_OFF;
    const { number } = writing;
    if (entry === "unknown") return KEEP_AND_LOOK;
    if (!entry) return { kind: "giveUp", why: "Nobody owns it." };
    if (!isHolder(entry.owner, self))
      return { kind: "giveUp", why: `${entry.owner.address} owns it, claim ${entry.epoch}.` };
    const isUnsure = typeof loss === "string";
    if (!isUnsure) {
      if (loss.last < before) return { kind: "giveUp", why: "The engine has lost the end of the log." };
      const usable = { ...loss, longer: lostEntries.usable(loss.longer, entry) };
      if (missingFrom(usable) > number - began)
        return { kind: "yieldTo", address: longestOf(usable.longer) as string, loss };
    }
    const alive = lease.alive();
    const standby = standbyAmong(alive, entry.standby);
    if (standby !== entry.standby) await inTime(cells.swap(cell, { ...entry, standby }));
    if (!isUnsure) await inTime(lostEntries.goOnWithout({ ...entry, standby }, loss.longer));
    if (isCutOff()) return CUT_OFF;
    const wanted = deps.wanted();
    const isDraining = deps.isDraining();
    const find = (to: string | null | undefined) =>
      alive.find((node) => node.address === to && node.address !== self.address && canTake(node, entry));
    // A node that is gone, or gives its own cells up, holds nothing back: neither a drain, nor a later move.
    const heir = find(wanted) ?? (isDraining ? find(standby) : undefined);
    if (heir && (heir.copies[cell] ?? 0) >= number - CLOSE_BEHIND) return { kind: "handOver", address: heir.address };
    const isToGo = isDraining || (wanted !== undefined && wanted !== self.address);
    return isUnsure || isToGo ? KEEP_AND_LOOK : KEEP;
  };
}
