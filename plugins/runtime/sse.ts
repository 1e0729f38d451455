// Writes the events of a turn as server-sent events (WHATWG HTML §9.2).
import { errorBody } from "../../src/kernel/error-body.ts";
import { EVENT_STREAM_HEADERS } from "../../src/kernel/http/sse-streams.ts";
import type { Reply } from "./turn/running-turns.ts";
import type { Observer } from "./turn/tool-calls.ts";

const encoder = new TextEncoder();

const frame = (event: string, data: unknown) => encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

/** Frames that are buffered for a slow reader; further text is collected for the next frame. */
const READ_AHEAD = 16;

/**
 * Runs a turn and responds with its events: `delta { text }`, `tool { name, state }`, `file` (as in the reply), and at the end `reply` or `error`.
 * The turn's signal aborts when the reader goes away or `callerSignal` aborts; the stream ends in any case.
 */
export function eventStream(
  callerSignal: AbortSignal,
  chat: (observer: Observer, signal: AbortSignal) => Promise<Pick<Reply, "reply" | "timestamp" | "files">>,
): Response {
  const readerGone = new AbortController();
  const abortTurn = () => readerGone.abort();
  let open = true;
  let text = "";
  let flush: () => void = () => undefined;

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        flush = () => {
          const collected = text;
          // Cleared before `enqueue`, which may call `pull` and so this function again.
          text = "";
          if (open && collected !== "") controller.enqueue(frame("delta", { text: collected }));
        };
        const send = (event: string, data: unknown) => {
          flush();
          if (open) controller.enqueue(frame(event, data));
        };
        const observer: Observer = {
          delta(more) {
            text += more;
            if ((controller.desiredSize ?? 0) > 0) flush();
          },
          tool: (event) => send("tool", event),
          file: (file) => send("file", file),
        };
        if (callerSignal.aborted) abortTurn();
        callerSignal.addEventListener("abort", abortTurn, { once: true });
        void chat(observer, readerGone.signal)
          .then(
            (reply) => send("reply", reply),
            (error: unknown) => {
              const { status, body } = errorBody(error);
              send("error", { status, ...body });
            },
          )
          .finally(() => {
            callerSignal.removeEventListener("abort", abortTurn);
            if (open) controller.close();
          });
      },
      pull: () => flush(),
      cancel() {
        open = false;
        abortTurn();
      },
    },
    { highWaterMark: READ_AHEAD },
  );
  return new Response(body, { headers: EVENT_STREAM_HEADERS });
}
