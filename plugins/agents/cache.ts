// A bounded map in front of the database that a write can't leave stale.

export interface Cache<Value> {
  /** What is held; never asks. */
  peek(key: string): Value | undefined;
  /** What is held, else what `load` gives; undefined is not held. */
  get(key: string, load: () => Promise<Value | undefined>): Promise<Value | undefined>;
  /** This key was written. */
  drop(key: string): void;
  /** Who knows which keys were written. */
  clear(): void;
}

interface Options<Value> {
  /** Entries, at most; the one loaded longest ago goes first. 0: nothing is held, for rows that other processes write. */
  entries: number;
  /** What one entry counts for, in any unit, and how much of it all may count for. */
  weight?: { of(value: Value): number; limit: number };
}

export function createCache<Value>({ entries, weight }: Options<Value>): Cache<Value> {
  const held = new Map<string, Value>();
  let total = 0;
  let drops = 0;

  function remove(key: string): void {
    const value = held.get(key);
    if (value === undefined) return;
    held.delete(key);
    total -= weight?.of(value) ?? 0;
  }

  function hold(key: string, value: Value): void {
    remove(key);
    held.set(key, value);
    total += weight?.of(value) ?? 0;
    for (const oldest of held.keys()) {
      if (held.size <= entries && total <= (weight?.limit ?? 0)) break;
      remove(oldest);
    }
  }

  return {
    peek: (key) => held.get(key),
    async get(key, load) {
      const found = held.get(key);
      if (found !== undefined) return found;
      const before = drops;
      const value = await load();
      // A write in between may have overtaken what was read.
      if (value !== undefined && before === drops && entries > 0) hold(key, value);
      return value;
    },
    drop(key) {
      drops++;
      remove(key);
    },
    clear() {
      drops++;
      for (const key of [...held.keys()]) remove(key);
    },
  };
}
