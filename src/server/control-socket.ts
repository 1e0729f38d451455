// Runs commands of the command line inside the service, over a Unix socket in the data folder.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../kernel/config/config.ts";
import { errorBody } from "../kernel/error-body.ts";
import { AppError } from "../kernel/errors.ts";
import type { Kernel } from "../kernel/plugin.ts";
import type { App } from "./app.ts";

/** Runs a command by its name. */
export type RunCommand = (name: string, args: Readonly<Record<string, string>>) => Promise<unknown>;

/** Every command, by its name on the socket. */
export type CommandHandlers = Readonly<Record<string, (args: Readonly<Record<string, string>>) => Promise<unknown>>>;

/** Commands that only read, every few seconds: in the log they would hide the others. */
const WATCHED = new Set(["fleet.live"]);

/** Wraps the app's commands to log their names. Arguments and results are not logged, since they may be secret. */
export function createCommandHandlers(
  { log }: Pick<Kernel, "log">,
  { commands }: Pick<App, "commands">,
): CommandHandlers {
  const withLogging =
    (name: string, run: CommandHandlers[string]): CommandHandlers[string] =>
    async (args) => {
      try {
        const result = await run(args);
        if (!WATCHED.has(name)) log.info("command", { name, operator: args.operator });
        return result;
      } catch (error) {
        if (!(error instanceof AppError)) log.error("command failed", { name, error });
        throw error;
      }
    };
  return Object.fromEntries(Object.entries(commands).map(([name, run]) => [name, withLogging(name, run)]));
}

/** The path of the socket for commands. */
export const socketPath = ({ dataDir }: Pick<Config, "dataDir">) => join(dataDir, "berth.sock");

/** The longest path of a socket in bytes: sun_path of Linux without its final zero. */
const MAX_PATH = 107;

/**
 * Listens for commands. The socket's mode allows only its owner to connect. If the socket can't be created, the service
 * runs without it, and commands work only while it is stopped.
 */
export async function listenOnControlSocket(
  { config, log }: Pick<Kernel, "config" | "log">,
  run: RunCommand,
): Promise<{ close(): Promise<void> }> {
  const unix = socketPath(config);
  try {
    if (Buffer.byteLength(unix) > MAX_PATH) throw new Error(`its path is longer than ${MAX_PATH} bytes`);
    if (await isListening(unix)) throw new Error("another service listens on it");
    return startSocketServer(unix, run);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.warn("control socket unavailable: stop the service to run commands", { why });
    return { close: async () => undefined };
  }
}

function startSocketServer(unix: string, run: RunCommand): { close(): Promise<void> } {
  // A killed service leaves its socket behind.
  rmSync(unix, { force: true });
  const previousUmask = process.umask(0o177);
  try {
    const server = Bun.serve({
      unix,
      fetch(request, server) {
        // Bun ends a request after ten seconds, but a command may take minutes: a rotation, a backup.
        server.timeout(request, 0);
        return handleRequest(run, request);
      },
    });
    return {
      async close() {
        await server.stop(true);
        rmSync(unix, { force: true });
      },
    };
  } finally {
    process.umask(previousUmask);
  }
}

async function isListening(unix: string): Promise<boolean> {
  try {
    await fetch("http://localhost/", { unix, signal: AbortSignal.timeout(2_000) });
    return true;
  } catch {
    return false;
  }
}

async function handleRequest(run: RunCommand, request: Request): Promise<Response> {
  try {
    const { name, args } = await readCommand(request);
    return Response.json(await run(name, args));
  } catch (error) {
    const { status, body } = errorBody(error);
    return Response.json(body, { status });
  }
}

async function readCommand(request: Request): Promise<{ name: string; args: Record<string, string> }> {
  const invalidCommand = new AppError(400, "INVALID_COMMAND", "The request is not a valid command of Berth.");
  const body: unknown = await request.json().catch(() => undefined);
  if (typeof body !== "object" || body === null || !("name" in body) || !("args" in body)) throw invalidCommand;
  const { name, args } = body;
  if (typeof name !== "string" || typeof args !== "object" || args === null) throw invalidCommand;
  return { name, args: Object.fromEntries(Object.entries(args).map(([key, value]) => [key, String(value)])) };
}

/** Runs the commands of a table. */
export const runCommandOf =
  (handlers: CommandHandlers): RunCommand =>
  (name, args) =>
    dispatch(handlers, name, args);

/** Runs a command by name. Throws 404 UNKNOWN_COMMAND if there is none. */
export async function dispatch(
  handlers: CommandHandlers,
  name: string,
  args: Readonly<Record<string, string>>,
): Promise<unknown> {
  const command = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (!command) throw new AppError(404, "UNKNOWN_COMMAND", `The running service doesn't know the command "${name}".`);
  return command(args);
}
