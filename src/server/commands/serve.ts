// `berth serve`: lifts the limit of outgoing requests, serves, tells people what to do next, and stops on a signal.
import { writeSync } from "node:fs";
import { type Environment, environment } from "../../kernel/config/config.ts";
import type { RunningServer } from "../serve.ts";

/** Bun caps outgoing requests at 256 unless the real environment says otherwise before the process starts. */
const MAX_REQUESTS_VARIABLE = "BUN_CONFIG_MAX_HTTP_REQUESTS";
const MAX_REQUESTS_VALUE = "65336";

/** Returns -1: the process goes on until a signal. */
export async function serveCommand(plugins: string[], readyFd: number | undefined): Promise<number> {
  const env = environment();
  if (env[MAX_REQUESTS_VARIABLE] === undefined) await reexecute(env, readyFd);
  // Loaded here, by the process that stays; and before the loop's first turn, for after it Bun keeps the pages in memory.
  const { serve } = await import("../serve.ts");
  const running = await serve({ env, plugins });

  const stop = (signal: string) => {
    process.stdout.write(
      `${signal}: finishing what is in flight (at most ${running.config.shutdownGraceMs / 1000} s)…\n`,
    );
    running.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`berth: ${error instanceof Error ? error.message : String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.once("SIGTERM", () => stop("SIGTERM"));
  process.once("SIGINT", () => stop("SIGINT"));
  if (readyFd !== undefined) writeSync(readyFd, `${JSON.stringify(running.addresses)}\n`);
  process.stdout.write(`\n  Berth is ready: ${formatAddresses(running)}\n`);
  process.stdout.write(`${await nextSteps(running)}\n\n`);
  return -1;
}

/**
 * The same process again, same pid, with the limit lifted; about 5 ms. Compiled, the first argument is the binary's inner
 * path. Only the standard descriptors survive, so the ready line goes out through the one that a server has no use for.
 */
async function reexecute(env: Environment, readyFd: number | undefined): Promise<void> {
  if (readyFd !== undefined && readyFd > 2 && !(await moveToStandardInput(readyFd))) return;
  const compiled = process.argv[1]?.startsWith("/$bunfs/") ?? false;
  const args = process.argv.slice(compiled ? 2 : 1);
  const readyFdArgs = readyFd !== undefined && readyFd > 2 ? ["--ready-fd", "0"] : [];
  const command = [
    process.execPath,
    ...args,
    ...(args.length === 0 && readyFdArgs.length > 0 ? ["serve"] : []),
    ...readyFdArgs,
  ];
  process.execve?.(process.execPath, command, { ...env, [MAX_REQUESTS_VARIABLE]: MAX_REQUESTS_VALUE });
}

const C_LIBRARIES = ["libc.so.6", "libc.so", "libSystem.B.dylib"];

/** False where no C library is found by name; then the limit stays. */
async function moveToStandardInput(descriptor: number): Promise<boolean> {
  const { dlopen } = await import("bun:ffi");
  for (const name of C_LIBRARIES) {
    try {
      const { symbols } = dlopen(name, { dup2: { args: ["i32", "i32"], returns: "i32" } });
      return symbols.dup2(descriptor, 0) === 0;
    } catch {
      // Another system's name: the next one.
    }
  }
  return false;
}

const formatAddresses = ({ addresses: { web, backend } }: RunningServer) =>
  [web && `web API ${web}`, backend && `backend API ${backend}`].filter(Boolean).join(", ");

/** What a newcomer wants to know next. */
async function nextSteps({ addresses, config, firstAdminLink, defaultModel }: RunningServer): Promise<string> {
  const docs = [addresses.web, addresses.backend].filter(Boolean).map((origin) => `${origin}/swagger`);
  const model = await defaultModel();
  const hint = "for a real one start with a key, such as PROVIDER_5_API_KEY=sk-… (berth doctor lists all)";
  const rows = [
    ["Docs", docs.join("   ")],
    ["Model", model.label, ...(model.demo ? [hint] : [])],
    ["Data", config.dataDir],
    ...(firstAdminLink ? [["First admin", firstAdminLink, "opens once, makes the first admin account"]] : []),
    ["Try it", "berth demo   (the five-minute tour by itself)"],
  ];
  return rows.map(([label = "", ...lines]) => `  ${label.padEnd(14)}${lines.join(`\n${" ".repeat(16)}`)}`).join("\n");
}
