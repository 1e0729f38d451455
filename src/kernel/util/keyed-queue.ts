// Runs tasks of one key one after the other, and tasks of different keys concurrently.

export type KeyedQueue = <T>(key: string, task: () => Promise<T>) => Promise<T>;

export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<unknown>>();
  return (key, task) => {
    const previous = tails.get(key) ?? Promise.resolve();
    // A failed task does not affect the next one; its caller gets the error.
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
