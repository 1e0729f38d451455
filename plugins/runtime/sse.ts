// Server-sent events (WHATWG HTML §9.2), out and in.
import { errorBody } from "../../src/errors.ts";
import type { Reply } from "./engine.ts";
import type { Observer } from "./turn.ts";

export const wantsEvents = (request: Request) => request.headers.get("accept")?.includes("text/event-stream") === true;

const encoder = new TextEncoder();
const HEAD = {
  "content-type": "text/event-stream;charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

const frame = (event: string, data: unknown) => encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

/**
 * Answers with the events of one turn: `delta { text }`, `tool { name, state }`, and at the end `reply` or `error`.
 * The turn's signal aborts when the reader goes away.
 */
export function eventStream(
  gone: AbortSignal,
  chat: (observer: Observer, signal: AbortSignal) => Promise<Reply>,
): Response {
  const left = new AbortController();
  const signal = AbortSignal.any([gone, left.signal]);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (event: string, data: unknown) => {
        if (!signal.aborted) controller.enqueue(frame(event, data));
      };
      const observer: Observer = {
        delta: (text) => send("delta", { text }),
        tool: (event) => send("tool", event),
      };
      chat(observer, signal)
        .then(
          (reply) => send("reply", reply),
          (error: unknown) => send("error", { status: errorBody(error).status, ...errorBody(error).body }),
        )
        .finally(() => {
          if (!signal.aborted) controller.close();
        });
    },
    cancel: () => left.abort(),
  });
  return new Response(body, { headers: HEAD });
}

/** The events of a stream as they come. Ends with the stream; leaving the loop cancels it. */
export async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: string }> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const lines = rest.slice(0, end).split("\n");
      rest = rest.slice(end + 2);
      const field = (name: string) =>
        lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
      yield { event: field("event").join("") || "message", data: field("data").join("\n") };
    }
  }
}
