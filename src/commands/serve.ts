// `berth serve`: lifts the limit of outgoing requests, serves, tells people what to do next, and stops on a signal.
import { environment } from "../config.ts";
import { type Running, serve } from "../serve.ts";

/** Bun caps outgoing requests at 256 unless the real environment says otherwise before the process starts. */
const OUTGOING = "BUN_CONFIG_MAX_HTTP_REQUESTS";
const OUTGOING_LIMIT = "65336";

/** Returns -1: the process goes on until a signal. */
export async function serveCommand(plugins: string[], readyFd: number | undefined): Promise<number> {
  const env = environment();
  if (env[OUTGOING] === undefined) reexecute(env);
  const running = await serve({ env, plugins, readyFd });
  process.stdout.write(`${greeting(running)}\n`);

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
  return -1;
}

/** The same process again, same pid, with the limit lifted. Compiled, the first argument is the binary's inner path. */
function reexecute(env: Record<string, string | undefined>): void {
  const compiled = process.argv[1]?.startsWith("/$bunfs/") ?? false;
  const args = [process.execPath, ...process.argv.slice(compiled ? 2 : 1)];
  process.execve?.(process.execPath, args, { ...env, [OUTGOING]: OUTGOING_LIMIT });
}

function greeting({ addresses, firstAdminLink, config }: Running): string {
  const lines = ["", "  Berth is ready."];
  const row = (label: string, text: string) => lines.push(`  ${label.padEnd(14)}${text}`);
  if (addresses.web) row("Web API", `${addresses.web}   (docs: ${addresses.web}/swagger)`);
  if (addresses.backend) row("Backend API", `${addresses.backend}   (docs: ${addresses.backend}/swagger)`);
  row("Data", config.dataDir);
  if (firstAdminLink)
    row("First admin", `${firstAdminLink}\n${" ".repeat(16)}opens once, makes the first admin account`);
  row("Try it", "berth demo   (the five-minute tour by itself)");
  return `${lines.join("\n")}\n`;
}
