// Tests event streams: complete text, one final event, and little buffered for slow or disconnected readers.
import { describe, expect, test } from "bun:test";
import { AppError } from "../../src/kernel/errors.ts";
import { parseEvents } from "../../src/kernel/http/sse-parser.ts";
import { eventStream } from "./sse.ts";
import type { Reply } from "./turn/running-turns.ts";
import type { Observer } from "./turn/tool-calls.ts";

const reply: Reply = { inboxId: "i", agentId: "a", sessionId: "sess_0000000000000000", reply: "Hello", timestamp: 1 };
const never = new AbortController().signal;

async function eventsOf(response: Response) {
  const events: { event: string; data: unknown }[] = [];
  for await (const { event, data } of parseEvents(response.body ?? new ReadableStream())) {
    events.push({ event, data: JSON.parse(data) });
  }
  return events;
}

/** A turn whose events the test sends. */
function driven(gone = never) {
  const turn = Promise.withResolvers<Reply>();
  const seen: { observer?: Observer; signal?: AbortSignal } = {};
  const response = eventStream(gone, (observer, signal) => {
    Object.assign(seen, { observer, signal });
    return turn.promise;
  });
  return { response, turn, observer: seen.observer as Observer, signal: seen.signal as AbortSignal };
}

describe("the events of a turn", () => {
  test("are its deltas, its tools and its reply, in order", async () => {
    const { response, turn, observer } = driven();
    observer.delta("Hel");
    observer.tool({ name: "clock", state: "called" });
    observer.tool({ name: "clock", state: "done" });
    observer.delta("lo");
    turn.resolve(reply);
    expect(await eventsOf(response)).toEqual([
      { event: "delta", data: { text: "Hel" } },
      { event: "tool", data: { name: "clock", state: "called" } },
      { event: "tool", data: { name: "clock", state: "done" } },
      { event: "delta", data: { text: "lo" } },
      { event: "reply", data: reply },
    ]);
    expect(response.headers.get("content-type")).toBe("text/event-stream;charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test("end with the public body of the error when the turn fails", async () => {
    const { response, turn } = driven();
    turn.reject(new AppError(402, "BUDGET_EXCEEDED", "Used up.", { period: "day" }, { cause: new Error("secret") }));
    expect(await eventsOf(response)).toEqual([
      {
        event: "error",
        data: { status: 402, error: "Used up.", message: "Used up.", code: "BUDGET_EXCEEDED", period: "day" },
      },
    ]);
    const broken = driven();
    broken.turn.reject(new TypeError("secret of the inside"));
    const text = await broken.response.text();
    expect(text).toContain('"code":"INTERNAL"');
    expect(text).not.toContain("secret");
  });

  test("carry any text: line ends, blank lines, emoji and lone surrogates", async () => {
    const { response, turn, observer } = driven();
    const texts = ["a\n\nb\r\n", "\n\ndata: x\n\n", "🦊", "\ud83e", "\u2028"];
    for (const text of texts) observer.delta(text);
    turn.resolve(reply);
    const deltas = (await eventsOf(response)).filter(({ event }) => event === "delta");
    expect(deltas.map(({ data }) => (data as { text: string }).text)).toEqual(texts);
  });
});

describe("a reader", () => {
  test("that disconnects aborts the turn, and nothing more is written", async () => {
    const { response, turn, observer, signal } = driven();
    observer.delta("one");
    const reader = response.body?.getReader();
    await reader?.read();
    expect(signal.aborted).toBe(false);
    await reader?.cancel();
    expect(signal.aborted).toBe(true);
    observer.delta("two");
    turn.resolve(reply);
    await turn.promise;
  });

  test("whose request aborts also aborts the turn, and the stream ends", async () => {
    const gone = new AbortController();
    const { response, turn, signal } = driven(gone.signal);
    gone.abort();
    expect(signal.aborted).toBe(true);
    turn.reject(new AppError(409, "CANCELLED", "The reply was cancelled."));
    expect(await eventsOf(response)).toMatchObject([{ event: "error", data: { code: "CANCELLED" } }]);
    expect(driven(gone.signal).signal.aborted).toBe(true);
  });

  test("that pauses makes few frames wait, and gets the complete text later", async () => {
    const { response, turn, observer } = driven();
    const words = Array.from({ length: 50_000 }, (_, n) => `${n} `);
    for (const word of words) observer.delta(word);
    turn.resolve(reply);
    const events = await eventsOf(response);
    expect(events.length).toBeLessThan(40);
    const deltas = events.flatMap(({ event, data }) => (event === "delta" ? [(data as { text: string }).text] : []));
    expect(deltas.join("")).toBe(words.join(""));
    expect(events.at(-1)?.event).toBe("reply");
  });
});

describe("parsing", () => {
  const bytes = (...chunks: (string | Uint8Array)[]) =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
        controller.close();
      },
    });

  test("joins events from any chunks, also cut within a character", async () => {
    const whole = Buffer.from('event: delta\ndata: {"text":"🦊"}\n\nevent: reply\ndata: {}\n\n');
    for (let at = 1; at < whole.length; at++) {
      const found = [];
      for await (const event of parseEvents(bytes(whole.subarray(0, at), whole.subarray(at)))) found.push(event);
      expect(found).toEqual([
        { event: "delta", data: '{"text":"🦊"}' },
        { event: "reply", data: "{}" },
      ]);
    }
  });

  test("drops an incomplete event at the end", async () => {
    const found = [];
    for await (const { data } of parseEvents(bytes("data: 1\n\ndata: 2"))) found.push(data);
    expect(found).toEqual(["1"]);
  });

  test("cancels the stream when the loop is left", async () => {
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(Buffer.from("data: 1\n\n")),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const _ of parseEvents(endless)) break;
    expect(cancelled).toBe(true);
  });
});

test("over a real connection the complete text arrives once", async () => {
  const words = Array.from({ length: 200 }, (_, n) => `${n} `);
  const server = Bun.serve({
    port: 0,
    fetch: ({ signal }) =>
      eventStream(signal, async (observer) => {
        for (const word of words) {
          observer.delta(word);
          if (Number(word) % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        return reply;
      }),
  });
  try {
    const events = await eventsOf(await fetch(server.url));
    const deltas = events.flatMap(({ event, data }) => (event === "delta" ? [(data as { text: string }).text] : []));
    expect(deltas.join("")).toBe(words.join(""));
    expect(events.at(-1)).toEqual({ event: "reply", data: reply });
  } finally {
    await server.stop(true);
  }
});
