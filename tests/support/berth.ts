// Starts the compiled binary (or the source, with BERTH_FROM_SOURCE=1) in a new folder with an empty environment.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { placeMigratedDatabase } from "./migrated.ts";
import { bun, type Child, launch, run, temporaryDir } from "./process.ts";

const root = resolve(import.meta.dir, "../..");

/** Free ports, so that several services can run on one machine; every other setting has Berth's own default. */
const defaults = { PORT: "0", BACKEND_PORT: "0", RTMP_PORT: "0", LOG_FORMAT: "json" };
/** Read by the runtime, not by Berth. Compiling code for the long run costs a service of a few seconds more than it saves. */
const shortLived = {
  BUN_OPTIONS: `--preload=${join(import.meta.dir, "cheap-passwords.mjs")}`,
  BUN_JSC_useDFGJIT: "0",
};

export interface BerthOptions {
  /** Added to `PORT=0`, `BACKEND_PORT=0`, `RTMP_PORT=0`, `LOG_FORMAT=json`; no other variable of Berth is set. */
  env?: Record<string, string>;
  /** The working folder, which is kept. Default: a new one with nothing but a database without rows, which is removed afterwards. */
  dir?: string;
  /** Whether passwords cost what they cost users, and code is compiled as it is for them; always with `binary`. */
  isAsShipped?: boolean;
  /** Whether a new folder is empty, so that the start makes the database. */
  isEmpty?: boolean;
  /** Default: `dist/berth`. */
  binary?: string;
  /** After `serve --ready-fd 3`. */
  args?: string[];
  /** How long the start may take, in milliseconds. Default: 20 s. */
  readyMs?: number;
}

/** A running service. Its addresses and pid change with `restart()`. */
export interface Berth extends AsyncDisposable {
  /** Origin of the web surface, without a trailing slash. */
  readonly web: string;
  /** Origin of the backend surface. */
  readonly backend: string;
  readonly dir: string;
  readonly env: Record<string, string>;
  readonly pid: number;
  readonly running: boolean;
  /** The output so far, over all restarts. */
  output(): { stdout: string; stderr: string };
  /** Sends the signal (default SIGTERM) and returns the exit code. After 30 s it sends SIGKILL and throws. */
  stop(signal?: NodeJS.Signals): Promise<number>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Stops the service if it runs, then starts it in the same folder with the same environment and `env`, from then on with `binary`. */
  restart(options?: { keepPorts?: boolean; env?: Record<string, string>; binary?: string }): Promise<void>;
  /** Runs a command (`berth user grant …`) beside the running service, in its folder and environment. */
  command(...args: string[]): Promise<Ran>;
  /** Sends the running service what a command sends it (`user.grant`), without the process of a command; undefined if none listens. */
  control(name: string, args: Record<string, string>): Promise<Response | undefined>;
}

/** The result of a command. */
export interface Ran {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Spares a start the migrations of all its cells in runs by `npm test`, whose binary has the migrations of the source. */
async function placeDatabases(dataDir: string, cells = 1): Promise<void> {
  if (!process.env.BERTH_TEST_TEMPLATES) return;
  await placeMigratedDatabase(dataDir);
  for (let cell = 1; cell < cells; cell++) await placeMigratedDatabase(join(dataDir, "cells", String(cell)));
}

/**
 * Starts Berth and waits for its ready line. Throws with the output when the start fails.
 *
 * @example
 * await using berth = await startBerth({ env: { PROVIDER_3_BASE_URL: upstream.url } });
 * const client = createClient(berth);
 */
export async function startBerth(options: BerthOptions = {}): Promise<Berth> {
  const temporary = options.dir === undefined ? temporaryDir() : undefined;
  const dir = options.dir ?? temporary?.path ?? "";
  let { binary } = options;
  const isShortLived = options.binary === undefined && !options.isAsShipped;
  let env: Record<string, string> = { ...defaults, ...(isShortLived && shortLived), ...options.env };
  const hasOwnPlace = options.binary ?? env.DATABASE_URL ?? env.DATA_DIR;
  if (temporary && !options.isEmpty && !hasOwnPlace) await placeDatabases(join(dir, "data"), Number(env.CELLS ?? 1));
  const earlier = { stdout: "", stderr: "" };
  let child: Child | undefined;
  let address = { web: "", backend: "" };

  const output = () => {
    const now = child?.output();
    return { stdout: earlier.stdout + (now?.stdout ?? ""), stderr: earlier.stderr + (now?.stderr ?? "") };
  };
  const start = async () => {
    Object.assign(earlier, output());
    const args = ["serve", "--ready-fd", "3", ...(options.args ?? [])];
    child = launch({ command: [...programOf(binary), ...args], env, dir, ready: "fd3" });
    try {
      address = addresses(await child.ready(options.readyMs));
    } catch (error) {
      await kill();
      throw error;
    }
  };
  const kill = async () => {
    child?.signal("SIGKILL");
    await child?.exited.catch(() => undefined);
  };
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    if (!child) throw new Error("The service was never started.");
    let late = false;
    const deadline = setTimeout(() => {
      late = true;
      child?.signal("SIGKILL");
    }, 30_000);
    child.signal(signal);
    const code = await child.exited.finally(() => clearTimeout(deadline));
    if (late) throw new Error(`The service did not stop within 30 s of ${signal}.\n${Bun.inspect(output())}`);
    return code;
  };

  try {
    await start();
  } catch (error) {
    temporary?.remove();
    throw error;
  }

  return {
    get web() {
      return address.web;
    },
    get backend() {
      return address.backend;
    },
    dir,
    get env() {
      return env;
    },
    get pid() {
      return child?.pid ?? 0;
    },
    get running() {
      return child?.running ?? false;
    },
    output,
    stop,
    kill,
    async restart({ keepPorts = false, env: more = {}, binary: next } = {}) {
      if (child?.running) await stop();
      binary = next ?? binary;
      // A process with one role has one address.
      const port = (name: string, url: string) => (url === "" ? {} : { [name]: new URL(url).port });
      const ports = keepPorts ? { ...port("PORT", address.web), ...port("BACKEND_PORT", address.backend) } : {};
      env = { ...env, ...ports, ...more };
      await start();
    },
    command: (...args) => runBerth(args, env, dir, binary),
    control(name, args) {
      const unix = join(resolve(dir, env.DATA_DIR ?? "data"), "berth.sock");
      const body = JSON.stringify({ name, args: { operator: "tests", ...args } });
      return fetch("http://localhost/", { unix, method: "POST", body }).catch(() => undefined);
    },
    async [Symbol.asyncDispose]() {
      await kill();
      temporary?.remove();
    },
  };
}

/** Runs one command of the binary to its end (at most 30 s), with `env` as the whole environment. */
export function runBerth(
  args: string[],
  env: Record<string, string> = {},
  dir: string = root,
  binary?: string,
): Promise<Ran> {
  return run([...programOf(binary), ...args], env, dir);
}

function programOf(binary: string | undefined): string[] {
  if (binary === undefined && Bun.env.BERTH_FROM_SOURCE === "1") return [bun, join(root, "src/server/main.ts")];
  if (binary?.endsWith(".ts")) return [bun, binary];
  const path = resolve(binary ?? join(root, "dist/berth"));
  if (!existsSync(path)) throw new Error(`${path} does not exist: run "npm run build", or set BERTH_FROM_SOURCE=1.`);
  return [path];
}

function addresses(line: string): { web: string; backend: string } {
  const parsed: unknown = JSON.parse(line);
  const field = (name: "web" | "backend") => {
    const value = parsed && typeof parsed === "object" && name in parsed ? Reflect.get(parsed, name) : undefined;
    return typeof value === "string" ? value.replace(/\/$/, "") : "";
  };
  const found = { web: field("web"), backend: field("backend") };
  if (!found.web && !found.backend) throw new Error(`The ready line names no address: ${line}`);
  return found;
}
