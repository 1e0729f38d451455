// Runs work soon, and once, however often it is asked for.

const waiting = new Set<() => void>();

/** Runs each work once, a second after the first request for any. */
export function soon(work: () => void): void {
  if (waiting.size === 0) {
    setTimeout(() => {
      const all = [...waiting];
      waiting.clear();
      for (const one of all) one();
    }, 1_000);
  }
  waiting.add(work);
}
