// Appends each group of writes to the cell's log, then applies it: what every copy does, with the same outcome.

import type { Statement } from "../../kernel/database/database.ts";
import type { StorageEngine } from "../../kernel/database/local-engine.ts";
import { toBoundValue } from "../../kernel/database/values.ts";
import type { Outcome } from "../../kernel/database/write-queue.ts";
import type { CellLog } from "./cell-log.ts";
import type { Copy } from "./copy.ts";
import { encodeEntry } from "./entry.ts";

/** Rejects with `Moved` once another node owns the cell, and with `CopyBroken` or `CopyUnwritable` if its own file can't follow its log. */
export function createReplicatedCommit(log: CellLog, copy: Copy): Pick<StorageEngine, "commit" | "commitLong"> {
  async function write(batches: Statement[][], isLong: boolean): Promise<Outcome[]> {
    const entry = { kind: "write" as const, batches, isLong, changedBefore: copy.progress.changed };
    return copy.apply(await log.append(encodeEntry(entry)), entry);
  }

  /** Batches with values that can't be bound are not written; the others are. */
  async function writeBindable(batches: readonly Statement[][]): Promise<Outcome[]> {
    const errors = batches.map(bindingError);
    const rest = await write(
      batches.filter((_, n) => errors[n] === undefined),
      false,
    );
    return errors.map((failed) => failed ?? (rest.shift() as Outcome));
  }
  return {
    commit: (batches) => (batches.some(bindingError) ? writeBindable(batches) : write([...batches], false)),
    async commitLong(batch) {
      const [outcome] = await write([[...batch]], true);
      if (outcome === undefined || "error" in outcome) throw outcome?.error;
      return outcome.results;
    },
  };
}

function bindingError(batch: readonly Statement[]): { error: unknown } | undefined {
  try {
    for (const { args } of batch) for (const value of args) toBoundValue(value);
    return undefined;
  } catch (error) {
    return { error };
  }
}
