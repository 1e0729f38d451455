// A bounded cache for database rows that stays correct when a write is concurrent with a load.

export interface Cache<Value> {
  /** Returns the cached value, without loading. */
  peek(key: string): Value | undefined;
  /**
   * Returns the cached value, or else the result of `load`. Concurrent callers share one load. A rejection and
   * `undefined` are passed on and not cached.
   */
  get(key: string, load: () => Promise<Value>): Promise<Value>;
  /** Must be called after a write of this key is committed. A load that began before the write is not cached. */
  drop(key: string): void;
  /** Drops every entry, or those whose key matches. */
  clear(matching?: (key: string) => boolean): void;
  /** Returns the cached values whose key matches. */
  values(matching: (key: string) => boolean): NonNullable<Value>[];
}

export interface CacheOptions<Value> {
  /**
   * Entries kept; the one loaded longest ago goes first, since reordering at each use would cost more than it saves. 0
   * caches nothing, for rows that other processes write.
   */
  entries: number;
  /** A second bound: what one entry weighs, in any unit, and the most that all may weigh together. */
  weight?: { of(value: NonNullable<Value>): number; limit: number };
}

export function createCache<Value>({ entries, weight }: CacheOptions<Value>): Cache<Value> {
  const cached = new Map<string, NonNullable<Value>>();
  const loading = new Map<string, Promise<Value>>();
  let total = 0;

  function remove(key: string): void {
    const value = cached.get(key);
    if (value === undefined) return;
    cached.delete(key);
    total -= weight?.of(value) ?? 0;
  }

  function keep(key: string, value: NonNullable<Value>): void {
    remove(key);
    cached.set(key, value);
    total += weight?.of(value) ?? 0;
    for (const oldest of cached.keys()) {
      if (cached.size <= entries && total <= (weight?.limit ?? 0)) break;
      remove(oldest);
    }
  }

  async function loadOnce(key: string, load: () => Promise<Value>): Promise<Value> {
    // A drop removes this entry, so that a value from before the write is returned but not cached.
    const own: Promise<Value> = load().then(
      (value) => {
        if (loading.get(key) !== own) return value;
        loading.delete(key);
        if (value !== undefined && value !== null) keep(key, value);
        return value;
      },
      (error: unknown) => {
        if (loading.get(key) === own) loading.delete(key);
        throw error;
      },
    );
    loading.set(key, own);
    return own;
  }

  return {
    peek: (key) => cached.get(key),
    async get(key, load) {
      const found = cached.get(key);
      if (found !== undefined) return found;
      return entries === 0 ? load() : (loading.get(key) ?? loadOnce(key, load));
    },
    drop(key) {
      loading.delete(key);
      remove(key);
    },
    clear(matching = () => true) {
      for (const key of [...loading.keys()]) if (matching(key)) loading.delete(key);
      for (const key of [...cached.keys()]) if (matching(key)) remove(key);
    },
    values: (matching) => [...cached].flatMap(([key, value]) => (matching(key) ? [value] : [])),
  };
}

/** Calls `make` at the first use and keeps its result. A failure is not kept: the next call tries again. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
