// Starts listeners, kernel, plugins and background work in this order, and stops them in reverse.
// The start yields to the event loop between its steps, so that /healthz responds meanwhile.

import type { Config, Environment } from "../kernel/config/config.ts";
import { openKernel, type RunningKernel } from "../kernel/kernel.ts";
import type { Log } from "../kernel/telemetry/log.ts";
import { type App, createApp } from "./app.ts";
import { type ConnectionLimits, connectionLimits, guardConnections } from "./connections/connection-guard.ts";
import { descriptorLimit, lowLimitWarning } from "./connections/descriptors.ts";
import { bind, type Listener } from "./connections/listener.ts";
import { createCommandHandlers, listenOnControlSocket } from "./control-socket.ts";
import { loadExternalPlugins } from "./external-plugins.ts";
import { loadAllSettings } from "./settings.ts";

export interface ServeOptions {
  env: Environment;
  /** Files of third-party plugins, in addition to those in PLUGINS. */
  plugins: string[];
}

export interface RunningServer {
  config: Config;
  /** The URL of each surface that is served. */
  addresses: { web?: string; backend?: string };
  defaultModel: App["defaultModel"];
  /** The link that creates the first account as an admin; or whether an account is an admin already. */
  firstAdmin: { kind: "link"; link: string } | { kind: "exists" } | { kind: "none" };
  /** Lets running requests finish within SHUTDOWN_GRACE, then closes everything. Safe to call twice. */
  stop(): Promise<void>;
}

/** Milliseconds for the responses to requests that were aborted at the end of the grace period. */
const FINAL_RESPONSE_MS = 1_000;

/** Milliseconds after which memory that only the start needed is released: about 3 MB, once. */
const MEMORY_RELEASE_DELAY_MS = 2_000;

/** Collects garbage and returns free memory to the system. */
function releaseMemory(): void {
  Bun.gc(true);
  Bun.shrink();
}

const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Serves until `stop()`. Throws StartError or ConfigError if the start fails, with everything closed again. */
export async function serve({ env, plugins }: ServeOptions): Promise<RunningServer> {
  const initialConfig = loadAllSettings(env);
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
  let controlSocket: { close(): Promise<void> } | undefined;
  let connectionGuard: ReturnType<typeof startConnectionGuard>;

  /** One unhandled rejection must not end the service for all users. */
  const logUnhandledRejection = (error: unknown) => kernel?.log.error("unhandled promise rejection", { error });

  /**
   * What threw is unknown, so the process ends, as it would without this handler: but then Bun would print the error with
   * its message and the source around it, and so any secret in them.
   */
  function exitAfterUncaughtException(error: unknown): void {
    kernel?.log.error("uncaught exception: the service ends; accepted messages are answered after the next start", {
      error,
    });
    process.exit(1);
  }

  /** Lets requests finish within the grace period, then closes everything. A failing step does not stop the others. */
  async function close(graceMs: number, finalResponseMs: number): Promise<void> {
    const deadline = performance.now() + graceMs;
    const drained = closeListeners(false);
    const steps = [
      () => connectionGuard?.stop(),
      () => controlSocket?.close(),
      () => app?.stop(),
      () => waitAtMost(drained, Math.max(finalResponseMs, deadline - performance.now())),
      () => kernel?.jobs.stop(),
      () => closeListeners(true),
      () => kernel?.close(),
      () => void process.off("unhandledRejection", logUnhandledRejection),
      () => void process.off("uncaughtException", exitAfterUncaughtException),
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
    const web = initialConfig.role === "backend" ? undefined : listen("PORT", initialConfig.web);
    const backend = initialConfig.role === "web" ? undefined : listen("BACKEND_PORT", initialConfig.backend);
    const ports = { PORT: web && String(web.server.port), BACKEND_PORT: backend && String(backend.server.port) };
    // Port 0 takes a free port, on which the defaults of addresses depend.
    const hasFreePort = [web && initialConfig.web.port, backend && initialConfig.backend.port].includes(0);
    const config = hasFreePort ? loadAllSettings({ ...env, ...omitUndefined(ports) }) : initialConfig;
    await yieldToEventLoop();
    const external = await loadExternalPlugins([...config.plugins, ...plugins]);
    kernel = await openKernel(config);
    process.on("unhandledRejection", logUnhandledRejection);
    process.on("uncaughtException", exitAfterUncaughtException);
    connectionGuard = startConnectionGuard(kernel, listeners);
    await yieldToEventLoop();
    app = createApp(kernel, external);
    registerInstance(app, env);
    await kernel.keyRotation.requireKeys();
    await yieldToEventLoop();
    if (config.role !== "web") {
      await kernel.jobs.start();
      await app.start();
    }
    controlSocket = await listenOnControlSocket(kernel, createCommandHandlers(kernel, app));
    const firstAdmin = config.role === "backend" ? { kind: "exists" as const } : await findFirstAdmin(app.accounts);
    if (connectionGuard) logLimits(kernel.log, connectionGuard.limits);
    web?.open(app.web);
    backend?.open(app.backend);

    setTimeout(releaseMemory, MEMORY_RELEASE_DELAY_MS).unref();
    let stopping: Promise<void> | undefined;
    return {
      config,
      addresses: omitUndefined({ web: web?.address, backend: backend?.address }),
      defaultModel: app.defaultModel,
      firstAdmin,
      stop: () => {
        stopping ??= close(config.shutdownGraceMs, FINAL_RESPONSE_MS);
        return stopping;
      },
    };
  } catch (error) {
    await close(0, 0).catch((closeError: unknown) =>
      kernel?.log.error("what was started could not be closed", { error: closeError }),
    );
    throw error;
  }
}

/** Registers the work that plugins can't do themselves. Imported at its first use, since few admins need it. */
function registerInstance({ instance }: App, env: Environment): void {
  const startedAt = Date.now();
  instance.registerSettingsReport(async () =>
    (await import("./settings-report.ts")).settingsReport(env, process.cwd(), startedAt),
  );
  instance.registerDatabaseBackup(async (target, signal) =>
    (await import("./backup-process.ts")).backUpInProcess(env, target, signal),
  );
}

async function findFirstAdmin(accounts: App["accounts"]): Promise<RunningServer["firstAdmin"]> {
  const link = await accounts.createFirstAdminLink();
  if (link !== undefined) return { kind: "link", link };
  return { kind: (await accounts.administration.hasAdmin()) ? "exists" : "none" };
}

/** Keeps connections within the limits that follow from the process's own. Without that one there is nothing to guard. */
function startConnectionGuard({ config, log }: RunningKernel, listeners: readonly Listener[]) {
  const descriptors = descriptorLimit();
  if (descriptors === undefined) return undefined;
  const limits = connectionLimits(descriptors, config);
  const servers = listeners.map(({ server }) => server);
  const guard = guardConnections({ servers, limits, trustedProxies: config.trustedProxies, log });
  return { ...guard, limits };
}

function logLimits(log: Log, limits: ConnectionLimits): void {
  log.info("descriptor limit", { ...limits });
  const warning = lowLimitWarning(limits.descriptors);
  if (warning !== undefined) log.warn(warning);
}

/** Resolves with the promise, or after `ms` milliseconds. */
async function waitAtMost(promise: Promise<void>, ms: number): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, ms);
  await Promise.race([promise, timeout.promise]).finally(() => clearTimeout(timer));
}

function omitUndefined<Key extends string, Value>(record: Record<Key, Value | undefined>): Partial<Record<Key, Value>> {
  const entries = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Record<Key, Value>>;
}
