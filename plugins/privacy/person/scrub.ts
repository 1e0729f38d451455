// Removes what deleted rows leave in the files of the database: words in its search indexes, in its log, and in unused parts of pages.
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { SCRUB_JOB } from "../jobs.ts";
import { PAGE_REMAINS, type Remains } from "./remains.ts";

const SEARCHES = ["memories_search", "knowledge_search"];
const MERGE_PAGES = 64;
/** A file up to this size is written anew at once, in about a second, in which other writes wait. */
const COMPACTED_BYTES = 128 * 1024 * 1024;
/** Owners must not make everybody wait more often than this. */
const PAUSE_MS = 10 * MINUTE;

export type Scrub = ReturnType<typeof createScrub>;

export function createScrub({ database, jobs }: Pick<Kernel, "database" | "jobs">, clock = Date.now) {
  let scrubbedAt = Number.NEGATIVE_INFINITY;

  async function now(): Promise<Remains> {
    scrubbedAt = clock();
    for (const table of SEARCHES) await mergeIndex(table);
    // Parts of pages that no row uses may still have words: a page that is divided leaves a copy of the half that has moved.
    const isCompact = (await isSmall()) && (await database.compact());
    const isEmptied = await database.truncateLog();
    return isCompact && isEmptied ? [] : [PAGE_REMAINS];
  }

  /** Words stay in a full-text index until its parts are merged. */
  async function mergeIndex(table: string): Promise<void> {
    const command = (pages: number): Statement => ({
      sql: `INSERT INTO ${table} (${table}, rank) VALUES ('merge', ?)`,
      args: [pages],
    });
    await database.write([command(-MERGE_PAGES)]);
    for (let before = -1, now = await segmentsOf(table); now !== before; now = await segmentsOf(table)) {
      before = now;
      await database.write([command(MERGE_PAGES)]);
    }
  }

  /** Changes as long as a merge has something to do. */
  async function segmentsOf(table: string): Promise<number> {
    const { rows } = await database.read(`SELECT count(*) AS n, coalesce(sum(pgno), 0) AS pages FROM ${table}_idx`);
    return Number(rows[0]?.n) * 1e9 + Number(rows[0]?.pages);
  }

  async function isSmall(): Promise<boolean> {
    const { rows } = await database.read(
      "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size",
    );
    return Number(rows[0]?.bytes) <= COMPACTED_BYTES;
  }

  return {
    /** Returns what is left. */
    now,
    /** At once, or together with the erasures that follow, by a job; returns what is left until then. */
    async forOwner(): Promise<Remains> {
      const dueAt = scrubbedAt + PAUSE_MS;
      if (clock() >= dueAt) return now();
      await database.write([jobs.enqueueStatement(SCRUB_JOB, {}, { uniqueKey: SCRUB_JOB, runAt: dueAt })]);
      const why = "they are overwritten for several erasures at once, since others wait meanwhile";
      const until = new Date(dueAt).toISOString();
      return [{ ...PAGE_REMAINS, why, until }, ...((await isSmall()) ? [] : [PAGE_REMAINS])];
    },
  };
}
