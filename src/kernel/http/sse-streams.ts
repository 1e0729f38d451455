// Streams of server-sent events (WHATWG HTML §9.2) that last until their reader, or the reader's right to them, is gone.
import { AppError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import { attachContext, contextOf } from "./http.ts";

/** Whose a stream is, and what it is about. */
export interface StreamSubscriber {
  userId: string;
  /** Undefined: an API key's. */
  sessionId: string | undefined;
  agentId?: string;
}

/** Where the frames of one stream come from. */
export interface StreamSource {
  /** The place to resume from, sent at the beginning and with each sign of life. Asked once anything could be read. */
  lastEventId(): string;
  /**
   * What has come since: whole frames, "" for none. `more`: there may be more already. Called when the reader has taken
   * what there was, so that one who doesn't read holds one batch, and no more is read for it.
   */
  read(): Promise<{ text: string; more: boolean }>;
  /** Calls back when there may be something to read; returns the way to end that. */
  listen(notify: () => void): () => void;
}

export interface SseStreams {
  /**
   * Answers a request with a stream. `mayStay` is asked with each heartbeat about the request as if it came anew: keys and
   * accounts can end unseen, in another process too; false, or a refusal that it throws, ends the stream.
   * 429 `TOO_MANY_STREAMS` past 20 of one user.
   */
  open(
    subscriber: StreamSubscriber,
    request: Request,
    openSource: () => StreamSource | Promise<StreamSource>,
    isStillAllowed: (repeatedRequest: Request) => Promise<boolean>,
  ): Promise<Response>;
  /** Ends those that match. */
  end(matches: (subscriber: StreamSubscriber) => boolean): void;
  /** Ends all, and those that are opened from now on. */
  close(): void;
}

/** Streams of one user at a time. */
const MAX_STREAMS = 20;
const HEARTBEAT_MS = 15_000;

/** The headers of every answer that is a stream of events, live or of one turn. */
export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream;charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

const encoder = new TextEncoder();

export const acceptsEventStream = (request: Request) =>
  request.headers.get("accept")?.includes("text/event-stream") === true;

/** One event; `data` becomes JSON, which has no line breaks. */
export const formatEvent = (id: string | number, event: string, data: unknown) =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** For the documents. */
export const eventStreamResponse = {
  description: "The stream",
  content: { "text/event-stream": { schema: { type: "string" as const } } },
};

export function createSseStreams(deps: { log: Log; heartbeatMs?: number | undefined }): SseStreams {
  const { log, heartbeatMs = HEARTBEAT_MS } = deps;
  const open = new Map<StreamSubscriber, () => void>();
  let closed = false;

  const endWhere = (matches: (subscriber: StreamSubscriber) => boolean) => {
    for (const [subscriber, end] of [...open]) if (matches(subscriber)) end();
  };

  return {
    async open(subscriber, request, openSource, isStillAllowed) {
      if ([...open.keys()].filter(({ userId }) => userId === subscriber.userId).length >= MAX_STREAMS) {
        const text = `You have ${MAX_STREAMS} streams open already. Close one first.`;
        throw new AppError(429, "TOO_MANY_STREAMS", text);
      }
      const isAllowed = createRecheck(request, isStillAllowed, log);
      const { signal } = request;
      let ended = closed;
      let mayHaveData = true;
      let checkedAt = performance.now();
      let wakeReader: () => void = () => undefined;
      let unlisten: () => void = () => undefined;
      const notify = () => {
        mayHaveData = true;
        wakeReader();
      };
      const end = () => {
        ended = true;
        unlisten();
        signal.removeEventListener("abort", end);
        open.delete(subscriber);
        wakeReader();
      };
      open.set(subscriber, end);
      signal.addEventListener("abort", end, { once: true });

      let source: StreamSource;
      try {
        source = await openSource();
      } catch (error) {
        end();
        throw error;
      }
      unlisten = source.listen(notify);
      if (ended || signal.aborted) end();

      /** What to send next: frames, or a sign of life; undefined at the end. */
      async function next(): Promise<string | undefined> {
        while (!ended) {
          if (performance.now() - checkedAt >= heartbeatMs) {
            checkedAt = performance.now();
            if (!(await isAllowed())) break;
          }
          if (mayHaveData) {
            mayHaveData = false;
            const { text, more } = await source.read();
            mayHaveData ||= more;
            if (text !== "") return text;
          } else if (!(await waitForData())) {
            return `: still here\nid: ${source.lastEventId()}\n\n`;
          }
        }
        end();
        return undefined;
      }

      /** False when nothing happens before the next heartbeat. */
      async function waitForData(): Promise<boolean> {
        const { promise, resolve } = Promise.withResolvers<boolean>();
        const timer = setTimeout(() => resolve(false), heartbeatMs);
        wakeReader = () => resolve(true);
        return promise.finally(() => clearTimeout(timer));
      }

      // An id without data: whoever is cut off before the first event resumes from here.
      const preamble = `retry: 2000\nid: ${source.lastEventId()}\n\n`;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(encoder.encode(preamble)),
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
      return new Response(body, { headers: EVENT_STREAM_HEADERS });
    },

    end: endWhere,
    close() {
      closed = true;
      endWhere(() => true);
    },
  };
}

/** Asks about this request as if it came anew. Trouble on our side is no reason to send anybody away. */
function createRecheck(
  request: Request,
  isStillAllowed: (repeatedRequest: Request) => Promise<boolean>,
  log: Log,
): () => Promise<boolean> {
  const { url } = request;
  const headers = new Headers(request.headers);
  const context = contextOf(request);
  return async () => {
    const repeatedRequest = new Request(url, { headers });
    attachContext(repeatedRequest, { ...context, cookies: [] });
    try {
      return await isStillAllowed(repeatedRequest);
    } catch (error) {
      if (error instanceof AppError && [401, 403, 404].includes(error.status)) return false;
      log.debug("a stream's reader could not be checked", { error });
      return true;
    }
  };
}
