// Commands that change data: run inside the service when there is one, over a socket in the data folder; else on the file.
import { rmSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Config } from "../kernel/config/config.ts";
import { AppError, errorBody } from "../kernel/errors.ts";
import { openKernel } from "../kernel/kernel.ts";
import type { Kernel } from "../kernel/plugin.ts";
import { type App, createApp } from "./app.ts";

/** Every command, by the name it has on the socket. */
export type CommandHandlers = Readonly<Record<string, (args: Readonly<Record<string, string>>) => Promise<unknown>>>;

/** The app's commands for the socket. The log names each one; what it is given and what it answers may be secret. */
export function createCommandHandlers(
  { log }: Pick<Kernel, "log">,
  { commands }: Pick<App, "commands">,
): CommandHandlers {
  const withLogging =
    (name: string, run: CommandHandlers[string]): CommandHandlers[string] =>
    async (args) => {
      try {
        const result = await run(args);
        log.info("command", { name, operator: args.operator });
        return result;
      } catch (error) {
        if (!(error instanceof AppError)) log.error("command failed", { name, error });
        throw error;
      }
    };
  return Object.fromEntries(Object.entries(commands).map(([name, run]) => [name, withLogging(name, run)]));
}

const socketPath = ({ dataDir }: Pick<Config, "dataDir">) => join(dataDir, "berth.sock");

/** Bytes in the path of a socket, at most (sun_path of Linux, less its end). */
const MAX_PATH = 107;

/**
 * Answers commands from this machine's owner; the socket's mode keeps others out. A folder that can't have a socket is
 * no reason not to serve: then commands wait until the service is stopped.
 */
export async function listenOnControlSocket(
  { config, log }: Pick<Kernel, "config" | "log">,
  handlers: CommandHandlers,
): Promise<{ close(): Promise<void> }> {
  const unix = socketPath(config);
  try {
    if (Buffer.byteLength(unix) > MAX_PATH) throw new Error(`its path is longer than ${MAX_PATH} bytes`);
    if (await isListening(unix)) throw new Error("another service on this folder has it");
    return startSocketServer(unix, handlers);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.warn("no commands can be taken while the service runs: the socket in DATA_DIR can't be had", { why });
    return { close: async () => undefined };
  }
}

function startSocketServer(unix: string, handlers: CommandHandlers): { close(): Promise<void> } {
  // What a service that was killed has left.
  rmSync(unix, { force: true });
  const previousUmask = process.umask(0o177);
  try {
    const server = Bun.serve({ unix, fetch: (request) => handleRequest(handlers, request) });
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
    // Nobody is there.
    return false;
  }
}

async function handleRequest(handlers: CommandHandlers, request: Request): Promise<Response> {
  try {
    const { name, args } = await readCommand(request);
    return Response.json(await dispatch(handlers, name, args));
  } catch (error) {
    const { status, body } = errorBody(error);
    return Response.json(body, { status });
  }
}

async function readCommand(request: Request): Promise<{ name: string; args: Record<string, string> }> {
  const invalidCommand = new AppError(400, "INVALID_COMMAND", "This is not a command as Berth sends it.");
  const body: unknown = await request.json().catch(() => undefined);
  if (typeof body !== "object" || body === null || !("name" in body) || !("args" in body)) throw invalidCommand;
  const { name, args } = body;
  if (typeof name !== "string" || typeof args !== "object" || args === null) throw invalidCommand;
  return { name, args: Object.fromEntries(Object.entries(args).map(([key, value]) => [key, String(value)])) };
}

async function dispatch(handlers: CommandHandlers, name: string, args: Record<string, string>): Promise<unknown> {
  const command = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (!command) throw new AppError(404, "UNKNOWN_COMMAND", `The running service doesn't know the command "${name}".`);
  return command(args);
}

/**
 * Runs one command in the service if one runs on this data folder, else on the database itself; in the name of the
 * system's user.
 */
export async function runCommand(config: Config, name: string, args: Record<string, string>): Promise<unknown> {
  const argsWithOperator = { operator: operator(), ...args };
  const response = await sendToService(config, name, argsWithOperator);
  if (response) {
    const body = (await response.json()) as { error?: string; code?: string };
    if (!response.ok) throw new AppError(response.status, body.code ?? "FAILED", body.error ?? "The command failed.");
    return body;
  }
  const kernel = await openKernel(config);
  try {
    return await dispatch(createApp(kernel).commands, name, argsWithOperator);
  } finally {
    await kernel.close();
  }
}

/** Who runs this process; in a container the user may have no name. */
function operator(): string {
  try {
    const { username, uid } = userInfo();
    // What Bun says where the environment names nobody.
    return username === "unknown" ? `user ${uid}` : username;
  } catch {
    return `user ${process.getuid?.() ?? "?"}`;
  }
}

async function sendToService(
  config: Config,
  name: string,
  args: Record<string, string>,
): Promise<Response | undefined> {
  const body = JSON.stringify({ name, args });
  try {
    return await fetch("http://localhost/", { unix: socketPath(config), method: "POST", body });
  } catch {
    // Nobody listens there: the database is ours to open, and its lock refuses if that is wrong.
    return undefined;
  }
}
