// Runs one piece of work on a thread that ends with it: for libraries that take much memory, or input that can take any time.

export interface OneShot<Reply> {
  signal: AbortSignal;
  timeoutMs: number;
  /** The reply if the time is over. */
  tooLong: Reply;
  /** The reply if the thread fails. */
  failed: Reply;
}

/**
 * Starts the worker, sends it the request, and resolves with its first message. Rejects with the signal's reason.
 * @param worker the path, as `workerPath()` gives it
 */
export async function runOnThread<Request, Reply>(
  worker: string,
  request: Request,
  { signal, timeoutMs, tooLong, failed }: OneShot<Reply>,
): Promise<Reply> {
  // It may have aborted while this waited for its turn: the event would not come again.
  signal.throwIfAborted();
  const thread = new Worker(worker);
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const onAbort = () => reject(signal.reason);
  const timer = setTimeout(resolve, timeoutMs, tooLong);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    thread.onmessage = ({ data }: MessageEvent<Reply>) => resolve(data);
    thread.onerror = () => resolve(failed);
    thread.postMessage(request);
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    thread.terminate();
  }
}
