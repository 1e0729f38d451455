// The command line: parses arguments and runs the command from a table; `berth` without a command serves.
import { parseArgs } from "node:util";
import { version } from "../../package.json";
import { programName } from "../kernel/config/program-name.ts";
import { redactForms } from "../kernel/telemetry/redact.ts";
import { type Command, FLAG_HELP, type Flags, OPTIONS, UsageError } from "./commands/options.ts";

const USER_FLAGS = ["days", "name", "admin", "password-stdin", "off", "query", "json", "reason"] as const;

const COMMANDS: Record<string, Command> = {
  serve: {
    usage: "serve [--plugin FILE]… [--ready-fd N]",
    summary: "serve the web and the backend API (the default)",
    flags: ["plugin", "ready-fd"],
    arguments: 0,
    run: async (_, flags) =>
      (await import("./commands/serve.ts")).serveCommand(listFlag(flags.plugin), parseDescriptor(flags["ready-fd"])),
  },
  demo: {
    usage: "demo",
    summary: "run the five-minute tour by itself, in a temporary folder",
    arguments: 0,
    run: async () => (await import("./commands/demo.ts")).demoCommand(),
  },
  doctor: {
    usage: "doctor [--all] [--online] [--plugin FILE]…",
    summary: "show the settings that are set, where they come from, and what is wrong",
    flags: ["all", "online", "plugin"],
    arguments: 0,
    run: async (_, flags) =>
      (await import("./commands/doctor.ts")).doctorCommand(
        { all: flags.all === true, online: flags.online === true },
        listFlag(flags.plugin),
      ),
  },
  top: {
    usage: "top [--once] [--json]",
    summary: "show the running service live: turns, what waits, providers, channels, errors, memory",
    flags: ["once", "json"],
    arguments: 0,
    run: async (_, flags) =>
      (await import("./commands/top/top.ts")).topCommand({ once: flags.once === true, json: flags.json === true }),
  },
  user: {
    usage: "user COMMAND …",
    summary:
      "accounts: create, invite, grant, admin, list, disable, enable, freeze, unfreeze, reset-password, two-factor-off",
    flags: USER_FLAGS,
    // Each subcommand checks its own arguments.
    arguments: Number.POSITIVE_INFINITY,
    details: async () => (await import("./commands/user.ts")).userHelp(),
    run: async (commandArgs, flags) => (await import("./commands/user.ts")).userCommand(commandArgs, flags),
  },
  agent: {
    usage: "agent freeze|unfreeze ID",
    summary: "freeze an agent of any account, and let it go on",
    flags: ["reason"],
    // Each subcommand checks its own arguments.
    arguments: Number.POSITIVE_INFINITY,
    details: async () => (await import("./commands/agent.ts")).agentHelp(),
    run: async (commandArgs, flags) =>
      (await import("./commands/agent.ts")).agentCommand(commandArgs, textFlag(flags.reason)),
  },
  vault: {
    usage: "vault rotate",
    summary: "seal every stored secret again under SECRET_KEY, so that SECRET_KEY_PREVIOUS can be removed",
    arguments: 1,
    run: async (commandArgs) => (await import("./commands/security/vault.ts")).vaultCommand(commandArgs),
  },
  audit: {
    usage: "audit verify [--head N:HASH]",
    summary: "check that the audit log is as it was written, and say where it is not",
    flags: ["head"],
    arguments: 1,
    run: async (commandArgs, flags) =>
      (await import("./commands/security/audit.ts")).auditCommand(commandArgs, flags.head),
  },
  ledger: {
    usage: "ledger check [--json]",
    summary: "prove that payments, credits and usage agree, also while the service runs",
    flags: ["json"],
    arguments: 2,
    run: async (commandArgs, flags) =>
      (await import("./commands/money/ledger.ts")).ledgerCommand(commandArgs, flags.json === true),
  },
  prune: {
    usage: "prune [KIND…] [--dry-run] [--older-than AGE] [--compact] [--json]",
    summary: "show what is older than its time, such as messages, logs and events, and delete it; all kinds, or these",
    flags: ["dry-run", "older-than", "compact", "json"],
    flagHelp: { "dry-run": "  --dry-run       only show how much there is, how old, and how large" },
    arguments: Number.POSITIVE_INFINITY,
    run: async (kinds, flags) =>
      (await import("./commands/keeping/prune.ts")).pruneCommand(kinds, {
        dryRun: flags["dry-run"] === true,
        compact: flags.compact === true,
        olderThan: textFlag(flags["older-than"]),
        asJson: flags.json === true,
      }),
  },
  person: {
    usage: "person COMMAND …",
    summary: "a person's data: export, erase (with a receipt), verify, reapply",
    flags: ["channel", "id", "account", "out", "yes"],
    arguments: 2,
    details: async () => (await import("./commands/keeping/person.ts")).personHelp(),
    run: async (commandArgs, flags) =>
      (await import("./commands/keeping/person.ts")).personCommand(commandArgs, {
        channel: textFlag(flags.channel),
        id: textFlag(flags.id),
        account: textFlag(flags.account),
        out: textFlag(flags.out),
        yes: flags.yes === true,
      }),
  },
  backup: {
    usage: "backup [FILE]",
    summary: "back up the service while it runs: to BACKUP_TO, or to FILE.tar.gz; FILE.db is the database alone",
    flags: ["name", "follow"],
    // The service gives them.
    flagHelp: { name: "", follow: "" },
    arguments: 1,
    run: async ([file], flags) =>
      flags.follow === true
        ? (await import("./commands/backup.ts")).followCommand()
        : (await import("./commands/backup.ts")).backupCommand(file, textFlag(flags.name)),
  },
  backups: {
    usage: "backups [--json]",
    summary: "list the backups in BACKUP_TO with size, age, and how they were checked",
    flags: ["json"],
    arguments: 0,
    run: async (_, flags) => (await import("./commands/backup.ts")).backupsCommand(flags.json === true),
  },
  restore: {
    usage: "restore BACKUP [--at TIME] [--identity FILE]",
    summary:
      "put a backup in place: a file, s3://…, a name of berth backups, or latest; what was there is kept beside it",
    flags: ["at", "identity"],
    arguments: 1,
    run: async ([source], flags) =>
      (await import("./commands/backup.ts")).restoreCommand(source, textFlag(flags.at), textFlag(flags.identity)),
  },
  import: {
    usage: "import FOLDER|FILE [--owner EMAIL]",
    summary: "make an agent of an OpenClaw workspace, an elizaOS character, a character card, or an export",
    flags: ["owner", "dry-run", "again", "json"],
    arguments: 1,
    run: async ([path], flags) => (await import("./commands/import.ts")).importCommand(path, flags),
  },
  cells: {
    usage: "cells [--json]",
    summary: "the parts into which CELLS divides the service on this machine",
    flags: ["json", "plugin"],
    // For the processes that the service starts.
    flagHelp: { plugin: "" },
    arguments: 3,
    run: async (commandArgs, flags) =>
      (await import("./commands/cells.ts")).cellsCommand(commandArgs, listFlag(flags.plugin), flags.json === true),
  },
  cluster: {
    usage: "cluster COMMAND …",
    summary: "several machines as one service: status, cells, join, leave, check, drain, undrain, forget, move",
    flags: ["json", "replace"],
    // Each subcommand checks its own arguments.
    arguments: Number.POSITIVE_INFINITY,
    details: async () => (await import("./commands/cluster.ts")).clusterHelp(),
    run: async (commandArgs, flags) => (await import("./commands/cluster.ts")).clusterCommand(commandArgs, flags),
  },
  upgrade: {
    usage: "upgrade FILE|URL [--key FILE] [--unsigned] | upgrade --back [--with-database]",
    summary: "check a new version, put it in place and hand the running service over to it; or go back",
    flags: ["key", "unsigned", "back", "with-database"],
    flagHelp: { key: "  --key FILE      the public key of whoever signed it; else the project's" },
    arguments: 1,
    run: async ([source], flags) =>
      (await import("./commands/upgrade/upgrade.ts")).upgradeCommand({
        source,
        keyFile: textFlag(flags.key),
        isUnsigned: flags.unsigned === true,
        isBack: flags.back === true,
        withDatabase: flags["with-database"] === true,
      }),
  },
  restart: {
    usage: "restart",
    summary: "restart the running service in its process; no request is refused meanwhile",
    arguments: 0,
    run: async () => (await import("./commands/upgrade/restart.ts")).restartCommand(),
  },
  migrate: {
    usage: "migrate [--dry-run] [--plugin FILE]…",
    summary: "bring the database to this version and stop (serve does it too)",
    flags: ["dry-run", "plugin"],
    flagHelp: {
      "dry-run": "  --dry-run       try it on a copy, with the settings and plugins, also while the service runs",
    },
    arguments: 0,
    run: async (_, flags) =>
      (await import("./commands/migrate.ts")).migrateCommand({
        plugins: listFlag(flags.plugin),
        isDry: flags["dry-run"] === true,
      }),
  },
  openapi: {
    usage: "openapi [web|backend]",
    summary: "print the API's OpenAPI 3.1 document",
    arguments: 1,
    run: async ([side]) => (await import("./commands/openapi.ts")).openapiCommand(side),
  },
  health: {
    usage: "health",
    summary: "exit 0 when the service on this machine answers /healthz",
    arguments: 0,
    run: async () => (await import("./commands/health.ts")).healthCommand(),
  },
};

/** All commands. Those for a service elsewhere are loaded only when one of them, or the help, is asked for. */
const allCommands = async (): Promise<Record<string, Command>> => ({
  ...COMMANDS,
  ...(await import("./commands/remote/table.ts")).REMOTE_COMMANDS,
});

async function overview(): Promise<string> {
  const program = programName();
  const commands = Object.values(await allCommands());
  const width = Math.max(...commands.map(({ usage }) => usage.length));
  const lines = commands.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`);
  return [
    `Berth ${version} · host thousands of AI agents from one binary`,
    "",
    `Usage: ${program} COMMAND`,
    "",
    ...lines,
    "",
    `${program} COMMAND --help says more about one of them. A running service has all guides at /docs, and its API at /swagger.`,
  ].join("\n");
}

async function commandHelp({ usage, summary, flags = [], flagHelp = {}, details }: Command): Promise<string> {
  const options = flags.map((flag) => flagHelp[flag] ?? FLAG_HELP[flag] ?? "").filter(Boolean);
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const sections = [`Usage: ${programName()} ${usage}`, sentence, options.join("\n"), await details?.()];
  return sections.filter(Boolean).join("\n\n");
}

async function main(args: string[]): Promise<number> {
  // The parser takes a negative number for another option, and so the command could not say what it wants.
  const joined = / -\d/.test(args.join(" "))
    ? (await import("./commands/arguments/negative-numbers.ts")).joinNegative(args)
    : args;
  const { values, positionals } = parseArgs({ args: joined, allowPositionals: true, options: OPTIONS });
  if (values.version || positionals[0] === "version") return print(version);
  const [name, ...commandArgs] = positionals[0] === "help" ? positionals.slice(1) : positionals;
  const isHelp = values.help || positionals[0] === "help";
  if (isHelp && name === undefined) return print(await overview());
  const command = await findCommand(name ?? "serve");
  if (isHelp) return print(await commandHelp(command));
  requireKnownArguments(name ?? "serve", command, commandArgs, values);
  return command.run(commandArgs, values);
}

async function findCommand(name: string): Promise<Command> {
  const commands = Object.hasOwn(COMMANDS, name) ? COMMANDS : await allCommands();
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command) return command;
  throw new UsageError(
    `There is no command "${name}". Commands: ${Object.keys(commands).join(", ")}. See: ${programName()} help`,
  );
}

/** Refuses what the command would ignore. */
function requireKnownArguments(name: string, command: Command, commandArgs: string[], flags: Flags): void {
  const known: readonly string[] = command.flags ?? [];
  const flag = Object.keys(flags).find((given) => !known.includes(given));
  const see = `See: ${programName()} ${name} --help`;
  if (flag !== undefined) throw new UsageError(`${name} takes no --${flag}. ${see}`);
  const extra = commandArgs[command.arguments];
  if (extra !== undefined) throw new UsageError(`${name} has no use for "${extra}". ${see}`);
}

function print(text: string): number {
  process.stdout.write(`${text.trimEnd()}\n`);
  return 0;
}

const textFlag = (value: Flags[string]) => (typeof value === "string" ? value : undefined);
const listFlag = (value: Flags[string]) => (Array.isArray(value) ? value : []);

function parseDescriptor(value: Flags[string]): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && /^\d{1,6}$/.test(value)) return Number(value);
  throw new UsageError(`--ready-fd takes the number of an open descriptor, not "${value}".`);
}

/** How the parser begins when an option has no value, or one that begins with a dash. */
const MISSING_VALUE = /^Option '(?:-\w, )?(--[\w-]+)(?: <value>)?' argument (?:is ambiguous|missing)/;

/** Describes an expected error in one line (the settings: a line each), and any other, which is a bug, with its stack. */
function describeError(error: unknown): { lines: string[]; code: number } {
  if (!(error instanceof Error)) return { lines: [String(error)], code: 1 };
  const line = error.message.replace(/\s*\n\s*/g, " ");
  const code = "code" in error ? String(error.code) : "";
  if (code.startsWith("ERR_PARSE_ARGS")) {
    const [, option] = MISSING_VALUE.exec(line) ?? [];
    const says = option === undefined ? line.split(". ")[0] : `${option} needs a value`;
    return { lines: [`${says}. See: ${programName()} help`], code: 2 };
  }
  if (error instanceof UsageError) return { lines: [line], code: 2 };
  if (isDiskFull(error))
    return { lines: ["The disk is full. Free some space for the data folder, then try again."], code: 1 };
  if (error.name === "ConfigError") return { lines: error.message.split("\n"), code: 1 };
  const isExpected = ["StartError", "AppError"].includes(error.name) || /^E[A-Z0-9]+$/.test(code);
  return { lines: [isExpected ? line : (error.stack ?? String(error))], code: 1 };
}

/** Whether the error or one of its causes is that of a full disk: the system's, or SQLite's. */
function isDiskFull(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const codes = [Reflect.get(at, "code"), Reflect.get(at, "extendedCode")];
    if (codes.some((code) => code === "ENOSPC" || code === "SQLITE_FULL")) return true;
  }
  return false;
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
    const { lines, code } = describeError(error);
    // An address or an answer that the error quotes may hold a secret.
    process.stderr.write(redactForms(lines.map((line) => `berth: ${line}\n`).join("")));
    process.exit(code);
  },
);
