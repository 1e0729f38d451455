// Test support: the AI plugin over a real database, served on a port like the backend surface.
import { type AnyElysia, Elysia } from "elysia";
import { loadConfig } from "../../src/kernel/config/config.ts";
import { errorHandler } from "../../src/kernel/http/error-response.ts";
import { createRequestDurations, createSurface } from "../../src/kernel/http/surface.ts";
import type { SocketSession } from "../../src/kernel/http/web-sockets.ts";
import { openKernel } from "../../src/kernel/kernel.ts";
import { createHost } from "../../src/kernel/plugin-host.ts";
import { silent } from "../../tests/support/database.ts";
import { temporaryDir } from "../../tests/support/process.ts";
import { ai } from "./index.ts";

/** A backend with the AI layer alone, as these variables set it up. */
export async function serveAi(env: Record<string, string> = {}) {
  const dir = temporaryDir();
  const settings = { DATA_DIR: dir.path, RATE_LIMITS: "off", ...env, LOG_LEVEL: "error" };
  const opened = await openKernel(loadConfig(settings, { cwd: dir.path }));
  const kernel = { ...opened, log: silent };
  const host = createHost(kernel);
  const service = host.use(ai);
  const app: AnyElysia = new Elysia({ name: "backend", normalize: true }).use(errorHandler(silent));
  for (const { parts } of host.built) if (parts.backend) app.use(parts.backend);
  const surface = createSurface("backend", app, kernel, createRequestDurations(kernel));
  const server = Bun.serve<SocketSession>({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: (request, own) => surface.fetch(request, own),
    websocket: { message: () => undefined },
  });
  const url = `http://127.0.0.1:${server.port}`;
  const stop = () => Promise.all(host.built.map(({ parts }) => parts.stop?.()));
  return {
    url,
    service,
    kernel,
    /** Stops the plugins' work, which writes what they still hold. */
    stop,
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
      await stop();
      await server.stop(true);
      await kernel.close();
      dir.remove();
    },
  };
}

/** A JSON answer as plain data. */
export async function bodyOf(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}
