// Commands that change data: run inside the service when there is one, over a socket in the data folder; else on the file.
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PLANS, type Plan } from "../plugins/auth/index.ts";
import { type App, createApp } from "./app.ts";
import type { Config } from "./config.ts";
import { AppError, errorBody } from "./errors.ts";
import { openKernel } from "./kernel.ts";
import type { Kernel } from "./plugin.ts";

type Command = (args: Record<string, string>) => Promise<unknown>;
export type Control = Record<string, Command>;

/** Every command, by the name it has on the socket. */
export function createControl({ log }: Kernel, { accounts }: App): Control {
  return {
    async "user.grant"({ email = "", plan = "", days = "30" }) {
      if (!isPlan(plan)) throw new AppError(400, "UNKNOWN_PLAN", `Unknown plan "${plan}". Plans: ${PLANS.join(", ")}.`);
      const count = Number(days);
      if (!Number.isInteger(count) || count < 1 || count > 36_500) {
        throw new AppError(400, "INVALID_DAYS", `--days takes a whole number from 1 to 36500, not "${days}".`);
      }
      const granted = await accounts.grant(email, plan, count);
      log.info("plan granted", { user: granted.email, plan, days: count });
      return { ...granted, currentPeriodEnd: new Date(granted.currentPeriodEnd).toISOString() };
    },
  };
}

const isPlan = (text: string): text is Plan => (PLANS as readonly string[]).includes(text);

const socketPath = (config: Config) => join(config.dataDir, "berth.sock");

/** Answers commands from this machine's owner. The socket's mode keeps others out. */
export async function listenForCommands(config: Config, control: Control): Promise<{ close(): Promise<void> }> {
  const unix = socketPath(config);
  rmSync(unix, { force: true });
  const server = Bun.serve({
    unix,
    async fetch(request) {
      const { name, args } = (await request.json()) as { name: string; args: Record<string, string> };
      try {
        return Response.json(await dispatch(control, name, args));
      } catch (error) {
        const { status, body } = errorBody(error);
        return Response.json(body, { status });
      }
    },
  });
  chmodSync(unix, 0o600);
  return {
    async close() {
      await server.stop(true);
      rmSync(unix, { force: true });
    },
  };
}

function dispatch(control: Control, name: string, args: Record<string, string>): Promise<unknown> {
  const command = control[name];
  if (!command) throw new AppError(404, "UNKNOWN_COMMAND", `The running service doesn't know the command "${name}".`);
  return command(args);
}

/** Runs one command in the service if one runs on this data folder, else on the database itself. */
export async function runCommand(config: Config, name: string, args: Record<string, string>): Promise<unknown> {
  const answer = await askService(config, name, args);
  if (answer) {
    const body = (await answer.json()) as { error?: string; code?: string };
    if (!answer.ok) throw new AppError(answer.status, body.code ?? "FAILED", body.error ?? "The command failed.");
    return body;
  }
  const kernel = await openKernel(config);
  try {
    return await dispatch(createControl(kernel, createApp(kernel)), name, args);
  } finally {
    await kernel.close();
  }
}

async function askService(config: Config, name: string, args: Record<string, string>): Promise<Response | undefined> {
  const body = JSON.stringify({ name, args });
  try {
    return await fetch("http://localhost/", { unix: socketPath(config), method: "POST", body });
  } catch {
    // Nobody listens there: the database is ours to open, and its lock refuses if that is wrong.
    return undefined;
  }
}
