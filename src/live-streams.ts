// Streams of server-sent events (WHATWG HTML §9.2) that last until their reader, or the reader's right to them, is gone.
import { AppError } from "./errors.ts";
import { attachContext, contextOf } from "./http.ts";
import type { Log } from "./log.ts";

/** Whose a stream is, and what it is about. */
export interface Reader {
  userId: string;
  /** Undefined: an API key's. */
  sessionId: string | undefined;
  agentId?: string;
}

/** Where the frames of one stream come from. */
export interface Source {
  /** The place to resume from, sent at the beginning and with each sign of life. Asked once anything could be read. */
  place(): string;
  /**
   * What has come since: whole frames, "" for none. `more`: there may be more already. Called when the reader has taken
   * what there was, so that one who doesn't read holds one batch, and no more is read for it.
   */
  read(): Promise<{ text: string; more: boolean }>;
  /** Calls back when there may be something to read; returns the way to end that. */
  listen(wake: () => void): () => void;
}

export interface LiveStreams {
  /**
   * Answers a request with a stream. `mayStay` is asked with each heartbeat about the request as if it came anew: keys and
   * accounts can end unseen, in another process too; false, or a refusal that it throws, ends the stream.
   * 429 `TOO_MANY_STREAMS` past 20 of one user.
   */
  open(
    reader: Reader,
    request: Request,
    prepare: () => Source | Promise<Source>,
    mayStay: (again: Request) => Promise<boolean>,
  ): Promise<Response>;
  /** Ends those that match. */
  end(matches: (reader: Reader) => boolean): void;
  /** Ends all, and those that are opened from now on. */
  close(): void;
}

/** Streams of one user at a time. */
const MAX_STREAMS = 20;
const HEARTBEAT_MS = 15_000;

/** The headers of every answer that is a stream of events, live or of one turn. */
export const STREAM_HEADERS = {
  "content-type": "text/event-stream;charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

const encoder = new TextEncoder();

export const wantsEvents = (request: Request) => request.headers.get("accept")?.includes("text/event-stream") === true;

/** One event; `data` becomes JSON, which has no line breaks. */
export const eventFrame = (id: string | number, event: string, data: unknown) =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** For the documents. */
export const streamResponse = {
  description: "The stream",
  content: { "text/event-stream": { schema: { type: "string" as const } } },
};

export function createLiveStreams(deps: { log: Log; heartbeatMs?: number | undefined }): LiveStreams {
  const { log, heartbeatMs = HEARTBEAT_MS } = deps;
  const open = new Map<Reader, () => void>();
  let closed = false;

  const endWhere = (matches: (reader: Reader) => boolean) => {
    for (const [reader, end] of [...open]) if (matches(reader)) end();
  };

  return {
    async open(reader, request, prepare, mayStay) {
      if ([...open.keys()].filter(({ userId }) => userId === reader.userId).length >= MAX_STREAMS) {
        const text = `You have ${MAX_STREAMS} streams open already. Close one first.`;
        throw new AppError(429, "TOO_MANY_STREAMS", text);
      }
      const isWelcome = askAnew(request, mayStay, log);
      const { signal } = request;
      let ended = closed;
      let fresh = true;
      let checkedAt = performance.now();
      let tell: () => void = () => undefined;
      let unlisten: () => void = () => undefined;
      const wake = () => {
        fresh = true;
        tell();
      };
      const end = () => {
        ended = true;
        unlisten();
        signal.removeEventListener("abort", end);
        open.delete(reader);
        tell();
      };
      open.set(reader, end);
      signal.addEventListener("abort", end, { once: true });

      let source: Source;
      try {
        source = await prepare();
      } catch (error) {
        end();
        throw error;
      }
      unlisten = source.listen(wake);
      if (ended || signal.aborted) end();

      /** What to send next: frames, or a sign of life; undefined at the end. */
      async function next(): Promise<string | undefined> {
        while (!ended) {
          if (performance.now() - checkedAt >= heartbeatMs) {
            checkedAt = performance.now();
            if (!(await isWelcome())) break;
          }
          if (fresh) {
            fresh = false;
            const { text, more } = await source.read();
            fresh ||= more;
            if (text !== "") return text;
          } else if (!(await told())) {
            return `: still here\nid: ${source.place()}\n\n`;
          }
        }
        end();
        return undefined;
      }

      /** False when nothing happens before the next heartbeat. */
      async function told(): Promise<boolean> {
        const { promise, resolve } = Promise.withResolvers<boolean>();
        const timer = setTimeout(() => resolve(false), heartbeatMs);
        tell = () => resolve(true);
        return promise.finally(() => clearTimeout(timer));
      }

      // An id without data: whoever is cut off before the first event resumes from here.
      const begin = `retry: 2000\nid: ${source.place()}\n\n`;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(encoder.encode(begin)),
        async pull(controller) {
          try {
            const text = await next();
            if (text === undefined) return controller.close();
            controller.enqueue(encoder.encode(text));
          } catch (error) {
            log.warn("A stream ends, since what goes into it can't be read.", { error });
            end();
            controller.close();
          }
        },
        cancel: end,
      });
      return new Response(body, { headers: STREAM_HEADERS });
    },

    end: endWhere,
    close() {
      closed = true;
      endWhere(() => true);
    },
  };
}

/** Asks about this request as if it came anew. Trouble on our side is no reason to send anybody away. */
function askAnew(request: Request, mayStay: (again: Request) => Promise<boolean>, log: Log): () => Promise<boolean> {
  const { url } = request;
  const headers = new Headers(request.headers);
  const context = contextOf(request);
  return async () => {
    const again = new Request(url, { headers });
    attachContext(again, { ...context, cookies: [] });
    try {
      return await mayStay(again);
    } catch (error) {
      if (error instanceof AppError && [401, 403, 404].includes(error.status)) return false;
      log.debug("a stream's reader could not be checked", { error });
      return true;
    }
  };
}
