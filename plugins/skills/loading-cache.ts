// A bounded cache of things that are loaded once, by whoever asks first, and forgotten when they change.

export interface LoadingCache<Value> {
  get(key: string): Promise<Value>;
  /** To be called after the change is committed: what was being loaded meanwhile is not kept either. */
  invalidate(key: string): void;
  invalidateAll(matching?: (key: string) => boolean): void;
  /** What is there of these keys. */
  values(matching: (key: string) => boolean): Value[];
}

/**
 * @param maxEntries entries kept, the least recently used go first; 0 keeps nothing (several processes share the database)
 * @param load a rejection is handed on and not kept
 */
export function createLoadingCache<Value>(
  maxEntries: number,
  load: (key: string) => Promise<Value>,
): LoadingCache<Value> {
  const entries = new Map<string, Promise<Value>>();

  function loaded(key: string): Promise<Value> {
    const loading = load(key);
    if (maxEntries === 0) return loading;
    entries.set(key, loading);
    if (entries.size > maxEntries) for (const oldest of entries.keys()) if (entries.delete(oldest)) break;
    return loading.catch((error) => {
      if (entries.get(key) === loading) entries.delete(key);
      throw error;
    });
  }

  return {
    get(key) {
      const known = entries.get(key);
      if (!known) return loaded(key);
      entries.delete(key);
      entries.set(key, known);
      return known;
    },
    invalidate: (key) => void entries.delete(key),
    invalidateAll(matching = () => true) {
      for (const key of entries.keys()) if (matching(key)) entries.delete(key);
    },
    values(matching) {
      const there = [...entries].filter(([key, value]) => matching(key) && Bun.peek.status(value) === "fulfilled");
      return there.flatMap(([, loaded]) => {
        const value = Bun.peek(loaded);
        return value instanceof Promise ? [] : [value];
      });
    },
  };
}
