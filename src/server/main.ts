// The command line: parses arguments and runs the command from a table; `berth` without a command serves.
import { parseArgs } from "node:util";
import { version } from "../../package.json";

type Flags = Record<string, string | boolean | string[] | undefined>;

interface Command {
  usage: string;
  summary: string;
  run(commandArgs: string[], flags: Flags): Promise<number>;
}

const COMMANDS: Record<string, Command> = {
  serve: {
    usage: "serve [--plugin FILE]… [--ready-fd N]",
    summary: "serve the web and the backend API (the default)",
    run: async (_, flags) =>
      (await import("./commands/serve.ts")).serveCommand(listFlag(flags.plugin), parseDescriptor(flags["ready-fd"])),
  },
  demo: {
    usage: "demo",
    summary: "run the five-minute tour by itself, in a temporary folder",
    run: async () => (await import("./commands/demo.ts")).demoCommand(),
  },
  doctor: {
    usage: "doctor",
    summary: "show every setting in force, where it came from, and what is wrong",
    run: async () => (await import("./commands/doctor.ts")).doctorCommand(),
  },
  user: {
    usage: "user COMMAND …",
    summary:
      "accounts: create, grant, admin, list, disable, enable, reset-password, two-factor-off (berth user says how)",
    run: async (commandArgs, flags) => (await import("./commands/user.ts")).userCommand(commandArgs, flags),
  },
  vault: {
    usage: "vault rotate",
    summary: "seal every stored secret again under SECRET_KEY, so that SECRET_KEY_PREVIOUS can be removed",
    run: async (commandArgs) => (await import("./commands/vault.ts")).vaultCommand(commandArgs),
  },
  backup: {
    usage: "backup FILE",
    summary: "write a consistent copy of the database, also while the service runs",
    run: async ([file]) => (await import("./commands/backup.ts")).backupCommand(file),
  },
  restore: {
    usage: "restore FILE",
    summary: "put a backup in place of the database; the old one is kept beside it",
    run: async ([file]) => (await import("./commands/backup.ts")).restoreCommand(file),
  },
  migrate: {
    usage: "migrate",
    summary: "bring the database to this version and stop (serve does it too)",
    run: async () => (await import("./commands/migrate.ts")).migrateCommand(),
  },
  openapi: {
    usage: "openapi [web|backend]",
    summary: "print the API's OpenAPI 3.1 document",
    run: async ([side]) => (await import("./commands/openapi.ts")).openapiCommand(side),
  },
  health: {
    usage: "health",
    summary: "exit 0 when the service on this machine answers /healthz",
    run: async () => (await import("./commands/health.ts")).healthCommand(),
  },
};

function help(): string {
  const width = Math.max(...Object.values(COMMANDS).map(({ usage }) => usage.length));
  const lines = Object.values(COMMANDS).map(({ usage, summary }) => `  berth ${usage.padEnd(width)}  ${summary}`);
  return [`Berth ${version} · host thousands of AI agents from one binary`, "", ...lines, ""].join("\n");
}

const OPTIONS = {
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
  plugin: { type: "string", multiple: true },
  "ready-fd": { type: "string" },
  days: { type: "string" },
  name: { type: "string" },
  admin: { type: "boolean" },
  "password-stdin": { type: "boolean" },
  off: { type: "boolean" },
  query: { type: "string" },
  json: { type: "boolean" },
} as const;

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS });
  if (values.version || positionals[0] === "version") return print(version);
  if (values.help || positionals[0] === "help") return print(help());
  const [name = "serve", ...commandArgs] = positionals;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command) return command.run(commandArgs, values);
  throw new UsageError(`There is no command "${name}". Commands: ${Object.keys(COMMANDS).join(", ")}.`);
}

function print(text: string): number {
  process.stdout.write(`${text.trimEnd()}\n`);
  return 0;
}

const listFlag = (value: Flags[string]) => (Array.isArray(value) ? value : []);

function parseDescriptor(value: Flags[string]): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && /^\d{1,6}$/.test(value)) return Number(value);
  throw new UsageError(`--ready-fd takes the number of an open descriptor, not "${value}".`);
}

/** The arguments are not valid: exit code 2. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Describes an expected error in one line, and any other, which is a bug, with its stack. */
function describeError(error: unknown): { text: string; code: number } {
  if (!(error instanceof Error)) return { text: String(error), code: 1 };
  const line = error.message.replace(/\s*\n\s*/g, " ");
  const code = "code" in error ? String(error.code) : "";
  if (code.startsWith("ERR_PARSE_ARGS")) return { text: `${line.split(". ")[0]}. See: berth help`, code: 2 };
  if (error instanceof UsageError) return { text: line, code: 2 };
  const isExpected = ["StartError", "ConfigError", "AppError"].includes(error.name) || /^E[A-Z0-9]+$/.test(code);
  return { text: isExpected ? line : (error.stack ?? String(error)), code: 1 };
}

// A reader such as `head` may close the pipe early. That is no failure, and must not end a server.
process.stdout.on("error", (error: Error & { code?: string }) => {
  if (error.code !== "EPIPE") throw error;
});

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
    // A server (code -1) keeps running; any other command exits once its output is read, whatever timers are left.
    if (code >= 0) process.stdout.end(() => process.exit(code));
  },
  (error: unknown) => {
    const { text, code } = describeError(error);
    process.stderr.write(`berth: ${text}\n`);
    process.exit(code);
  },
);
