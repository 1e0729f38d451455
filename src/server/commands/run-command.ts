// Runs one command in the service over its control socket or, when no service runs, on the database.
import { userInfo } from "node:os";
import { clusterSettings } from "../../cluster/settings.ts";
import type { Config } from "../../kernel/config/config.ts";
import { AppError, StartError } from "../../kernel/errors.ts";
import { openKernel } from "../../kernel/kernel.ts";
import { createApp } from "../app.ts";
import { dispatch, socketPath } from "../control-socket.ts";

/**
 * Runs a command in the service that runs on this data folder, or without one on the database itself. The operator in the
 * audit log is the user of the system.
 */
export async function runCommand(config: Config, name: string, args: Record<string, string>): Promise<unknown> {
  const argsWithOperator = { operator: operator(), ...args };
  const answer = await askService(config, name, argsWithOperator);
  if (answer !== undefined) return answer;
  if (config.of(clusterSettings).cells > 1)
    throw new StartError("With CELLS, commands go through the running service, which knows all cells. Start it first.");
  const kernel = await openKernel(config);
  try {
    return await dispatch(createApp(kernel).commands, name, argsWithOperator);
  } finally {
    await kernel.close();
  }
}

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

async function sendToService(
  config: Config,
  name: string,
  args: Record<string, string>,
): Promise<Response | undefined> {
  const body = JSON.stringify({ name, args });
  try {
    return await fetch("http://localhost/", { unix: socketPath(config), method: "POST", body });
  } catch {
    // No service listens. If one runs nevertheless, the lock of the database refuses to open it.
    return undefined;
  }
}
