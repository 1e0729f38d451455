// Runs programs of agents in QuickJS, on threads that do nothing else and are ended when they don't answer.
//
// Each thread (`sandbox-thread.ts`) hosts the library `run`, which in turn interprets the program on a thread of its own.
// So neither the program nor the work around it (removing types, reading results) holds the process's event loop, and a
// program that outlives its limits is ended from outside together with everything that it holds.

import { AppError } from "../../../src/kernel/errors.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { workerPath } from "../../../src/kernel/worker-path.ts";
import { createFairQueue } from "./fair-queue.ts";
import { LIMITS, QUEUE } from "./limits.ts";
import type { FromThread, InputFile, Program, RunCommand, RunLimits, RunOutcome } from "./protocol.ts";

const THREAD = workerPath("plugins/sandbox/runner/sandbox-thread.ts");

/** Time for starting a thread and ending a run, beside the time of the program. */
const GRACE_MS = 5 * SECOND;

export interface RunRequest {
  agentId: string;
  program: Program;
  /** Names are unique; their bytes can't be used afterwards. */
  files: readonly InputFile[];
  signal: AbortSignal;
}

export interface Sandbox {
  /**
   * Runs a program, after those that came before it. A program that fails or is ended is an outcome, too.
   * @throws AppError 429 `SANDBOX_BUSY` if no thread became free in time; the signal's reason when it aborts
   */
  run(request: RunRequest): Promise<RunOutcome>;
  /** Threads that are running or idle. */
  threads(): number;
  /** Ends all threads. */
  stop(): void;
}

interface SandboxOptions {
  limits?: RunLimits;
  queue?: Readonly<Record<keyof typeof QUEUE, number>>;
}

interface Thread {
  worker: Worker;
  idleTimer: Timer | undefined;
}

const busy = () =>
  new AppError(429, "SANDBOX_BUSY", "The sandbox is busy with other programs. Try again in a few seconds.");

export function createSandbox({ limits = LIMITS, queue = QUEUE }: SandboxOptions = {}): Sandbox {
  const enter = createFairQueue({
    slots: queue.threads,
    perKey: queue.perAgent,
    total: queue.total,
    waitMs: queue.waitMs,
    error: busy,
  });
  const threads = new Set<Thread>();
  const idle: Thread[] = [];

  function takeThread(): Thread {
    const thread = idle.pop() ?? { worker: new Worker(THREAD), idleTimer: undefined };
    clearTimeout(thread.idleTimer);
    threads.add(thread);
    return thread;
  }

  function end(thread: Thread): void {
    clearTimeout(thread.idleTimer);
    const index = idle.indexOf(thread);
    if (index !== -1) idle.splice(index, 1);
    threads.delete(thread);
    thread.worker.terminate();
  }

  function putBack(thread: Thread): void {
    idle.push(thread);
    thread.idleTimer = setTimeout(() => end(thread), queue.idleMs);
    thread.idleTimer.unref();
  }

  async function runOn(thread: Thread, { program, files, signal }: RunRequest): Promise<RunOutcome> {
    const { worker } = thread;
    const { promise, resolve, reject } = Promise.withResolvers<RunOutcome>();
    const onAbort = () => reject(signal.reason);
    const timer = setTimeout(() => resolve(UNFINISHED), limits.timeMs + GRACE_MS);
    signal.addEventListener("abort", onAbort, { once: true });
    worker.onmessage = ({ data }: MessageEvent<FromThread>) => {
      hasEnded = true;
      resolve(data.ended);
    };
    worker.onerror = ({ message }) => reject(new Error(`A thread of the sandbox failed: ${message}`));
    let hasEnded = false;
    try {
      const { timeMs, memoryBytes } = limits;
      const command: RunCommand = { program, files, limits: { timeMs, memoryBytes } };
      worker.postMessage(
        command,
        files.flatMap(({ bytes }) => bytes?.buffer ?? []),
      );
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      worker.onmessage = null;
      worker.onerror = null;
      if (hasEnded) putBack(thread);
      else end(thread);
    }
  }

  return {
    run: (request) => enter(request.agentId, () => runOn(takeThread(), request), request.signal),
    threads: () => threads.size,
    stop() {
      for (const thread of [...threads]) end(thread);
    },
  };
}

const UNFINISHED: RunOutcome = {
  ok: false,
  printed: "",
  value: "",
  error: "It did not end in time and was stopped.",
  files: [],
};
