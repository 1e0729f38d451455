// The table of the commands for the service on this machine. Each imports what it runs, so that a start reads no other command.
import { type Command, type Flags, UsageError } from "./options.ts";

const USER_FLAGS = ["days", "name", "admin", "password-stdin", "off", "query", "json", "reason"] as const;

export const COMMANDS: Record<string, Command> = {
  serve: {
    usage: "serve [--plugin FILE]… [--ready-fd N]",
    summary: "serve the web and the backend API (the default)",
    flags: ["plugin", "ready-fd"],
    arguments: 0,
    run: async (_, flags) =>
      (await import("./serve.ts")).serveCommand(listFlag(flags.plugin), parseDescriptor(flags["ready-fd"])),
  },
  demo: {
    usage: "demo",
    summary: "run the five-minute tour by itself, in a temporary folder",
    arguments: 0,
    run: async () => (await import("./demo.ts")).demoCommand(),
  },
  doctor: {
    usage: "doctor [--all] [--online] [--plugin FILE]…",
    summary: "show the settings that are set, where they come from, and what is wrong",
    flags: ["all", "online", "plugin"],
    arguments: 0,
    run: async (_, flags) =>
      (await import("./doctor.ts")).doctorCommand(
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
      (await import("./top/top.ts")).topCommand({ once: flags.once === true, json: flags.json === true }),
  },
  user: {
    usage: "user COMMAND …",
    summary:
      "accounts: create, invite, grant, admin, list, disable, enable, freeze, unfreeze, reset-password, two-factor-off",
    flags: USER_FLAGS,
    // Each subcommand checks its own arguments.
    arguments: Number.POSITIVE_INFINITY,
    details: async () => (await import("./user.ts")).userHelp(),
    run: async (commandArgs, flags) => (await import("./user.ts")).userCommand(commandArgs, flags),
  },
  agent: {
    usage: "agent freeze|unfreeze ID",
    summary: "freeze an agent of any account, and let it go on",
    flags: ["reason"],
    // Each subcommand checks its own arguments.
    arguments: Number.POSITIVE_INFINITY,
    details: async () => (await import("./security/agent.ts")).agentHelp(),
    run: async (commandArgs, flags) =>
      (await import("./security/agent.ts")).agentCommand(commandArgs, textFlag(flags.reason)),
  },
  vault: {
    usage: "vault rotate",
    summary: "seal every stored secret again under SECRET_KEY, so that SECRET_KEY_PREVIOUS can be removed",
    arguments: 1,
    run: async (commandArgs) => (await import("./security/vault.ts")).vaultCommand(commandArgs),
  },
  audit: {
    usage: "audit verify [--head N:HASH]",
    summary: "check that the audit log is as it was written, and say where it is not",
    flags: ["head"],
    arguments: 1,
    run: async (commandArgs, flags) => (await import("./security/audit.ts")).auditCommand(commandArgs, flags.head),
  },
  ledger: {
    usage: "ledger check [--json]",
    summary: "prove that payments, credits and usage agree, also while the service runs",
    flags: ["json"],
    arguments: 2,
    run: async (commandArgs, flags) =>
      (await import("./money/ledger.ts")).ledgerCommand(commandArgs, flags.json === true),
  },
  prune: {
    usage: "prune [KIND…] [--dry-run] [--older-than AGE] [--compact] [--json]",
    summary: "show what is older than its time, such as messages, logs and events, and delete it; all kinds, or these",
    flags: ["dry-run", "older-than", "compact", "json"],
    flagHelp: { "dry-run": "  --dry-run       only show how much there is, how old, and how large" },
    arguments: Number.POSITIVE_INFINITY,
    run: async (kinds, flags) =>
      (await import("./keeping/prune.ts")).pruneCommand(kinds, {
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
    details: async () => (await import("./keeping/person.ts")).personHelp(),
    run: async (commandArgs, flags) =>
      (await import("./keeping/person.ts")).personCommand(commandArgs, {
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
    flags: ["name", "for-copy", "follow"],
    // The service gives them.
    flagHelp: { name: "", "for-copy": "", follow: "" },
    arguments: 1,
    run: async ([file], flags) =>
      flags.follow === true
        ? (await import("./backup.ts")).followCommand()
        : (await import("./backup.ts")).backupCommand(file, textFlag(flags.name), flags["for-copy"] === true),
  },
  backups: {
    usage: "backups [--json]",
    summary: "list the backups in BACKUP_TO with size, age, and how they were checked",
    flags: ["json"],
    arguments: 0,
    run: async (_, flags) => (await import("./backup.ts")).backupsCommand(flags.json === true),
  },
  restore: {
    usage: "restore BACKUP [--at TIME] [--identity FILE]",
    summary:
      "put a backup in place: a file, s3://…, a name of berth backups, or latest; what was there is kept beside it",
    flags: ["at", "identity"],
    arguments: 1,
    run: async ([source], flags) =>
      (await import("./backup.ts")).restoreCommand(source, textFlag(flags.at), textFlag(flags.identity)),
  },
  import: {
    usage: "import FOLDER|FILE [--owner EMAIL]",
    summary: "make an agent of an OpenClaw workspace, an elizaOS character, a character card, or an export",
    flags: ["owner", "dry-run", "again", "json"],
    arguments: 1,
    run: async ([path], flags) => (await import("./import.ts")).importCommand(path, flags),
  },
  cells: {
    usage: "cells [move ACCOUNT CELL | remove CELL [--broken-audit]] [--json]",
    summary: "the parts into which CELLS divides the service, moves of accounts between them, and one cell less",
    flags: ["broken-audit", "json", "plugin"],
    // For the processes that the service starts.
    flagHelp: { plugin: "" },
    arguments: 5,
    run: async (commandArgs, flags) =>
      (await import("./cells.ts")).cellsCommand(
        commandArgs,
        listFlag(flags.plugin),
        flags.json === true,
        flags["broken-audit"] === true,
      ),
  },
  cluster: {
    usage: "cluster COMMAND …",
    summary: "several machines as one service: status, cells, join, leave, check, drain, undrain, forget, move",
    flags: ["json", "replace"],
    // Each subcommand checks its own arguments.
    arguments: Number.POSITIVE_INFINITY,
    details: async () => (await import("./cluster/cluster.ts")).clusterHelp(),
    run: async (commandArgs, flags) => (await import("./cluster/cluster.ts")).clusterCommand(commandArgs, flags),
  },
  upgrade: {
    usage: "upgrade FILE|URL [--key FILE] [--unsigned] | upgrade --back [--with-database]",
    summary: "check a new version, put it in place and hand the running service over to it; or go back",
    flags: ["key", "unsigned", "back", "with-database"],
    flagHelp: { key: "  --key FILE      the public key of whoever signed it; else the project's" },
    arguments: 1,
    run: async ([source], flags) =>
      (await import("./upgrade/upgrade.ts")).upgradeCommand({
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
    run: async () => (await import("./upgrade/restart.ts")).restartCommand(),
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
      (await import("./migrate.ts")).migrateCommand({
        plugins: listFlag(flags.plugin),
        isDry: flags["dry-run"] === true,
      }),
  },
  openapi: {
    usage: "openapi [web|backend]",
    summary: "print the API's OpenAPI 3.1 document",
    arguments: 1,
    run: async ([side]) => (await import("./openapi.ts")).openapiCommand(side),
  },
  health: {
    usage: "health",
    summary: "exit 0 when the service on this machine answers /healthz",
    arguments: 0,
    run: async () => (await import("./health.ts")).healthCommand(),
  },
};

/** All commands. Those for a service elsewhere are loaded only when one of them, or the help, is asked for. */
export const allCommands = async (): Promise<Record<string, Command>> => ({
  ...COMMANDS,
  ...(await import("./remote/table.ts")).REMOTE_COMMANDS,
});

const textFlag = (value: Flags[string]) => (typeof value === "string" ? value : undefined);
const listFlag = (value: Flags[string]) => (Array.isArray(value) ? value : []);

function parseDescriptor(value: Flags[string]): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && /^\d{1,6}$/.test(value)) return Number(value);
  throw new UsageError(`--ready-fd takes the number of an open descriptor, not "${value}".`);
}
