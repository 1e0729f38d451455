// What an owner does about entries that the engine has lost, and that its own file or another node's copy still has.
import type { Log } from "../../kernel/telemetry/log.ts";
import type { LogEngine } from "../engine.ts";
import { SnapshotNeeded } from "../log/catch-up.ts";
import type { Snapshots } from "../snapshot/snapshots.ts";
import { type CellEntry, type CellTable, type Holder, isHolder } from "./cell-table.ts";
import { hasFailed } from "./failures.ts";
import type { Lease } from "./lease.ts";

export interface Loss {
  /** The last entry that the log has. */
  last: number;
  /** The copies of other nodes that have later ones, by address, with the last of each. */
  longer: Readonly<Record<string, number>>;
}

export interface LostEntriesDeps {
  cell: number;
  self: Holder;
  engine: Pick<LogEngine, "bounds">;
  cells: CellTable;
  lease: Pick<Lease, "alive">;
  snapshots: Pick<Snapshots, "take" | "list" | "replace">;
  file: string;
  log: Log;
  onLogLost(): void;
  sureMs?: number;
}

/** How often a snapshot is tried that has more than the file. */
const MAX_ASKED = 3;
/** A server of the engine that leads since a moment ago may not know the end of the log yet. */
const SURE_MS = 2_000;

export function createLostEntries(deps: LostEntriesDeps) {
  const { cell, self, engine, cells, lease, snapshots, file, log, onLogLost, sureMs = SURE_MS } = deps;

  /** Gives the cell to another node, if it is this one's. A node that could not open it stays noted. */
  async function giveTo(address: string, standby: string | null, failure?: CellEntry["failed"]): Promise<void> {
    const entry = await cells.find(cell);
    if (!entry || !isHolder(entry.owner, self)) return;
    const { epoch } = entry;
    const failed = failure ?? entry.failed;
    await cells.swap(cell, {
      ...{ owner: { address, instance: null }, standby, epoch: epoch + 1 },
      ...(failed && { failed }),
    });
  }

  /** The copies of other nodes that have entries after `last`. */
  const copiesAfter = (last: number) =>
    Object.fromEntries(
      lease
        .alive()
        .map(({ address, copies }) => [address, copies[cell] ?? 0] as const)
        .filter(([address, most]) => address !== self.address && most > last),
    );

  /** Those of nodes that can have the cell: it goes on without the others, or would come back from them at once. */
  function usable(copies: Loss["longer"], entry: CellEntry): Loss["longer"] {
    const { without = {} } = entry;
    const unable = new Set(
      lease
        .alive()
        .filter((node) => hasFailed(node, entry))
        .map(({ address }) => address),
    );
    return Object.fromEntries(
      Object.entries(copies).filter(([address]) => without[address] === undefined && !unable.has(address)),
    );
  }

  /** Snapshots from before the loss are to be gone before other nodes set their files aside: they would begin with them. */
  let replacing: "no" | "begun" | "done" = "no";
  function replaceSnapshots(): void {
    if (replacing !== "no") return;
    replacing = "begun";
    void snapshots.replace(file).then(
      () => {
        replacing = "done";
      },
      (error: unknown) => {
        replacing = "no";
        log.warn("a snapshot could not be taken", { cell, error });
      },
    );
  }
  /** How often a snapshot was asked for that has more than the file, by name. */
  const asked = new Map<string, number>();

  return {
    giveTo,
    usable,

    /**
     * Looks for what is missing: answers once it was missing for two seconds, and "unsure" until then.
     * @param number the last entry that the owner's file has
     */
    watch() {
      let since: number | undefined;
      return async (number: number): Promise<Loss | "unsure"> => {
        const seen = copiesAfter(number);
        const { last } = await engine.bounds();
        const longer = Object.fromEntries(Object.entries(seen).filter(([, most]) => most > last));
        const isWhole = last >= number && Object.keys(longer).length === 0;
        since = isWhole ? undefined : (since ?? performance.now());
        return since !== undefined && performance.now() - since < sureMs ? "unsure" : { last, longer };
      };
    },

    /** With a log that has lost entries, the node whose file has most of them has to own the cell: gives it to that node, and throws. */
    async requireMost(last: number): Promise<void> {
      const entry = await cells.find(cell);
      if (!entry || !isHolder(entry.owner, self)) return;
      const most = longestOf(usable(copiesAfter(last), entry));
      if (most === undefined) return;
      await giveTo(most, self.address);
      throw new Error(`The log has lost entries, and ${most} has more of them: it owns the cell.`);
    },

    /**
     * Before a log begins anew behind this file: those that are behind it need a snapshot. Throws `SnapshotNeeded` if an earlier one has
     * more than this file, three times at most: one that can't be read does not keep the cell from going on.
     */
    async keepInSnapshot(last: number): Promise<void> {
      const [newest] = await snapshots.list();
      const times = (newest && asked.get(newest.name)) ?? 0;
      if (newest && newest.number > last && times < MAX_ASKED) {
        asked.set(newest.name, times + 1);
        throw new SnapshotNeeded(
          `This copy has applied ${last}, and a snapshot has the entries up to ${newest.number}.`,
        );
      }
      await snapshots.take(file);
    },

    /** Writes down which copies the cell goes on without. */
    async goOnWithout(entry: CellEntry, longer: Loss["longer"]): Promise<void> {
      const { without = {}, ...rest } = entry;
      const nodes = Object.keys(longer).filter((address) => without[address] === undefined);
      const isSame = nodes.length === 0 && Object.keys(without).every((address) => longer[address] !== undefined);
      if (isSame) return;
      const isWhole = Object.keys(longer).length === 0;
      if (isWhole) replacing = "no";
      else if (nodes.length > 0 && replacing !== "done") return replaceSnapshots();
      if (!(await cells.swap(cell, isWhole ? rest : { ...rest, without: longer })) || nodes.length === 0) return;
      log.error(
        "the cluster's engine has lost entries which other nodes have: the cell goes on without, and they set their files aside",
        { cell, nodes },
      );
      onLogLost();
    },
  };
}

/** How many entries of other copies the log does not have. */
export const missingFrom = ({ last, longer }: Loss) => Math.max(0, ...Object.values(longer).map((most) => most - last));

/** The address of the node that has most. */
export const longestOf = (copies: Readonly<Record<string, number>>): string | undefined =>
  Object.entries(copies).toSorted(([, a], [, b]) => b - a)[0]?.[0];
