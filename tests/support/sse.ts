// Reads server-sent events in tests: as parsed events, a fixed number of them, or the raw text of a stream that stays open.

import { expect } from "bun:test";
import type { Client } from "./client.ts";
import { eventually } from "./eventually.ts";

export interface ServerSentEvent {
  /** Default: `message`. */
  event: string;
  data: string;
  id?: string;
}

/** Parses server-sent events (WHATWG HTML §9.2); an unfinished last event is dropped, as the standard requires. */
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

/** Parses the events of a complete stream. */
export const parseEvents = (text: string): ServerSentEvent[] =>
  text.split(/\r?\n\r?\n/).flatMap((block) => parseEvent(block) ?? []);

/** Reads the first `count` events of a GET, then closes the connection. */
export async function takeEvents(
  client: Client,
  path: string,
  count: number,
  headers: Record<string, string> = {},
): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  if (count === 0) return events;
  for await (const event of client.sse(path, undefined, { headers })) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

export interface FollowedStream {
  readonly response: Response;
  /** Everything received so far. */
  text: string;
  hasEnded: boolean;
  /** Closes the connection. */
  leave(): void;
}

/** Opens a stream with a GET and collects its text; resolves after the first event with an id. Throws unless 200. */
export async function followStream(
  client: Client,
  path: string,
  headers: Record<string, string> = {},
): Promise<FollowedStream> {
  const abort = new AbortController();
  const options = { signal: abort.signal, headers: { accept: "text/event-stream", ...headers } };
  const response = await client.fetch("GET", path, undefined, options);
  expect(response.status).toBe(200);
  const stream: FollowedStream = { response, text: "", hasEnded: false, leave: () => abort.abort() };
  const decoder = new TextDecoder();
  void (async () => {
    try {
      for await (const chunk of response.body ?? []) stream.text += decoder.decode(chunk, { stream: true });
    } catch (error) {
      if (!abort.signal.aborted) throw error;
    }
    stream.hasEnded = true;
  })();
  await eventually(() => stream.text.includes("id:"));
  return stream;
}

function parseEvent(block: string): ServerSentEvent | undefined {
  const data: string[] = [];
  const event: ServerSentEvent = { event: "message", data: "" };
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    if (field === "event") event.event = value;
    if (field === "id") event.id = value;
  }
  return data.length > 0 ? { ...event, data: data.join("\n") } : undefined;
}
