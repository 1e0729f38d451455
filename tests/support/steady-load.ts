// Sends requests without a pause, some over connections that are kept and some over new ones, and notes each that was not answered.

import { connect, type Socket } from "node:net";

export interface Load {
  answered: number;
  /** In words: refused, reset, closed without an answer, or an unexpected status. */
  failures: string[];
  /** Milliseconds of the slowest request. */
  longestMs: number;
  stop(): Promise<void>;
}

interface Worker {
  /** Whether the connection is used again. */
  isKept: boolean;
  /** The next request, whole. */
  request(): string;
  /** Called with each answer. */
  onAnswer?(status: number): void;
}

/** Each worker sends its next request once the one before was answered. */
export function startLoad(origin: string, workers: readonly Worker[]): Load {
  const { port } = new URL(origin);
  let isStopping = false;
  const load: Load = { answered: 0, failures: [], longestMs: 0, stop };

  async function run({ isKept, request, onAnswer }: Worker): Promise<void> {
    let kept: Socket | undefined;
    while (!isStopping) {
      const since = performance.now();
      const socket = kept ?? connect(Number(port), "127.0.0.1");
      kept = undefined;
      try {
        const { status, isLast } = await exchange(socket, request());
        onAnswer?.(status);
        if (status >= 500 || status === 0) load.failures.push(`status ${status}`);
        else load.answered++;
        if (isKept && !isLast) kept = socket;
        else socket.destroy();
      } catch (error) {
        load.failures.push(`${error instanceof Error ? error.message : error} (${isKept ? "kept" : "new"})`);
        socket.destroy();
      }
      load.longestMs = Math.max(load.longestMs, performance.now() - since);
      await Bun.sleep(5);
    }
    kept?.destroy();
  }

  const running = workers.map(run);
  async function stop() {
    isStopping = true;
    await Promise.all(running);
  }
  return load;
}

function exchange(socket: Socket, request: string): Promise<{ status: number; isLast: boolean }> {
  return new Promise((resolve, reject) => {
    let received = "";
    const finish = (settle: () => void) => {
      socket.removeAllListeners();
      socket.on("error", () => undefined);
      settle();
    };
    socket.on("data", (data) => {
      received += data.toString("latin1");
      const end = received.indexOf("\r\n\r\n");
      const length = /^content-length: *(\d+)/im.exec(received.slice(0, end))?.[1];
      if (end < 0 || length === undefined || received.length < end + 4 + Number(length)) return;
      const status = Number(received.split(" ", 2)[1]);
      finish(() => resolve({ status, isLast: /^connection: *close/im.test(received.slice(0, end)) }));
    });
    socket.on("error", (error: Error & { code?: string }) =>
      finish(() => reject(new Error(error.code ?? error.message))),
    );
    socket.on("close", () => finish(() => reject(new Error("closed without an answer"))));
    socket.write(request);
  });
}
