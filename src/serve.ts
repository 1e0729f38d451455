// Start in order, stop in reverse: listeners, kernel, plugins, work; and back.
import { writeSync } from "node:fs";
import type { Server } from "bun";
import { type App, createApp } from "./app.ts";
import { type Config, type Environment, loadConfig } from "./config.ts";
import { createControl, listenForCommands } from "./control.ts";
import { errorBody, StartError } from "./errors.ts";
import { loadExternalPlugins } from "./external.ts";
import type { SocketSession, WebServer } from "./http.ts";
import { openKernel } from "./kernel.ts";
import type { Surface } from "./surface.ts";

export interface ServeOptions {
  env: Environment;
  /** Third-party plugins, beside those named by PLUGINS. */
  plugins: string[];
  /** Where to write one line of JSON when ready. */
  readyFd?: number | undefined;
}

export interface Running {
  config: Config;
  /** Addresses that answer, by surface. */
  addresses: { web?: string; backend?: string };
  defaultModel: App["defaultModel"];
  /** What a newcomer does next. */
  firstAdminLink: string | undefined;
  /** Ends what is in flight within SHUTDOWN_GRACE, then closes everything. Safe to call twice. */
  stop(): Promise<void>;
}

/** Serves until `stop()`. Throws StartError or ConfigError when it can't, with nothing changed. */
export async function serve({ env, plugins, readyFd }: ServeOptions): Promise<Running> {
  const asked = loadConfig(env);
  const web = asked.role === "backend" ? undefined : bind("PORT", asked.web.host, asked.web.port);
  const backend = asked.role === "web" ? undefined : bind("BACKEND_PORT", asked.backend.host, asked.backend.port);
  const close = async (now: boolean) => void (await Promise.all([web?.server.stop(now), backend?.server.stop(now)]));
  try {
    const ports = { PORT: web && String(web.server.port), BACKEND_PORT: backend && String(backend.server.port) };
    const config = loadConfig({ ...env, ...defined(ports) });
    const kernel = await openKernel(config);
    const app = createApp(kernel, await loadExternalPlugins([...config.plugins, ...plugins]));
    if (config.role !== "web") await kernel.jobs.start();
    if (config.role !== "web") await app.start();
    const control = await listenForCommands(config, createControl(kernel, app));
    const firstAdminLink = config.role === "backend" ? undefined : await app.accounts.firstAdminLink();
    web?.open(app.web);
    backend?.open(app.backend);

    const addresses = defined({ web: web?.address, backend: backend?.address });
    if (readyFd !== undefined) writeSync(readyFd, `${JSON.stringify(addresses)}\n`);
    let stopping: Promise<void> | undefined;
    return {
      config,
      addresses,
      defaultModel: app.defaultModel,
      firstAdminLink,
      stop: () => {
        stopping ??= stop();
        return stopping;
      },
    };

    async function stop(): Promise<void> {
      await control.close();
      const drained = close(false);
      await app.stop();
      await kernel.jobs.stop();
      await Promise.race([drained, Bun.sleep(1_000)]);
      await close(true);
      await kernel.close();
    }
  } catch (error) {
    await close(true);
    throw error;
  }
}

interface Listener {
  server: Server<SocketSession>;
  address: string;
  /** From now on this surface answers; requests that came earlier were held. */
  open(surface: Surface): void;
}

/** Takes the port first: a busy one stops the start before anything is touched. Until `open`, only /healthz is answered. */
function bind(variable: string, host: string, port: number): Listener {
  let surface: Surface | undefined;
  let open: (surface: Surface) => void = () => undefined;
  const opened = new Promise<Surface>((resolve) => {
    open = resolve;
  });
  try {
    const server = Bun.serve<SocketSession>({
      hostname: host,
      port,
      // Streams may be silent for long; what limits a request is said by its route.
      idleTimeout: 0,
      maxRequestBodySize: 64 * 1024 * 1024,
      async fetch(request: Request, server: WebServer) {
        if (surface) return surface.fetch(request, server);
        if (new URL(request.url).pathname === "/healthz") return Response.json({ status: "ok" });
        return (await opened).fetch(request, server);
      },
      error(error) {
        const { status, body } = errorBody(error);
        return Response.json(body, { status });
      },
      websocket: {
        maxPayloadLength: 1024 * 1024,
        idleTimeout: 120,
        open: (socket) => socket.data.open(socket),
        message: (socket, data) => socket.data.message(socket, data),
        close: (socket, code) => socket.data.close(socket, code),
      },
    });
    const name = host === "0.0.0.0" || host === "::" ? "localhost" : host;
    return {
      server,
      address: `http://${name.includes(":") ? `[${name}]` : name}:${server.port}`,
      open(ready) {
        surface = ready;
        open(ready);
      },
    };
  } catch (cause) {
    const taken = (cause as { code?: string }).code === "EADDRINUSE";
    const why = taken ? `port ${port} is in use by another program` : `${host}:${port} can't be listened on`;
    throw new StartError(`${variable}: ${why}. Free it, or set ${variable} to another port.`, { cause });
  }
}

/** The entries that have a value. */
function defined<Key extends string, Value>(record: Record<Key, Value | undefined>): Partial<Record<Key, Value>> {
  const entries = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Record<Key, Value>>;
}
