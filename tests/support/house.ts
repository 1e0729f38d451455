// The whole application over a temporary folder, on ports of its own, inside the test's process.

import { join } from "node:path";
import type { ServerWebSocket } from "bun";
import { loadConfig, type SettingsSection } from "../../src/kernel/config/config.ts";
import type { Surface } from "../../src/kernel/http/surface.ts";
import type { SocketSession } from "../../src/kernel/http/web-sockets.ts";
import { openKernel, type RunningKernel } from "../../src/kernel/kernel.ts";
import type { Plugin } from "../../src/kernel/plugin.ts";
import { type App, createApp } from "../../src/server/app.ts";
import { settingsWith } from "../../src/server/settings.ts";
import { temporaryDir } from "./process.ts";

export interface HouseOptions {
  /** On top of no limits, a quiet log and the folder. */
  env?: Record<string, string>;
  /** Beside the built-in ones. */
  plugins?: Plugin<unknown>[];
  /** Sections in place of the built-in ones of the same name, such as a registry with a row more. */
  sections?: SettingsSection[];
  /** Left alone afterwards. Default: a new one, removed afterwards. */
  dir?: string;
}

export interface House extends AsyncDisposable {
  readonly kernel: RunningKernel;
  readonly app: App;
  /** Origins, without a slash at their end. */
  readonly web: string;
  readonly backend: string;
  readonly dir: string;
}

/** Background work is not started: what a test needs of it, it starts itself. */
export async function openHouse({ env = {}, plugins = [], sections = [], dir }: HouseOptions = {}): Promise<House> {
  const temporary = dir === undefined ? temporaryDir() : undefined;
  const folder = dir ?? temporary?.path ?? "";
  const settings = { DATA_DIR: join(folder, "data"), RATE_LIMITS: "off", LOG_LEVEL: "error", ...env };
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

async function built(kernel: RunningKernel, plugins: Plugin<unknown>[]): Promise<App> {
  try {
    return createApp(kernel, plugins);
  } catch (error) {
    await kernel.close();
    throw error;
  }
}

/** A surface on a port of its own, as `serve` puts it there. */
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
