// The command line: parses arguments and runs the command of the table; `berth` without a command serves.
import { version } from "../../package.json";
import { programName } from "../kernel/config/program-name.ts";
import { redactForms } from "../kernel/telemetry/redact.ts";
import { type Command, FLAG_HELP, type Flags, OPTIONS, UsageError } from "./commands/options.ts";
import { allCommands, COMMANDS } from "./commands/table.ts";

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
  const { values, positionals } = await parseArguments(args);
  if (values.version || positionals[0] === "version") return print(version);
  const [name, ...commandArgs] = positionals[0] === "help" ? positionals.slice(1) : positionals;
  const isHelp = values.help || positionals[0] === "help";
  if (isHelp && name === undefined) return print(await overview());
  const command = await findCommand(name ?? "serve");
  if (isHelp) return print(await commandHelp(command));
  requireKnownArguments(name ?? "serve", command, commandArgs, values);
  return command.run(commandArgs, values);
}

/** Without a flag, as in `berth serve`, the module that parses them is not loaded. */
async function parseArguments(args: string[]): Promise<{ values: Flags; positionals: string[] }> {
  if (!args.some((arg) => arg.startsWith("-"))) return { values: {}, positionals: args };
  // The parser takes a negative number for another option, and so the command could not say what it wants.
  const joined = / -\d/.test(args.join(" "))
    ? (await import("./commands/arguments/negative-numbers.ts")).joinNegative(args)
    : args;
  const { parseArgs } = await import("node:util");
  return parseArgs({ args: joined, allowPositionals: true, options: OPTIONS });
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
