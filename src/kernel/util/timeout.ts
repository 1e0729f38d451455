// Runs work under a time limit, and tells the work by an abort signal that its time is up.

export interface TimeoutOptions {
  ms: number;
  /** The error that ends the wait. */
  error: () => Error;
  /** Ends the wait earlier, with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Settles as `work` does, or rejects as soon as its time is up or `signal` aborts, whether or not the work listens to
 * the signal that it is given. The result of work that goes on after that is ignored.
 *
 * @example
 * await withTimeout((signal) => fetch(url, { signal }), { ms: 5_000, error: () => new Error("No answer in 5 s.") });
 */
export async function withTimeout<Result>(
  work: (signal: AbortSignal) => Promise<Result> | Result,
  { ms, error, signal }: TimeoutOptions,
): Promise<Result> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown) => {
    controller.abort(reason);
    reject(reason);
  };
  const onAbort = () => end(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => end(error()), ms);
  try {
    // Work that throws at once rejects like any other.
    const running = (async () => work(controller.signal))();
    return await Promise.race([running, ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/**
 * Settles as `work` does, or rejects as soon as `signal` aborts: with the result of `error`, by default the signal's reason.
 * The result of work that goes on after that is ignored.
 */
export async function abortable<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
  error: () => unknown = () => signal.reason,
): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(error());
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
