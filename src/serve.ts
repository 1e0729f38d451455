// Start in order, stop in reverse: listeners, kernel, plugins, work; and back.
import type { Server } from "bun";
import { type App, createApp } from "./app.ts";
import { type Config, type Environment, loadConfig } from "./config.ts";
import { createControl, listenForCommands } from "./control.ts";
import { errorBody, StartError } from "./errors.ts";
import { loadExternalPlugins } from "./external.ts";
import type { SocketSession, WebServer } from "./http.ts";
import { openKernel, type RunningKernel } from "./kernel.ts";
import type { Surface } from "./surface.ts";

export interface ServeOptions {
  env: Environment;
  /** Third-party plugins, beside those named by PLUGINS. */
  plugins: string[];
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

/** Milliseconds in which the answers to what was broken off by the end of the grace can still leave. */
const LAST_WORDS = 1_000;

/** Serves until `stop()`. Throws StartError or ConfigError when it can't, with everything closed again. */
export async function serve({ env, plugins }: ServeOptions): Promise<Running> {
  const asked = loadConfig(env);
  const listeners: Listener[] = [];
  const listen = (variable: "PORT" | "BACKEND_PORT", { host, port }: Address) => {
    const listener = bind(variable, host, port);
    listeners.push(listener);
    return listener;
  };
  const closeListeners = async (now: boolean) =>
    void (await Promise.all(listeners.map(({ server }) => server.stop(now))));
  let kernel: RunningKernel | undefined;
  let app: App | undefined;
  let control: Awaited<ReturnType<typeof listenForCommands>> | undefined;

  /** Ends what is in flight within the grace, then closes what is open; a step that fails does not keep the others from it. */
  async function close(graceMs: number, lastWordsMs: number): Promise<void> {
    const until = performance.now() + graceMs;
    const drained = closeListeners(false);
    const steps = [
      () => control?.close(),
      () => app?.stop(),
      () => within(drained, Math.max(lastWordsMs, until - performance.now())),
      () => kernel?.jobs.stop(),
      () => closeListeners(true),
      () => kernel?.close(),
    ];
    const failures: unknown[] = [];
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  try {
    const web = asked.role === "backend" ? undefined : listen("PORT", asked.web);
    const backend = asked.role === "web" ? undefined : listen("BACKEND_PORT", asked.backend);
    const ports = { PORT: web && String(web.server.port), BACKEND_PORT: backend && String(backend.server.port) };
    const config = loadConfig({ ...env, ...defined(ports) });
    const external = await loadExternalPlugins([...config.plugins, ...plugins]);
    kernel = await openKernel(config);
    app = createApp(kernel, external);
    if (config.role !== "web") {
      await kernel.jobs.start();
      await app.start();
    }
    control = await listenForCommands(kernel, createControl(kernel, app));
    const firstAdminLink = config.role === "backend" ? undefined : await app.accounts.firstAdminLink();
    web?.open(app.web);
    backend?.open(app.backend);

    let stopping: Promise<void> | undefined;
    return {
      config,
      addresses: defined({ web: web?.address, backend: backend?.address }),
      defaultModel: app.defaultModel,
      firstAdminLink,
      stop: () => {
        stopping ??= close(config.shutdownGraceMs, LAST_WORDS);
        return stopping;
      },
    };
  } catch (error) {
    await close(0, 0).catch((second: unknown) =>
      kernel?.log.error("what was started could not be closed", { error: second }),
    );
    throw error;
  }
}

/** Resolves with the promise, or after so many milliseconds. */
async function within(promise: Promise<void>, ms: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

interface Address {
  readonly host: string;
  readonly port: number;
}

interface Listener {
  server: Server<SocketSession>;
  address: string;
  /** From now on this surface answers; requests that came earlier were held. */
  open(surface: Surface): void;
}

/** Takes the port first: a busy one stops the start before anything is touched. Until `open`, only /healthz is answered. */
function bind(variable: "PORT" | "BACKEND_PORT", host: string, port: number): Listener {
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
    throw new StartError(whyNot(variable, host, port, cause), { cause });
  }
}

function whyNot(variable: "PORT" | "BACKEND_PORT", host: string, port: number, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return `${variable}: port ${port} is in use by another program. Free it, or set ${variable} to another port.`;
  }
  if (code === "EACCES")
    return `${variable}: this user may not listen on port ${port}. Set ${variable} to another port.`;
  const hostVariable = variable === "PORT" ? "HOST" : "BACKEND_HOST";
  return `${hostVariable}: this machine can't listen on ${host}. Set ${hostVariable} to an address of its own.`;
}

/** The entries that have a value. */
function defined<Key extends string, Value>(record: Record<Key, Value | undefined>): Partial<Record<Key, Value>> {
  const entries = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Record<Key, Value>>;
}
