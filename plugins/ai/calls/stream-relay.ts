// Relays a streamed response to the client with backpressure, and aborts the call to the provider when the client goes.
import type { UsageTap } from "./usage-tap.ts";

/** The result of `readMany` of Bun's readers: all chunks that have arrived. */
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
  /** The chunks that were read already. */
  first: ReadManyResult;
  tap: UsageTap;
  /** Milliseconds that the provider may pause, or the client may leave data unread. */
  idleTimeout: number;
  /** Aborts the call to the provider. */
  abort(): void;
  /**
   * Called once at the end of the response; `isCut`: after an error, or because the client has gone. The client's response ends
   * when the returned promise has resolved.
   */
  onEnd(isCut: boolean): Promise<void> | undefined;
  /** Called when the response broke off. `clientStalled`: because the client read nothing for too long. */
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
  const finish = (isCut: boolean) => {
    if (isFinished) return undefined;
    isFinished = true;
    clearTimeout(timer);
    return onEnd(isCut);
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
          // Chunks that have arrived are sent together, and flushed before waiting for more.
          if (next instanceof Promise) controller.flush();
          batch = next instanceof Promise ? await next : next;
        }
        const rest = tap.flush();
        if (rest) controller.write(rest);
        await finish(false);
        controller.close();
      } catch (error) {
        void finish(true);
        if (cancelled) return;
        onBroken(error, clientStalled);
        // Reset the connection, so that the client can't take this for the end. Rejecting without a reason keeps Bun from logging.
        await Promise.reject();
      }
    },
    cancel() {
      cancelled = true;
      abort();
      void finish(true);
    },
  });
}
