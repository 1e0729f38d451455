// Tests the batches of a deletion: their size, their end, and how they give way to a busy service.
import { expect, test } from "bun:test";
import { deleteInBatches } from "./deletion.ts";

/** A step over so many rows, which notes the sizes of its batches. */
function rowsOf(count: number, ms = 0) {
  const limits: number[] = [];
  let left = count;
  const step = async (_: number, limit: number) => {
    limits.push(limit);
    if (ms > 0) Bun.sleepSync(ms);
    const removed = Math.min(left, limit);
    left -= removed;
    return removed;
  };
  return { limits, step, left: () => left };
}

test("deletes everything, and reports how much so far", async () => {
  const progress: number[] = [];
  const { step } = rowsOf(200);
  expect(await deleteInBatches([step, rowsOf(7).step], 0, { onProgress: (rows) => progress.push(rows) })).toBe(207);
  expect(progress.at(-1)).toBe(207);
});

test("a batch grows while it is fast, and shrinks when it holds the database for too long", async () => {
  const fast = rowsOf(1_000);
  await deleteInBatches([fast.step], 0);
  expect(Math.max(...fast.limits)).toBeGreaterThan(50);
  const slow = rowsOf(120, 20);
  await deleteInBatches([slow.step], 0);
  expect(slow.limits.at(-1)).toBeLessThan(20);
});

test("ends at once when it is aborted, and the next run goes on", async () => {
  const { step, left } = rowsOf(500);
  const abort = new AbortController();
  await deleteInBatches([step], 0, { signal: abort.signal, onProgress: () => abort.abort() });
  expect(left()).toBe(450);
  expect(await deleteInBatches([step], 0)).toBe(450);
});
