// Keeps the results of long queries for some seconds, so that several admins or reloads cost one query.
import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";

interface Options {
  /** Milliseconds for which a result is returned as it is. */
  freshMs: number;
  /** Milliseconds for which an older result is returned while a new one is loaded. */
  staleMs: number;
  now?: () => number;
}

interface Entry<Value> {
  value: Value;
  at: number;
  loading: boolean;
}

const MAX_ENTRIES = 50;

/** Loads a value at most once at a time for each key. A failed load is not kept. */
export function createStaleCache<Value>({ freshMs, staleMs, now = Date.now }: Options) {
  const entries = createBoundedMap<Entry<Value>>(MAX_ENTRIES);
  const firstLoads = new Map<string, Promise<Value>>();

  async function loadFirst(key: string, load: () => Promise<Value>): Promise<Value> {
    const value = await load();
    entries.set(key, { value, at: now(), loading: false });
    return value;
  }

  function refresh(key: string, entry: Entry<Value>, load: () => Promise<Value>): void {
    if (entry.loading) return;
    entry.loading = true;
    loadFirst(key, load).catch(() => {
      // The older result stays until it is too old; then the error reaches the caller.
      entry.loading = false;
    });
  }

  return (key: string, load: () => Promise<Value>): Promise<Value> => {
    const entry = entries.get(key);
    const age = entry ? now() - entry.at : Number.POSITIVE_INFINITY;
    if (entry && age < staleMs) {
      if (age >= freshMs) refresh(key, entry, load);
      return Promise.resolve(entry.value);
    }
    let loading = firstLoads.get(key);
    if (!loading) {
      loading = loadFirst(key, load).finally(() => firstLoads.delete(key));
      firstLoads.set(key, loading);
    }
    return loading;
  };
}
