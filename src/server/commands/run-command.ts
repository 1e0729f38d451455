// Runs one command in the service over its control socket or, when no service runs, on the database.
import { userInfo } from "node:os";
import { clusterSettings } from "../../cluster/settings.ts";
import type { Config } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { DatabaseInUse } from "../../kernel/database/errors.ts";
import { AppError, StartError } from "../../kernel/errors.ts";
import { openKernel, type RunningKernel } from "../../kernel/kernel.ts";
import { type App, createApp } from "../app.ts";
import { requireDatabase } from "../cells/existing-database.ts";
import { dispatch, socketPath } from "../control-socket.ts";

const STARTING_MS = 2_000;
const ASK_AGAIN_MS = 50;

/** A service may begin with them; all others need its database. */
const BEGINNINGS = new Set(["user.create", "user.invite"]);

/**
 * Runs a command in the service that runs on this data folder, or without one on the database itself. The operator in the
 * audit log is the user of the system.
 */
export const runCommand = (config: Config, name: string, args: Record<string, string>): Promise<unknown> =>
  withCommands(config, (send) => send(name, args));

/** Sends one command. */
export type SendCommand = (name: string, args: Record<string, string>) => Promise<unknown>;

/** Does work that consists of several commands. Without a service, the database stays open until the work is done. */
export async function withCommands<Result>(
  config: Config,
  work: (send: SendCommand) => Promise<Result>,
): Promise<Result> {
  const who = operator();
  let kernel: RunningKernel | undefined;
  let commands: App["commands"] | undefined;
  try {
    return await work(async (name, args) => {
      const argsWithOperator = { operator: who, ...args };
      const answer = commands ? undefined : await askService(config, name, argsWithOperator);
      if (answer !== undefined) return answer;
      if (!BEGINNINGS.has(name)) requireDatabase(config);
      if (config.of(clusterSettings).cells > 1)
        throw new StartError(
          "With CELLS, commands go through the running service, which knows all cells. Start it first.",
        );
      try {
        kernel ??= await openKernel(config);
      } catch (error) {
        const late =
          error instanceof DatabaseInUse ? await askStartingService(config, name, argsWithOperator) : undefined;
        if (late === undefined) throw error;
        return late;
      }
      commands ??= commandsOf(kernel);
      if (!Object.hasOwn(commands, name)) throw noServiceError(config);
      return dispatch(commands, name, argsWithOperator);
    });
  } finally {
    await kernel?.close();
  }
}

function commandsOf(kernel: RunningKernel): App["commands"] {
  const app = createApp(kernel);
  app.people.registerListStorage(async () =>
    (await import("../backups/erasure-lists.ts")).storeErasuresBesideBackups(kernel.config, 0),
  );
  return app.commands;
}

/** For what only a running service knows. */
export const noServiceError = ({ dataDir }: Pick<Config, "dataDir">) =>
  new StartError(
    `No service runs on ${dataDir}, and only a running one knows this. Start it first: ${programName()} serve`,
  );

/** Returns the name of this process's user; in a container, the user may have only a number. */
export function operator(): string {
  try {
    const { username, uid } = userInfo();
    // Bun returns "unknown" if the environment names no user.
    return username === "unknown" ? `user ${uid}` : username;
  } catch {
    return `user ${process.getuid?.() ?? "?"}`;
  }
}

/** Runs a command in the service; undefined if no service listens. Throws the error with which it ends. */
export async function askService(config: Config, name: string, args: Record<string, string> = {}): Promise<unknown> {
  const response = await sendToService(config, name, args);
  if (!response) return undefined;
  const body = (await response.json()) as { error?: string; code?: string };
  if (!response.ok) throw new AppError(response.status, body.code ?? "FAILED", body.error ?? "The command failed.");
  return body;
}

/** A service that starts or ends has the database for some moments in which it takes no commands: asks until it does, or 2 s are over. */
export async function askStartingService(
  config: Config,
  name: string,
  args: Record<string, string> = {},
): Promise<unknown> {
  for (const end = performance.now() + STARTING_MS; performance.now() < end; await Bun.sleep(ASK_AGAIN_MS)) {
    const answer = await askService(config, name, args);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

async function sendToService(
  config: Config,
  name: string,
  args: Record<string, string>,
): Promise<Response | undefined> {
  const body = JSON.stringify({ name, args });
  try {
    // A command may take minutes, as a backup does: without this, Bun gives up after five.
    const asked = { unix: socketPath(config), method: "POST", body, timeout: false };
    return await fetch("http://localhost/", asked as BunFetchRequestInit);
  } catch (error) {
    if (error instanceof Error && "code" in error && BROKEN.has(String(error.code))) throw brokenCommand(error);
    // No service listens. If one runs nevertheless, the lock of the database refuses to open it.
    return undefined;
  }
}

/** Of a connection that there was. */
const BROKEN = new Set(["ECONNRESET", "EPIPE", "ConnectionClosed"]);

const brokenCommand = (cause: unknown) =>
  new AppError(
    502,
    "RELAY_BROKEN",
    "The service ended while it ran this command. Whether it was done is not known: look, then run it again.",
    {},
    { cause },
  );
