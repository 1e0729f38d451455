// Records when the service ran, so that admins learn of a run that ended without warning: by a crash, a kill or a power cut.
import { stat } from "node:fs/promises";
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY, firstIdAt, timeOfId } from "../../../src/kernel/util/time.ts";

/** An end without warning. Times in epoch ms. */
export interface SuddenEnd {
  /** The last sign of life before it; it may have been up to some minutes later. */
  stoppedAt: number;
  backAt: number;
  /** Turns that it interrupted and that went on afterwards. */
  resumedTurns: number;
}

export interface Runs {
  /** Records this run and how the one before it has ended. */
  open(): Promise<void>;
  /** Says that the service is alive; empty before `open`. */
  seenStatements(): Statement[];
  /** Says that the service ends as it should; empty before `open`. */
  endStatements(): Statement[];
  /** The sudden ends of the last 24 hours, newest first. */
  suddenEnds(): Promise<SuddenEnd[]>;
}

const MAX_RUNS = 200;
const LATEST = "SELECT started_at, seen_at, ended_at, file FROM instance_runs ORDER BY started_at DESC LIMIT 1";
const OPEN = "INSERT OR REPLACE INTO instance_runs (started_at, seen_at, file, resumed_turns) VALUES (?1, ?2, ?3, ?4)";
const FORGET = `DELETE FROM instance_runs WHERE started_at <=
  (SELECT started_at FROM instance_runs ORDER BY started_at DESC LIMIT 1 OFFSET ${MAX_RUNS})`;
const SEEN = "UPDATE instance_runs SET seen_at = ?2 WHERE started_at = ?1";
const END = "UPDATE instance_runs SET seen_at = ?2, ended_at = ?2 WHERE started_at = ?1";
/** Rows that a service which does something writes, of before this start. ?1 epoch ms, ?2 the first id of that time. */
const LAST_TRACES = `SELECT
  (SELECT created_at FROM events WHERE created_at < ?1 ORDER BY seq DESC LIMIT 1) AS event_at,
  (SELECT max(id) FROM agent_logs WHERE id < ?2) AS line`;
const RECENT = `SELECT run.seen_at, next.started_at, next.resumed_turns FROM instance_runs AS run
  JOIN instance_runs AS next ON next.started_at =
    (SELECT min(started_at) FROM instance_runs WHERE started_at > run.started_at)
  WHERE run.ended_at IS NULL AND next.started_at > ?1 ORDER BY run.started_at DESC`;

interface Deps extends Pick<Kernel, "database" | "log"> {
  /** The turns that this start took up. */
  resumedTurns: () => number;
  startedAt?: number;
  now?: () => number;
}

export function createRuns({ database, log, resumedTurns, startedAt = Date.now(), now = Date.now }: Deps): Runs {
  let isOpen = false;

  /** The inode, which a copy of the file does not have; null on a server. */
  async function readFileIdentity(): Promise<string | null> {
    if (database.file === undefined) return null;
    return String((await stat(database.file, { bigint: true })).ino);
  }

  /** The last thing that is known of the run: it notes a sign of life only every few minutes. */
  async function lastSignOfLife(seenAt: number): Promise<number> {
    const { rows } = await database.read(LAST_TRACES, [startedAt, firstIdAt(startedAt)]);
    const line = rows[0]?.line;
    return Math.max(seenAt, Number(rows[0]?.event_at ?? 0), typeof line === "string" ? timeOfId(line) : 0);
  }

  return {
    async open() {
      const [file, { rows }] = await Promise.all([readFileIdentity(), database.read(LATEST)]);
      const before = rows[0];
      const opening = [
        { sql: OPEN, args: [startedAt, now(), file, resumedTurns()] },
        { sql: FORGET, args: [] },
      ];
      isOpen = true;
      if (!before || before.ended_at !== null || Number(before.started_at) >= startedAt) {
        await database.write(opening);
        return;
      }
      // The run of another file may go on somewhere else.
      const isCopy = before.file !== file;
      const seenAt = await lastSignOfLife(Number(before.seen_at));
      await database.write([{ sql: isCopy ? END : SEEN, args: [Number(before.started_at), seenAt] }, ...opening]);
      if (isCopy) return;
      log.warn("the service was stopped without warning and has been started again", {
        stoppedAt: new Date(seenAt).toISOString(),
        backAt: new Date(startedAt).toISOString(),
        resumedTurns: resumedTurns(),
      });
    },
    seenStatements: () => (isOpen ? [{ sql: SEEN, args: [startedAt, now()] }] : []),
    endStatements: () => (isOpen ? [{ sql: END, args: [startedAt, now()] }] : []),
    async suddenEnds() {
      const { rows } = await database.read(RECENT, [now() - DAY]);
      return rows.map((row) => ({
        stoppedAt: Number(row.seen_at),
        backAt: Number(row.started_at),
        resumedTurns: Number(row.resumed_turns),
      }));
    },
  };
}
