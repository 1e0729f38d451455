// Starts listeners first, then what they serve, and stops both in reverse.
// The start yields to the event loop between its steps, so that /healthz responds meanwhile.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { clusterSettings } from "../cluster/settings.ts";
import type { Config, Environment } from "../kernel/config/config.ts";
import { isGiven } from "../kernel/config/section.ts";
import { hasUnconfirmedMigrations } from "../kernel/database/before-migration/note-path.ts";
import { localDatabasePath } from "../kernel/database/database-path.ts";
import { DatabaseInUse } from "../kernel/database/errors.ts";
import { StartError } from "../kernel/errors.ts";
import type { Log } from "../kernel/telemetry/log.ts";
import type { ParentLink } from "./cells/parent-link.ts";
import { type ConnectionLimits, connectionLimits, guardConnections } from "./connections/connection-guard.ts";
import { descriptorLimit, lowLimitWarning } from "./connections/descriptors.ts";
import { bind, type Listener } from "./connections/listener.ts";
import { listenOnControlSocket, type RunCommand } from "./control-socket.ts";
import type { Program } from "./handover/hand-over.ts";
import type { InheritedSockets, ListenerName } from "./handover/inherited.ts";
import type { CellOptions, FirstAdmin } from "./service/cell.ts";
import { runAll } from "./service/run-all.ts";
import type { Service } from "./service/service.ts";
import { loadAllSettings } from "./settings.ts";

export interface ServeOptions {
  env: Environment;
  /** Files of third-party plugins, in addition to those in PLUGINS. */
  plugins: string[];
  /** In the process of a cell other than the first: the way to that one. */
  parent?: ParentLink;
  /** The sockets that the program before has left in this process. */
  inherited?: InheritedSockets | undefined;
  /** Called with the settings, before anything is opened. */
  beforeStart?(config: Config): Promise<void>;
  /** Runs the commands of the process itself, whose names begin with `process.`, beside those of the service. */
  processCommand?: RunCommand;
}

export interface RunningServer {
  config: Config;
  log: Log;
  /** The URL of each surface that is served. */
  addresses: { web?: string; backend?: string };
  defaultModel: Service["defaultModel"];
  /** The names of third-party plugins. */
  plugins: readonly string[];
  /** In a cluster: what this machine does, in words. */
  place: string | undefined;
  firstAdmin: FirstAdmin;
  /** Lets running requests finish within SHUTDOWN_GRACE, then closes everything. Safe to call twice. */
  stop(): Promise<void>;
  /**
   * Replaces this process by a program that goes on with its sockets. `beforehand` is called once the database is closed. Rejects if
   * the program can't be executed; then everything is closed.
   */
  handOver(program: Program, beforehand?: () => void): Promise<never>;
}

/** Milliseconds for the responses to requests that were aborted at the end of the grace period. */
const FINAL_RESPONSE_MS = 1_000;

/** Milliseconds after which memory that only the start needed is released, once. */
const MEMORY_RELEASE_DELAY_MS = 2_000;

/** The settings that may have no effect because of another section: few services set one of them. */
const MAY_BE_IDLE = [
  ...["PLANS_FILE", "STRIPE_SECRET_KEY", "AI_PUBLIC_ON_WEB"],
  ...["MODEL_A", "MODEL_B", "EMBEDDING_MODEL", "TRANSCRIPTION_MODEL", "SPEECH_MODEL", "PICTURE_MODEL"],
];

const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Serves until `stop()`. Throws StartError or ConfigError if the start fails, with everything closed again. */
export async function serve({
  env,
  plugins,
  parent,
  inherited,
  processCommand,
  beforeStart,
}: ServeOptions): Promise<RunningServer> {
  const initialConfig = loadAllSettings(env);
  await beforeStart?.(initialConfig);
  const listeners: Listener[] = [];
  const listen = (variable: ListenerName, address: { readonly host: string; readonly port: number }) => {
    const listener = bind(variable, address.host, address.port, undefined, inherited?.find(variable, address));
    listeners.push(listener);
    return listener;
  };
  const closeListeners = async (now: boolean) =>
    void (await Promise.all(listeners.map(({ server }) => server.stop(now))));
  let service: Service | undefined;
  let controlSocket: { close(): Promise<void> } | undefined;
  let connectionGuard: ReturnType<typeof startConnectionGuard>;
  /** How long turns may take to end, where that is not what the settings say. */
  let graceMs: number | undefined;
  /** The settings, once the database may have been changed. */
  let opened: Config | undefined;

  /** One unhandled rejection must not end the service for all users. */
  const logUnhandledRejection = (error: unknown) => service?.log.error("unhandled promise rejection", { error });

  /**
   * What threw is unknown, so the process ends, as it would without this handler: but then Bun would print the error with
   * its message and the source around it, and so any secret in them.
   */
  function exitAfterUncaughtException(error: unknown): void {
    service?.log.error("uncaught exception: the service ends; accepted messages are answered after the next start", {
      error,
    });
    process.exit(1);
  }

  /** Lets requests finish within the grace period, then closes everything. A failing step does not stop the others. */
  async function close(graceMs: number, finalResponseMs: number): Promise<void> {
    const deadline = performance.now() + graceMs;
    let drained: Promise<void> | undefined;
    await runAll([
      () => service?.handOver?.(),
      () => {
        drained = closeListeners(false);
      },
      () => connectionGuard?.stop(),
      () => controlSocket?.close(),
      () => service?.stop(),
      () => waitAtMost(drained ?? Promise.resolve(), Math.max(finalResponseMs, deadline - performance.now())),
      () => service?.stopJobs(),
      () => closeListeners(true),
      () => service?.close(),
      () => void process.off("unhandledRejection", logUnhandledRejection),
      () => void process.off("uncaughtException", exitAfterUncaughtException),
    ]);
  }

  /** As `close`, at once and without the listeners. */
  async function end(untilAnswered: () => Promise<void>, beforehand: () => void = () => undefined): Promise<void> {
    graceMs = 0;
    await runAll([
      () => service?.handOver?.(),
      () => connectionGuard?.stop(),
      () => controlSocket?.close(),
      () => service?.stop(),
      untilAnswered,
      () => service?.stopJobs(),
      () => service?.close(),
      beforehand,
    ]);
  }

  try {
    const web = initialConfig.role === "backend" || parent ? undefined : listen("PORT", initialConfig.web);
    const backend = initialConfig.role === "web" ? undefined : listen("BACKEND_PORT", initialConfig.backend);
    const ports = { PORT: web && String(web.port), BACKEND_PORT: backend && String(backend.port) };
    // Port 0 takes a free port, on which the defaults of addresses depend.
    const hasFreePort = [web && initialConfig.web.port, backend && initialConfig.backend.port].includes(0);
    // A probe that waited for the port is answered before the modules of the service are loaded.
    await Bun.sleep(1);
    const { loadExternalPlugins } = await import("./external-plugins.ts");
    await yieldToEventLoop();
    const external = await loadExternalPlugins([...initialConfig.plugins, ...plugins]);
    const loaded =
      hasFreePort || external.settings.length > 0
        ? loadAllSettings({ ...env, ...(hasFreePort && omitUndefined(ports)) }, external.settings)
        : initialConfig;
    const config = withGrace(loaded, () => graceMs ?? loaded.shutdownGraceMs);
    process.on("unhandledRejection", logUnhandledRejection);
    process.on("uncaughtException", exitAfterUncaughtException);
    opened = config;
    const seams = { isConfirmedLater: true };
    service = await openService({ config, env, external, pluginFiles: plugins, seams }, parent);
    for (const listener of listeners) await listener.takeOver();
    connectionGuard = startConnectionGuard(config, service, listeners);
    const { runCommand } = service;
    controlSocket = await listenOnControlSocket({ config, log: service.log }, async (name, args) =>
      processCommand && name.startsWith("process.") ? processCommand(name, args) : runCommand(name, args),
    );
    const mayBeIdle = MAY_BE_IDLE.some((name) => isGiven(config.sources[name]));
    if (!parent && (mayBeIdle || config.warnings.length > 0))
      (await import("./checks/log-warnings.ts")).logWarnings(service.log, config);
    if (connectionGuard) logLimits(service.log, connectionGuard.limits);
    web?.open(service.web);
    backend?.open(service.backend);
    service.opened?.();
    await confirmStart(config);

    const atReady = process.cpuUsage();
    setTimeout(
      async () => (await import("./service/release-memory.ts")).releaseMemory(atReady),
      MEMORY_RELEASE_DELAY_MS,
    ).unref();
    let stopping: Promise<void> | undefined;
    return {
      config,
      log: service.log,
      addresses: omitUndefined({ web: web?.address, backend: backend?.address }),
      defaultModel: service.defaultModel,
      plugins: external.plugins.map(({ name }) => name),
      place: service.place?.(),
      firstAdmin: service.firstAdmin,
      stop: () => {
        stopping ??= close(config.shutdownGraceMs, FINAL_RESPONSE_MS);
        return stopping;
      },
      async handOver(program, beforehand) {
        const { handOver } = await import("./handover/hand-over.ts");
        await service?.prepareHandOver?.();
        return handOver({
          listeners,
          graceMs: config.shutdownGraceMs,
          end: (untilAnswered) => end(untilAnswered, beforehand),
          program,
        });
      },
    };
  } catch (error) {
    await close(0, 0).catch((closeError: unknown) =>
      service?.log.error("what was started could not be closed", { error: closeError }),
    );
    throw opened ? await undoMigrations(opened, error) : error;
  }
}

/** The service is ready, so the migrations of this start, if there were any, stay. */
async function confirmStart({ database }: Config): Promise<void> {
  const path = localDatabasePath(database.url);
  if (path === undefined || !hasUnconfirmedMigrations(path)) return;
  (await import("../kernel/database/before-migration/migration-copy.ts")).confirmMigration(path);
}

/** Puts the database back as it was if this start, or one that was killed before it, has migrated it. Returns the error to tell. */
async function undoMigrations({ database }: Config, error: unknown): Promise<unknown> {
  const path = localDatabasePath(database.url);
  if (path === undefined || error instanceof DatabaseInUse || !hasUnconfirmedMigrations(path)) return error;
  const copies = await import("../kernel/database/before-migration/migration-copy.ts");
  const undone = copies.goBackBeforeMigration(path);
  if (!undone) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new StartError(
    `${why} The database, which this version had changed, is again as it was before; what the failed start left is ${undone.failed}. Mend the cause and start again, or start the version from before: put its file back in place of this one.`,
    { cause: error },
  );
}

/** The same settings, with a grace that depends on why the service ends. */
const withGrace = (config: Config, graceMs: () => number): Config => ({
  ...config,
  get shutdownGraceMs() {
    return graceMs();
  },
});

/** What belongs to a cluster, or to several cells, is loaded only in one. */
async function openService(options: CellOptions, parent: ParentLink | undefined): Promise<Service> {
  const { config } = options;
  const { cells, url } = config.of(clusterSettings);
  if (url !== undefined) {
    if (parent) return (await import("./cluster/cluster-member.ts")).openClusterMember(options, parent);
    return (await import("./cluster/cluster-service.ts")).openClusterService(options);
  }
  if (parent) return (await import("./cells/member-service.ts")).openMemberService(options, parent);
  if (cells > 1) return (await import("./cells/cells-service.ts")).openCellsService(options, cells);
  if (existsSync(join(config.dataDir, "cells"))) (await import("./cells/folders.ts")).requireAllCells(config, 1);
  const { openLocalService } = await import("./service/service.ts");
  await yieldToEventLoop();
  return openLocalService(options);
}

/** Keeps connections within the limits that follow from the process's own. Without that one there is nothing to guard. */
function startConnectionGuard(config: Config, { log, peers }: Service, listeners: readonly Listener[]) {
  const descriptors = descriptorLimit();
  if (descriptors === undefined) return undefined;
  const limits = connectionLimits(descriptors, config);
  const servers = listeners.map(({ server }) => server);
  const guard = guardConnections({
    servers,
    limits,
    trustedProxies: config.trustedProxies,
    ...(peers && { peers }),
    log,
  });
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
