// A model provider that replies at once, never ("please hang"), or with 10 MB ("please flood").

const about = { id: "chatcmpl-1", created: 1_700_000_000, model: "fake-small" };
const usage = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 };
const models = { object: "list", data: [{ id: about.model, object: "model", created: about.created }] };
const whole = {
  ...about,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello there, how are you?" }, finish_reason: "stop" }],
  usage,
};
const frame = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ ...about, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
/** 10 MB in a second: more than a model can generate, but a broken one may send it. */
const FLOOD = 10 * 1024 * 1024;
const EVERY_MS = 10;
const piece = new TextEncoder().encode(frame({ content: "flood ".repeat(680) }));
const last = new TextEncoder().encode(`${frame({}, "stop")}data: [DONE]\n\n`);
const sse = { headers: { "content-type": "text/event-stream; charset=utf-8" } };

function flood(): ReadableStream<Uint8Array> {
  let left = FLOOD;
  return new ReadableStream({
    async pull(controller) {
      await Bun.sleep(EVERY_MS);
      for (let sent = 0; sent < FLOOD / (1000 / EVERY_MS) && left > 0; sent += piece.length, left -= piece.length) {
        controller.enqueue(piece);
      }
      if (left > 0) return;
      controller.enqueue(last);
      controller.close();
    },
  });
}

function serve() {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      if (request.method !== "POST") return Response.json(models);
      const body = await request.text();
      if (body.includes("please hang")) return new Promise<Response>(() => undefined);
      if (body.includes("please flood")) return new Response(flood(), sse);
      if (!body.includes('"stream":true')) return Response.json(whole);
      return new Response(
        `${frame({ role: "assistant", content: "Hello there" })}${frame({}, "stop")}data: [DONE]\n\n`,
        sse,
      );
    },
  });
}

if (import.meta.main) process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${serve().port}` })}\n`);

export {};
