// The model provider of the benchmarks: it sends precomputed bytes without checks or records, so that its own cost is small.

import { parseArgs } from "node:util";

const about = { id: "chatcmpl-1", created: 1_700_000_000, model: "fake-small" };
const usage = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 };
const text = "Hello there, how are you?";

/**
 * Serves `/v1/chat/completions` and `/v1/models` until it is killed; prints `{"url":"http://127.0.0.1:N/v1"}` when it listens.
 * `--pace MS` sends one frame every MS; `--chunks N` sets the number of words, which are numbered (`w0 w1 …`), so that a lost one shows.
 * `GET /_control/stats` returns `{ open, total, aborted }`; `open` counts paced streams.
 */
export function serveFast(args: string[]): void {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: "string", default: "0" },
      pace: { type: "string", default: "0" },
      chunks: { type: "string", default: "4" },
    },
  });
  const paceMs = Number(values.pace);
  const count = { open: 0, total: 0, aborted: 0 };
  const encoder = new TextEncoder();
  const sse = { headers: { "content-type": "text/event-stream; charset=utf-8" } };
  const json = { headers: { "content-type": "application/json" } };

  const whole = encoder.encode(
    JSON.stringify({
      ...about,
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
      usage,
    }),
  );
  const models = encoder.encode(
    JSON.stringify({ object: "list", data: [{ id: about.model, object: "model", created: about.created }] }),
  );
  const words = Array.from({ length: Number(values.chunks) }, (_, index) => `w${index} `);
  const plain = framesOf(words, false).map((frame) => encoder.encode(frame));
  const counted = framesOf(words, true).map((frame) => encoder.encode(frame));
  const plainBytes = Buffer.concat(plain);
  const countedBytes = Buffer.concat(counted);

  const paced = (frames: Uint8Array[], signal: AbortSignal) => {
    let next = 0;
    let open = true;
    count.open += 1;
    const end = (gone: boolean) => {
      if (!open) return;
      open = false;
      count.open -= 1;
      if (gone) count.aborted += 1;
      clearInterval(timer);
    };
    let timer: Timer | undefined;
    signal.addEventListener("abort", () => end(true), { once: true });
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        const send = () => {
          const frame = frames[next++];
          if (frame && open) controller.enqueue(frame);
          if (next < frames.length || !open) return;
          end(false);
          controller.close();
        };
        send();
        timer = setInterval(send, paceMs);
      },
      cancel: () => end(true),
    });
    return new Response(stream, sse);
  };

  const server = Bun.serve({
    port: Number(values.port),
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      if (request.method !== "POST") {
        return request.url.endsWith("/_control/stats") ? Response.json(count) : new Response(models, json);
      }
      count.total += 1;
      const body = await request.text();
      if (!body.includes('"stream":true')) return new Response(whole, json);
      const wantsUsage = body.includes('"include_usage":true');
      if (paceMs > 0) return paced(wantsUsage ? counted : plain, request.signal);
      return new Response(wantsUsage ? countedBytes : plainBytes, sse);
    },
  });
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.port}/v1` })}\n`);
}

function framesOf(words: string[], withUsage: boolean): string[] {
  const head = { ...about, object: "chat.completion.chunk" };
  const chunk = (delta: unknown, finish: string | null = null) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const last = withUsage ? [`data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`] : [];
  const spoken = words.map((word, index) =>
    chunk(index === 0 ? { role: "assistant", content: word } : { content: word }),
  );
  return [...spoken, chunk({}, "stop"), ...last, "data: [DONE]\n\n"];
}
