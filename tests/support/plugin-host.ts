// Opens a kernel and a plugin host over a temporary folder, for tests of one plugin without the whole application.

import { resolve } from "node:path";
import { type AnyElysia, Elysia } from "elysia";
import { loadConfig } from "../../src/kernel/config/config.ts";
import type { Database } from "../../src/kernel/database/database.ts";
import { errorHandler } from "../../src/kernel/http/error-response.ts";
import { createRequestDurations, createSurface, type Surface } from "../../src/kernel/http/surface.ts";
import { openKernel, type RunningKernel } from "../../src/kernel/kernel.ts";
import { createLateRouter } from "../../src/kernel/late-routes.ts";
import { createHost, latePartsOf } from "../../src/kernel/plugin-host.ts";
import type { Log } from "../../src/kernel/telemetry/log.ts";
import { placeMigratedDatabase } from "./migrated.ts";
import { temporaryDir } from "./process.ts";

export interface PluginHostOptions {
  /** Added to: no rate limits, log level `error`, and the data folder. */
  env?: Record<string, string>;
  /** The data folder, which is kept; it gets a database without rows unless it has one. Default: a new one, which is removed afterwards. */
  dir?: string;
  /** Default: the kernel's own. */
  log?: Log;
  /** Replaces the database that plugins get. */
  wrapDatabase?: (database: Database) => Database;
}

export interface PluginHost extends AsyncDisposable {
  readonly kernel: RunningKernel;
  readonly host: ReturnType<typeof createHost>;
  readonly dir: string;
  /** A surface with the routes of the plugins that have been used so far. */
  surface(side: "web" | "backend"): Surface;
  /** Starts the plugins, then the jobs. */
  start(): Promise<void>;
  /** Stops the plugins in reverse order. */
  stopPlugins(): Promise<void>;
  /** Stops the jobs and closes the kernel. */
  close(): Promise<void>;
}

/** Opens the kernel; nothing runs before `start()`. */
export async function openPluginHost({ env, dir, log, wrapDatabase }: PluginHostOptions = {}): Promise<PluginHost> {
  const temporary = dir === undefined ? temporaryDir() : undefined;
  const folder = dir ?? temporary?.path ?? "";
  const settings: Record<string, string> = { DATA_DIR: folder, RATE_LIMITS: "off", LOG_LEVEL: "error", ...env };
  if (!settings.DATABASE_URL) await placeMigratedDatabase(resolve(folder, settings.DATA_DIR ?? ""));
  const opened = await openKernel(loadConfig(settings, { cwd: folder }));
  const kernel = {
    ...opened,
    ...(log && { log }),
    ...(wrapDatabase && { database: wrapDatabase(opened.database) }),
  };
  const host = createHost(kernel);
  const durations = createRequestDurations(kernel);

  async function stopPlugins(): Promise<void> {
    for (const { parts } of host.built.toReversed()) await parts.stop?.();
  }
  async function close(): Promise<void> {
    await kernel.jobs.stop();
    await opened.close();
  }
  return {
    kernel,
    host,
    dir: folder,
    surface(side) {
      const errorFormats = host.built.flatMap(({ parts }) => parts.errorFormats ?? []);
      const errors = errorHandler(kernel.log, { errorFormats });
      const app: AnyElysia = new Elysia({ name: side, normalize: true }).use(errors);
      for (const { parts } of host.built) if (parts[side]) app.use(parts[side]);
      const prefixes = ["/api/", ...host.built.flatMap(({ parts }) => parts.latePrefixes ?? [])];
      app.use(createLateRouter(side, () => latePartsOf(host.built, side), errors, { prefixes }).fallback);
      return createSurface(side, app, kernel, durations, { errorFormats });
    },
    async start() {
      for (const { parts } of host.built) await parts.start?.();
      await kernel.jobs.start();
    },
    stopPlugins,
    close,
    async [Symbol.asyncDispose]() {
      await stopPlugins();
      await close();
      temporary?.remove();
    },
  };
}
