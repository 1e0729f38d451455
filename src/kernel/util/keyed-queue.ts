// Works on one thing one after the other, works on different things side by side.

export type KeyedQueue = <T>(key: string, task: () => Promise<T>) => Promise<T>;

export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<unknown>>();
  return (key, task) => {
    const previous = tails.get(key) ?? Promise.resolve();
    // Whether the one before went well is its own caller's business.
    const current = previous.then(task, task);
    const finished = current
      .catch(() => undefined)
      .then(() => {
        if (tails.get(key) === finished) tails.delete(key);
      });
    tails.set(key, finished);
    return current;
  };
}
