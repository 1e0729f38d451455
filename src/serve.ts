// Start in order, stop in reverse: listeners, kernel, plugins, work; and back.
// The loop gets a turn between the steps of the start, so /healthz answers while the rest is under way.
import { type App, createApp } from "./app.ts";
import { type Config, type Environment, loadConfig } from "./config.ts";
import { createControl, listenForCommands } from "./control.ts";
import { loadExternalPlugins } from "./external.ts";
import { openKernel, type RunningKernel } from "./kernel.ts";
import { bind, type Listener } from "./listener.ts";

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

/** Milliseconds after which what only the start needed is given back: about 3 MB, once. */
const SETTLED = 2_000;

/** Collects, and returns what is free to the system. */
function giveBack(): void {
  Bun.gc(true);
  Bun.shrink();
}

/** Lets the loop answer what has come in meanwhile. */
const loopTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Serves until `stop()`. Throws StartError or ConfigError when it can't, with everything closed again. */
export async function serve({ env, plugins }: ServeOptions): Promise<Running> {
  const asked = loadConfig(env);
  const listeners: Listener[] = [];
  const listen = (
    variable: "PORT" | "BACKEND_PORT",
    { host, port }: { readonly host: string; readonly port: number },
  ) => {
    const listener = bind(variable, host, port);
    listeners.push(listener);
    return listener;
  };
  const closeListeners = async (now: boolean) =>
    void (await Promise.all(listeners.map(({ server }) => server.stop(now))));
  let kernel: RunningKernel | undefined;
  let app: App | undefined;
  let control: { close(): Promise<void> } | undefined;

  /** A promise that somebody left behind must not end the service for everybody. */
  const stray = (error: unknown) => kernel?.log.error("a promise failed and nobody was listening", { error });

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
      () => void process.off("unhandledRejection", stray),
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
    await loopTurn();
    const external = await loadExternalPlugins([...config.plugins, ...plugins]);
    kernel = await openKernel(config);
    process.on("unhandledRejection", stray);
    await loopTurn();
    app = createApp(kernel, external);
    await loopTurn();
    if (config.role !== "web") {
      await kernel.jobs.start();
      await app.start();
    }
    control = await listenForCommands(kernel, createControl(kernel, app));
    const firstAdminLink = config.role === "backend" ? undefined : await app.accounts.firstAdminLink();
    web?.open(app.web);
    backend?.open(app.backend);

    setTimeout(giveBack, SETTLED).unref();
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

/** The entries that have a value. */
function defined<Key extends string, Value>(record: Record<Key, Value | undefined>): Partial<Record<Key, Value>> {
  const entries = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Record<Key, Value>>;
}
