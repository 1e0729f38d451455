// A fake Ollama: its own list of models, and OpenAI's protocol below /v1, which the fake provider answers.

import { startUpstream, type Upstream } from "./upstream.ts";

export interface Ollama extends AsyncDisposable {
  /** The value of `OLLAMA_URL`. */
  readonly url: string;
  /** What answers below /v1. */
  readonly upstream: Upstream;
  stop(): Promise<void>;
}

/** @param models ids of those on its disk; read at each request, so that a test can add some */
export async function startOllama({ models }: { models: readonly string[] }): Promise<Ollama> {
  const upstream = await startUpstream();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/api/tags") return Response.json({ models: models.map((name) => ({ name, model: name })) });
      if (pathname === "/v1/models") {
        return Response.json({
          object: "list",
          data: models.map((id) => ({ id, object: "model", owned_by: "library" })),
        });
      }
      if (!pathname.startsWith("/v1/")) return new Response("404 page not found", { status: 404 });
      const body = request.method === "GET" ? undefined : await request.text();
      return fetch(upstream.origin + pathname, {
        method: request.method,
        headers: request.headers,
        body: body ?? null,
      });
    },
  });
  const stop = async () => {
    await server.stop(true);
    await upstream.stop();
  };
  return { url: `http://127.0.0.1:${server.port}`, upstream, stop, [Symbol.asyncDispose]: stop };
}
