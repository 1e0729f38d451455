// Serves streams of server-sent events (WHATWG HTML §9.2) until the reader disconnects or loses access.
import { AppError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import { eventStream } from "./openapi/event-streams.ts";
import { attachContext, contextOf } from "./request-context.ts";

/** The reader of a stream, and the agent that it is about. */
export interface StreamSubscriber {
  userId: string;
  /** Undefined for a reader with an API key. */
  sessionId: string | undefined;
  agentId?: string;
}

/** Produces the frames of one stream. */
export interface StreamSource {
  /** Returns the id to resume from, which is sent first and with each heartbeat. */
  lastEventId(): string;
  /**
   * Returns the next whole frames, "" for none, and whether more may be available. Called only when the reader has taken
   * the previous frames, so that a reader that stalls holds one batch in memory. `end`: the stream ends after them.
   */
  read(): Promise<{ text: string; more: boolean; end?: boolean }>;
  /** Calls `notify` when there may be something to read. Returns the function that unsubscribes. */
  listen(notify: () => void): () => void;
}

export interface SseStreams {
  /**
   * Responds with a stream. At each heartbeat, `isStillAllowed` checks a copy of the request, because a key or account can
   * be revoked without a notification, in another process too. False, or a thrown 401, 403 or 404, ends the stream.
   * Throws 429 `TOO_MANY_STREAMS` beyond 20 streams of one user.
   */
  open(
    subscriber: StreamSubscriber,
    request: Request,
    openSource: () => StreamSource | Promise<StreamSource>,
    isStillAllowed: (repeatedRequest: Request) => Promise<boolean>,
  ): Promise<Response>;
  /** Ends the streams that match. */
  end(matches: (subscriber: StreamSubscriber) => boolean): void;
  /** Ends all streams, and at once those that are opened later. */
  close(): void;
}

/** The most open streams of one user. */
const MAX_STREAMS = 20;
const HEARTBEAT_MS = 15_000;

/** The headers of every event stream, live or of one turn. The last one stops nginx from buffering it. */
export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream;charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

const encoder = new TextEncoder();

let openInProcess = 0;
/** How many streams of this process are open: their responses end only when the service does. */
export const openEventStreams = () => openInProcess;
/** Counts one that another process or machine has opened, and that this one passes on, until the result is called. */
export function countEventStream(): () => void {
  openInProcess++;
  let isCounted = true;
  return () => {
    if (isCounted) openInProcess--;
    isCounted = false;
  };
}

export const acceptsEventStream = (request: Request) =>
  request.headers.get("accept")?.includes("text/event-stream") === true;

/** Formats an event. `data` becomes JSON, which has no line breaks. */
export const formatEvent = (id: string | number, event: string, data: unknown) =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** The response object of an event stream in the OpenAPI document, with the schema of one event. */
export const eventStreamResponse = (event: object) => ({ description: "The stream", content: eventStream(event) });

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
        if (open.delete(subscriber)) openInProcess--;
        wakeReader();
      };
      open.set(subscriber, end);
      openInProcess++;
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

      /** Returns the next frames or a heartbeat; undefined at the end. */
      async function next(): Promise<string | undefined> {
        while (!ended) {
          if (performance.now() - checkedAt >= heartbeatMs) {
            checkedAt = performance.now();
            if (!(await isAllowed())) break;
          }
          if (mayHaveData) {
            mayHaveData = false;
            const { text, more, end: isLast = false } = await source.read();
            mayHaveData ||= more;
            if (isLast) end();
            if (text !== "") return text;
          } else if (!(await waitForData())) {
            return `: still here\nid: ${source.lastEventId()}\n\n`;
          }
        }
        end();
        return undefined;
      }

      /** Resolves with false if nothing happens until the next heartbeat. */
      async function waitForData(): Promise<boolean> {
        const { promise, resolve } = Promise.withResolvers<boolean>();
        const timer = setTimeout(() => resolve(false), heartbeatMs);
        wakeReader = () => resolve(true);
        return promise.finally(() => clearTimeout(timer));
      }

      // An id without data: a reader that is disconnected before the first event resumes from it.
      const preamble = `retry: 2000\nid: ${source.lastEventId()}\n\n`;
      let isCancelled = false;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(encoder.encode(preamble)),
        async pull(controller) {
          try {
            const text = await next();
            // A reader in this process has left while this was waiting: the stream is closed.
            if (isCancelled) return;
            if (text === undefined) return controller.close();
            controller.enqueue(encoder.encode(text));
          } catch (error) {
            log.warn("an event stream ended because its source failed", { error });
            end();
            if (!isCancelled) controller.close();
          }
        },
        cancel() {
          isCancelled = true;
          end();
        },
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

/** Makes the check of a copy of the request. An error on the server's side does not end the stream. */
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
