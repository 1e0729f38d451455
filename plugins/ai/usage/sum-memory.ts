// Remembers what was added up of an account's usage for as long as the account's own sums by day are the same.

import type { Row as DatabaseRow } from "@libsql/client";
import { createCache } from "../../../src/kernel/util/cache.ts";

/** The columns of the ledger's sums, `own` being the part of the cost on own keys. Costs are whole micro-USD. */
const SUMS = ["calls", "cached", "estimated", "input", "output", "cost", "credit", "own"] as const;
export type Sum = (typeof SUMS)[number];

interface Remembered<Value> {
  /** The sums by day with which it was added up. */
  days: string;
  value: Value;
}

const MAX_ENTRIES = 100;

/**
 * Every call, and every agent that changes hands, is added to the sums by day in the same write as to all others, so that equal
 * sums by day show that nothing has changed. This holds whichever process has written them.
 */
export function createSumMemory<Value>(weight: { of(value: Value): number; limit: number }) {
  const kept = createCache<Remembered<Value>>({
    entries: MAX_ENTRIES,
    weight: { of: ({ value }) => weight.of(value), limit: weight.limit },
  });
  /** @param days the account's sums of each day, read before `load` is called */
  return async (key: string, days: readonly DatabaseRow[], load: () => Promise<Value>): Promise<Value> => {
    const text = days.map((row) => [Number(row.day), ...SUMS.map((sum) => Number(row[sum]))].join(" ")).join("\n");
    if (kept.peek(key)?.days !== text) kept.drop(key);
    return (await kept.get(key, async () => ({ days: text, value: await load() }))).value;
  };
}
