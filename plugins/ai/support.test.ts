// Test support: the AI plugin over a real database, served on a port like the backend surface.

import type { SocketSession } from "../../src/kernel/http/web-sockets.ts";
import { silent } from "../../tests/support/database.ts";
import { openPluginHost } from "../../tests/support/plugin-host.ts";
import { openaiApi } from "../openai-api/index.ts";
import { ai } from "./index.ts";

/** A backend with the AI layer and /v1 alone, as these variables set it up. `dir`: a data folder that outlives it. */
export async function serveAi(env: Record<string, string> = {}, dir?: string) {
  const opened = await openPluginHost({
    env: { ...env, LOG_LEVEL: "error" },
    log: silent,
    ...(dir !== undefined && { dir }),
  });
  const { kernel, host } = opened;
  const service = host.use(ai);
  host.use(openaiApi);
  const surface = opened.surface("backend");
  const server = Bun.serve<SocketSession>({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: (request, own) => surface.fetch(request, own),
    websocket: { message: () => undefined },
  });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    service,
    kernel,
    /** Stops the plugins' work, which writes what they still hold. */
    stop: opened.stopPlugins,
    post: (path: string, body: unknown, init: RequestInit = {}) =>
      fetch(url + path, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...init,
        headers: { "content-type": "application/json", ...init.headers },
      }),
    get: (path: string) => fetch(url + path),
    /** The rows of the ledger, oldest first. */
    async ledger(): Promise<Record<string, unknown>[]> {
      const { rows } = await kernel.database.read(
        "SELECT kind, provider, model, input_tokens AS input, output_tokens AS output, cost_micro_usd AS cost, estimated FROM usage ORDER BY id",
      );
      return rows.map((row) => ({ ...row }));
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await opened[Symbol.asyncDispose]();
    },
  };
}

/** A JSON answer as plain data; of an error in OpenAI's form, what it says. */
export async function bodyOf(response: Response): Promise<Record<string, unknown>> {
  const body = (await response.json()) as Record<string, unknown>;
  const error = Object(body.error) as { message?: unknown };
  return typeof body.error === "object" ? { ...error, error: error.message } : body;
}
