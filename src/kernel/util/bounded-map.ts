// A map with a fixed number of entries: the least recently used one makes room for a new one.

export interface BoundedMap<Value> {
  /** The entry's value, which counts as a use. */
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  clear(): void;
}

/** @param limit entries kept; memory stays bounded whatever keys arrive */
export function createBoundedMap<Value extends {}>(limit: number): BoundedMap<Value> {
  const entries = new Map<string, Value>();
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size <= limit) return;
      const oldest = entries.keys().next();
      if (!oldest.done) entries.delete(oldest.value);
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  };
}
