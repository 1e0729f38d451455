// An answer on its way to the client: passed on as it comes, no faster than it is read, and called off when the client goes.
import type { UsageTap } from "./usage-tap.ts";

/** What Bun's readers give at once: all that is there. */
export interface ReadManyResult {
  done: boolean;
  value: Uint8Array[];
}

export interface BodyReader {
  readMany(): ReadManyResult | Promise<ReadManyResult>;
}

/** The type of a response's body is Node's, which lacks `readMany`. Undefined where there is no body. */
export const bodyReader = ({ body }: Response): BodyReader | undefined =>
  body?.getReader() as (ReadableStreamDefaultReader<Uint8Array> & BodyReader) | undefined;

interface RelayOptions {
  reader: BodyReader;
  /** What was read already. */
  first: ReadManyResult;
  tap: UsageTap;
  /** Milliseconds that the provider may be silent, or the client may leave what is there unread. */
  idleTimeout: number;
  /** Ends the call upstream. */
  abort(): void;
  /** The answer has ended, one way or another. Called once; the client's ends when what this gives has settled. */
  onEnd(): Promise<void> | undefined;
  /** It was not finished: by the provider, or, `unread`, since the client took nothing for too long. */
  onBroken(error: unknown, clientStalled: boolean): void;
}

export function relayStream({
  reader,
  first,
  tap,
  idleTimeout,
  abort,
  onEnd,
  onBroken,
}: RelayOptions): ReadableStream<Uint8Array> {
  let isFinished = false;
  let cancelled = false;
  let isBackpressured = false;
  let clientStalled = false;
  const timer = setTimeout(() => {
    clientStalled = isBackpressured;
    abort();
  }, idleTimeout);
  const finish = () => {
    if (isFinished) return undefined;
    isFinished = true;
    clearTimeout(timer);
    return onEnd();
  };
  return new ReadableStream<Uint8Array>({
    type: "direct",
    async pull(controller) {
      try {
        for (let batch = first; !batch.done; ) {
          timer.refresh();
          for (const chunk of batch.value) {
            const out = tap.push(chunk);
            const written = out && controller.write(out);
            if (!(written instanceof Promise)) continue;
            isBackpressured = true;
            await written;
            isBackpressured = false;
          }
          const next = reader.readMany();
          // What is there already goes out together; nothing stays here while we wait.
          if (next instanceof Promise) controller.flush();
          batch = next instanceof Promise ? await next : next;
        }
        const rest = tap.flush();
        if (rest) controller.write(rest);
        await finish();
        controller.close();
      } catch (error) {
        void finish();
        if (cancelled) return;
        onBroken(error, clientStalled);
        // So that it can't be taken for the end, the connection is reset. Without a reason Bun does that silently.
        await Promise.reject();
      }
    },
    cancel() {
      cancelled = true;
      abort();
      void finish();
    },
  });
}
