// Works on one thing one after the other, works on different things side by side.

export type Order = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createOrder(): Order {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    // Whether the one before went well is its own caller's business.
    const own = before.then(work, work);
    const settled = own
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === settled) last.delete(key);
      });
    last.set(key, settled);
    return own;
  };
}
