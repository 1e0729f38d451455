// Runs the whole application inside the test's process, on free ports and over a temporary folder.

import { join, resolve } from "node:path";
import type { ServerWebSocket } from "bun";
import { loadConfig, type SettingsSection } from "../../src/kernel/config/config.ts";
import type { Surface } from "../../src/kernel/http/surface.ts";
import type { SocketSession } from "../../src/kernel/http/web-sockets.ts";
import { openKernel, type RunningKernel } from "../../src/kernel/kernel.ts";
import type { Plugin } from "../../src/kernel/plugin.ts";
import { type App, createApp } from "../../src/server/app.ts";
import { settingsWith } from "../../src/server/settings.ts";
import "./cheap-passwords.mjs";
import { placeMigratedDatabase } from "./migrated.ts";
import { temporaryDir } from "./process.ts";

export interface TestServerOptions {
  /** Added to: no rate limits, log level `error`, and the folder. */
  env?: Record<string, string>;
  /** Added to the built-in plugins. */
  plugins?: readonly Plugin<unknown>[];
  /** Setting sections that replace built-in ones of the same name, such as a registry with one more row. */
  sections?: SettingsSection[];
  /** The folder, which is kept; it gets a database without rows unless it has one. Default: a new one, which is removed afterwards. */
  dir?: string;
}

export interface TestServer extends AsyncDisposable {
  readonly kernel: RunningKernel;
  readonly app: App;
  /** Origin of the web surface, without a trailing slash. */
  readonly web: string;
  /** Origin of the backend surface, without a trailing slash. */
  readonly backend: string;
  readonly dir: string;
}

/** Opens the kernel and listens on both surfaces. Background work is not started; a test starts the parts that it needs. */
export async function openServer({
  env = {},
  plugins = [],
  sections = [],
  dir,
}: TestServerOptions = {}): Promise<TestServer> {
  const temporary = dir === undefined ? temporaryDir() : undefined;
  const folder = dir ?? temporary?.path ?? "";
  const settings = { DATA_DIR: join(folder, "data"), RATE_LIMITS: "off", LOG_LEVEL: "error", ...env };
  if (!env.DATABASE_URL) await placeMigratedDatabase(resolve(folder, settings.DATA_DIR));
  const kernel = await openKernel(loadConfig(settings, { cwd: folder, settings: settingsWith(...sections) }));
  const app = await built(kernel, plugins);
  const web = listen(app.web);
  const backend = listen(app.backend);
  return {
    kernel,
    app,
    web: `http://127.0.0.1:${web.port}`,
    backend: `http://127.0.0.1:${backend.port}`,
    dir: folder,
    async [Symbol.asyncDispose]() {
      await app.stop();
      await Promise.all([web.stop(true), backend.stop(true)]);
      await kernel.close();
      temporary?.remove();
    },
  };
}

async function built(kernel: RunningKernel, plugins: readonly Plugin<unknown>[]): Promise<App> {
  try {
    const app = createApp(kernel, plugins);
    app.people.registerListStorage(async () => {
      const { storeErasuresBesideBackups } = await import("../../src/server/backups/erasure-lists.ts");
      await storeErasuresBesideBackups(kernel.config, 0);
    });
    await app.prepareExternal();
    return app;
  } catch (error) {
    await kernel.close();
    throw error;
  }
}

/** Listens with a surface on a free port, with the same handlers as `serve`. */
function listen(surface: Surface) {
  type Socket = ServerWebSocket<SocketSession>;
  return Bun.serve<SocketSession>({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: (request, server) => surface.fetch(request, server),
    websocket: {
      open: (socket: Socket) => socket.data.open(socket),
      message: (socket: Socket, data) => socket.data.message(socket, data),
      close: (socket: Socket, code) => socket.data.close(socket, code),
    },
  });
}
