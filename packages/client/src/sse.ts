// Reads server-sent events (WHATWG HTML §9.2) over fetch, which unlike EventSource can send a key, and resumes broken streams.
import { delay, delayOf, type Http, isTemporary } from "./http.ts";

export interface ServerSentEvent {
  id: string;
  type: string;
  /** Parsed JSON. */
  data: unknown;
}

export interface StreamOptions {
  signal?: AbortSignal | undefined;
  /** Resumes after this event. */
  lastEventId?: string | undefined;
}

/** A live service sends something every 15 seconds. */
const SILENCE_MS = 45_000;

/**
 * Follows a stream, and reconnects with `Last-Event-ID` and growing delays when it breaks off, for as long as `giveUpAfterMs`
 * without success. The first connection is tried as often as any request. `isOver` says after which event the end is no loss.
 */
export async function* follow(
  http: Http,
  path: string,
  query: Record<string, string | undefined>,
  { signal, lastEventId = "" }: StreamOptions,
  {
    isOver,
    giveUpAfterMs = Number.POSITIVE_INFINITY,
  }: { isOver?: (event: ServerSentEvent) => boolean; giveUpAfterMs?: number } = {},
): AsyncGenerator<ServerSentEvent, void> {
  let lastId = lastEventId;
  let tries = 0;
  let lostAt = 0;
  for (let isFirst = true; ; isFirst = false) {
    // A part of the attempt, so that leaving the loop closes the connection.
    const attempt = new AbortController();
    const both = signal ? AbortSignal.any([signal, attempt.signal]) : attempt.signal;
    let cause: unknown;
    try {
      const headers: Record<string, string> = { accept: "text/event-stream" };
      if (lastId) headers["last-event-id"] = lastId;
      const response = await http.send("GET", path, { query, headers, signal: both }, true);
      isFirst = false;
      for await (const event of parse(response, () => attempt.abort())) {
        if (event.id) lastId = event.id;
        tries = 0;
        lostAt = 0;
        if (event.type === "") continue;
        // What came together with earlier events is not wanted any more.
        signal?.throwIfAborted();
        yield event;
        if (isOver?.(event)) return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      // A stream that breaks off within its body throws the platform's own error.
      if (isFirst || (error instanceof Error && "status" in error && !isTemporary(error))) throw error;
      cause = error;
    } finally {
      attempt.abort();
    }
    lostAt ||= Date.now();
    if (Date.now() - lostAt > giveUpAfterMs) throw cause ?? new Error("The stream ended early.");
    await delay(delayOf(cause, tries++), signal);
  }
}

/** Parses a response. An id that comes without data is yielded with the type "", since the stream resumes there. */
async function* parse(response: Response, onSilence: () => void): AsyncGenerator<ServerSentEvent> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  let buffer = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      timer = setTimeout(onSilence, SILENCE_MS);
      const { done, value } = await reader.read();
      clearTimeout(timer);
      if (done) return;
      buffer += decoder.decode(value, { stream: true });
      const blocks = buffer.split(/\r?\n\r?\n/);
      buffer = blocks.pop() ?? "";
      for (const block of blocks) {
        const fields: Record<string, string> = {};
        for (const line of block.split(/\r?\n/)) {
          const [, name, value = ""] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
          if (name) fields[name] = fields[name] === undefined ? value : `${fields[name]}\n${value}`;
        }
        const { id = "", event = "message", data } = fields;
        yield data === undefined ? { id, type: "", data } : { id, type: event, data: JSON.parse(data) };
      }
    }
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => undefined);
  }
}
