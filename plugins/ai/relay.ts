// An answer on its way to the client: passed on as it comes, no faster than it is read, and called off when the client goes.
import type { Tap } from "./tap.ts";

/** What Bun's readers give at once: all that is there. */
export interface Parts {
  done: boolean;
  value: Uint8Array[];
}

export interface Reader {
  readMany(): Parts | Promise<Parts>;
}

/** The type of a response's body is Node's, which lacks `readMany`. Undefined where there is no body. */
export const readerOf = ({ body }: Response): Reader | undefined =>
  body?.getReader() as (ReadableStreamDefaultReader<Uint8Array> & Reader) | undefined;

interface Relay {
  reader: Reader;
  /** What was read already. */
  first: Parts;
  tap: Tap;
  /** Milliseconds that the provider may be silent, or the client may leave what is there unread. */
  silence: number;
  /** Ends the call upstream. */
  abort(): void;
  /** The answer has ended, one way or another. Called once; the client's ends when what this gives has settled. */
  done(): Promise<void> | undefined;
  /** It was not finished: by the provider, or, `unread`, since the client took nothing for too long. */
  cut(error: unknown, unread: boolean): void;
}

export function relay({ reader, first, tap, silence, abort, done, cut }: Relay): ReadableStream<Uint8Array> {
  let settled = false;
  let cancelled = false;
  let blocked = false;
  let unread = false;
  const timer = setTimeout(() => {
    unread = blocked;
    abort();
  }, silence);
  const finish = () => {
    if (settled) return undefined;
    settled = true;
    clearTimeout(timer);
    return done();
  };
  return new ReadableStream<Uint8Array>({
    type: "direct",
    async pull(controller) {
      try {
        for (let parts = first; !parts.done; ) {
          timer.refresh();
          for (const part of parts.value) {
            const out = tap.push(part);
            const written = out && controller.write(out);
            if (!(written instanceof Promise)) continue;
            blocked = true;
            await written;
            blocked = false;
          }
          const next = reader.readMany();
          // What is there already goes out together; nothing stays here while we wait.
          if (next instanceof Promise) controller.flush();
          parts = next instanceof Promise ? await next : next;
        }
        const rest = tap.rest();
        if (rest) controller.write(rest);
        await finish();
        controller.close();
      } catch (error) {
        void finish();
        if (cancelled) return;
        cut(error, unread);
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
