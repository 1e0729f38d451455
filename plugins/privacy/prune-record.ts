// Counts what a prune deletes while it runs, so that the audit log also gets what one that was ended had deleted.
import type { Actor } from "../../src/kernel/audit/actor.ts";
import { currentActor } from "../../src/kernel/audit/current-actor.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import { PRUNED_JOB } from "./jobs.ts";

interface Pruned {
  kind: string;
  /** ISO 8601. */
  before: string;
  rows: number;
}

/** A prune that has deleted nothing for so long was ended. */
const ENDED_AFTER_MS = MINUTE;
const POSTPONE = "UPDATE jobs SET run_at = ? WHERE kind = ? AND unique_key = ? AND state = 'queued'";
const OPEN = "SELECT payload FROM jobs WHERE kind = ? AND unique_key = ?";
const CLOSE = "DELETE FROM jobs WHERE kind = ? AND unique_key = ?";

export function createPruneRecord({ database, audit, jobs }: Pick<Kernel, "database" | "audit" | "jobs">) {
  const statementFor = (actor: Actor, { kind, before, rows }: Pruned, done: boolean) =>
    audit.statementFor(actor, {
      action: "data.prune",
      target: { kind: "data", id: kind, name: kind },
      details: { before, rows, done },
    });
  const close = (kind: string) => ({ sql: CLOSE, args: [PRUNED_JOB, kind] });
  async function writeEnded(payload: unknown, isOpen = false): Promise<void> {
    const { actor, ...pruned } = payload as Pruned & { actor: Actor };
    await database.write([statementFor(actor, pruned, false), ...(isOpen ? [close(pruned.kind)] : [])]);
  }

  return {
    /** Writes what an earlier prune of this kind had deleted when it was ended. */
    async takeOver(kind: string): Promise<void> {
      const [row] = (await database.read(OPEN, [PRUNED_JOB, kind])).rows;
      if (row) await writeEnded(JSON.parse(String(row.payload)), true);
    },
    /** Notes what was deleted so far. The entry follows a minute after the last note, or at the next start, unless `finish` comes first. */
    async note(pruned: Pruned): Promise<void> {
      const runAt = Date.now() + ENDED_AFTER_MS;
      const payload = { ...pruned, actor: currentActor() };
      await database.write([
        jobs.enqueueStatement(PRUNED_JOB, payload, { uniqueKey: pruned.kind, runAt }),
        { sql: POSTPONE, args: [runAt, PRUNED_JOB, pruned.kind] },
      ]);
    },
    finish: (pruned: Pruned) => database.write([statementFor(currentActor(), pruned, true), close(pruned.kind)]),
    writeEnded,
  };
}
