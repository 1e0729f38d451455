// Deletes rows in batches that are short enough for others to go on, and fewer while the service is busy.
import type { Database, Statement } from "../database/database.ts";
import type { DeleteBatch, Measured, RunOptions } from "./kept-kind.ts";

/** A batch should take so long; its size follows. The write queue may be held for 10 ms, but a server is far away. */
const TARGET_MS = { file: 4, server: 100 };
const FIRST_LIMIT = 50;
const MIN_LIMIT = 5;
const MAX_LIMIT = 1_000;
/** A batch that has to wait so long, or a loop that is so late, shows that the service is busy. */
const BUSY_MS = { file: 40, server: 1_000 };
const BUSY_PAUSE_MS = 500;
/** A run that stops under load does so after as many busy batches in a row. */
const MAX_BUSY = 20;

/** Runs the steps one after the other, each until nothing is left. Returns the number of deleted rows. */
export async function deleteInBatches(
  steps: readonly DeleteBatch[],
  before: number,
  {
    signal,
    stopsUnderLoad = false,
    isRemote = false,
    onProgress,
    onBatch,
  }: RunOptions & { onBatch?: (rows: number) => void } = {},
): Promise<number> {
  const place = isRemote ? "server" : "file";
  let total = 0;
  let busy = 0;
  for (const step of steps) {
    let limit = FIRST_LIMIT;
    while (!signal?.aborted) {
      const startedAt = performance.now();
      const rows = await step(before, limit);
      const took = performance.now() - startedAt;
      if (rows === 0) break;
      total += rows;
      onBatch?.(rows);
      onProgress?.(total);
      limit = nextLimit(limit, TARGET_MS[place] / took);
      const isBusy = took > BUSY_MS[place] || (await pause(took)) > BUSY_MS[place];
      busy = isBusy ? busy + 1 : 0;
      if (stopsUnderLoad && busy >= MAX_BUSY) return total;
      if (isBusy) await Bun.sleep(BUSY_PAUSE_MS);
    }
  }
  return total;
}

const nextLimit = (limit: number, factor: number) =>
  Math.round(Math.min(MAX_LIMIT, Math.max(MIN_LIMIT, limit * Math.min(1.5, Math.max(0.25, factor)))));

/** Leaves most of the time to others. Returns by how many milliseconds the event loop was late. */
async function pause(took: number): Promise<number> {
  const wanted = Math.max(1, 2 * took);
  const startedAt = performance.now();
  await Bun.sleep(wanted);
  return performance.now() - startedAt - wanted;
}

/** A step of several statements, which ends when none of them has changed anything. */
export const statementsStep =
  ({ write }: Pick<Database, "write">, statements: (before: number, limit: number) => Statement[]): DeleteBatch =>
  async (before, limit) =>
    (await write(statements(before, limit))).reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);

/** Measures by a query for `rows`, `bytes` and `oldest`. ?1: epoch ms. */
export const measureBy =
  ({ readLong }: Pick<Database, "readLong">, sql: string) =>
  async (before: number | string): Promise<Measured> => {
    const row = (await readLong(sql, [before])).rows[0];
    const oldest = row?.oldest ?? null;
    return {
      rows: Number(row?.rows ?? 0),
      bytes: Number(row?.bytes ?? 0),
      oldest: oldest === null ? undefined : Number(oldest),
    };
  };
