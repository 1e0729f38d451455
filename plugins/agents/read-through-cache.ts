// A bounded map in front of the database that a write can't leave stale.

export interface ReadThroughCache<Value> {
  /** What is held; never asks. */
  peek(key: string): Value | undefined;
  /** What is held, else what `load` gives; undefined is not held. */
  get(key: string, load: () => Promise<Value | undefined>): Promise<Value | undefined>;
  /** This key was written. */
  invalidate(key: string): void;
  /** Who knows which keys were written. */
  invalidateAll(): void;
}

interface Options<Value> {
  /** Entries, at most; the one loaded longest ago goes first. 0: nothing is held, for rows that other processes write. */
  maxEntries: number;
  /** What one entry counts for, in any unit, and how much of it all may count for. */
  weight?: { of(value: Value): number; limit: number };
}

export function createReadThroughCache<Value>({ maxEntries, weight }: Options<Value>): ReadThroughCache<Value> {
  const cached = new Map<string, Value>();
  let total = 0;
  let invalidations = 0;

  function remove(key: string): void {
    const value = cached.get(key);
    if (value === undefined) return;
    cached.delete(key);
    total -= weight?.of(value) ?? 0;
  }

  function store(key: string, value: Value): void {
    remove(key);
    cached.set(key, value);
    total += weight?.of(value) ?? 0;
    for (const oldest of cached.keys()) {
      if (cached.size <= maxEntries && total <= (weight?.limit ?? 0)) break;
      remove(oldest);
    }
  }

  return {
    peek: (key) => cached.get(key),
    async get(key, load) {
      const found = cached.get(key);
      if (found !== undefined) return found;
      const before = invalidations;
      const value = await load();
      // A write in between may have overtaken what was read.
      if (value !== undefined && before === invalidations && maxEntries > 0) store(key, value);
      return value;
    },
    invalidate(key) {
      invalidations++;
      remove(key);
    },
    invalidateAll() {
      invalidations++;
      for (const key of [...cached.keys()]) remove(key);
    },
  };
}
