// Finds every variable's text, parses it, and remembers where it came from; nothing here throws for a bad value.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { type Context, type Secrecy, table, type Values, type VariableName, variableNames } from "./table.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ReadOptions {
  /** Where `.env` is looked for and relative paths start. Default: the process's working directory. */
  cwd?: string | undefined;
  /** The text of the `.env` file, or false to read none. Default: `.env` in `cwd`, when there is one. */
  dotenv?: string | false | undefined;
  /** Whether standard output is a terminal. Default: as it is. */
  terminal?: boolean | undefined;
}

export type Origin = "environment" | ".env file" | "default" | "not set";

/** One variable as it was found. */
export interface Reading {
  name: VariableName;
  /** The text in force; undefined when it is not set and has no default. */
  text: string | undefined;
  origin: Origin;
  /** What is wrong with it, as one line that can be shown to anyone. */
  problem: string | undefined;
}

export interface Readings {
  list: Reading[];
  /** Parsed values; those with a problem are undefined, so check `list` before use. */
  values: Values;
  /** Names in the `.env` file that Berth does not know: spelling mistakes, most of the time. */
  unknown: string[];
}

/** Reads the whole table from the environment and the `.env` file; an empty value counts as not set. */
export function readVariables(env: Environment, options: ReadOptions = {}): Readings {
  const cwd = options.cwd ?? process.cwd();
  const file = options.dotenv === false ? {} : parseEnv(options.dotenv ?? readDotenv(cwd));
  const texts = new Map<string, { text: string | undefined; origin: Origin }>();

  const context: Context = {
    cwd,
    terminal: options.terminal ?? process.stdout.isTTY === true,
    text: (name) => find(name).text ?? "",
  };

  function find(name: string) {
    const known = texts.get(name);
    if (known) return known;
    const variable = variableNames.find((one) => one === name);
    if (!variable) throw new Error(`No variable is called ${name}.`);
    const found = look(variable);
    texts.set(name, found);
    return found;
  }

  function look(name: VariableName): { text: string | undefined; origin: Origin } {
    // A variable that is set but empty in the real environment switches off the file's.
    const real = env[name];
    const text = (real ?? file[name])?.trim();
    if (text) return { text, origin: real === undefined ? ".env file" : "environment" };
    const { fallback } = table[name];
    if (fallback === undefined) return { text: undefined, origin: "not set" };
    return { text: typeof fallback === "string" ? fallback : fallback.from(context), origin: "default" };
  }

  const values: Partial<Record<VariableName, unknown>> = {};
  const list = variableNames.map((name): Reading => {
    const { text, origin } = find(name);
    const { parser, secrecy } = table[name];
    const value = text === undefined ? undefined : parser.read(text, context);
    values[name] = value;
    const bad = text !== undefined && value === undefined;
    return { name, text, origin, problem: bad ? complaint(name, text, secrecy, parser.allowed) : undefined };
  });
  const unknown = Object.keys(file).filter((name) => !(name in table));
  return { list, values: values as Values, unknown };
}

const complaint = (name: string, text: string, secrecy: Secrecy, allowed: string) =>
  `${name}: found "${shown(text, secrecy)}"; allowed is ${allowed}.`;

/** The text of a value as it may be shown to people: secrets are masked, control characters escaped. */
export function shown(text: string, secrecy: Secrecy): string {
  const masked = `*** (${text.length} characters)`;
  if (secrecy === "secret") return masked;
  const url = URL.parse(text);
  const guarded = url?.username || url?.password;
  if (text.startsWith("file:") || (secrecy === "open" && !guarded)) return oneLine(text);
  if (!url?.host) return masked;
  const start = `${url.protocol}//${url.host}`;
  return oneLine(start === text.replace(/\/+$/, "") ? start : `${start}/***`);
}

/** One line, whatever is in it, and not too long a one. */
function oneLine(text: string): string {
  const short = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return JSON.stringify(short).slice(1, -1);
}

/** A `.env` that is not there is fine; one that can't be read is not, since its settings would silently not count. */
function readDotenv(cwd: string): string {
  try {
    return readFileSync(join(cwd, ".env"), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw new ConfigError(".env: found a file that can't be read; allowed is a readable text file, or none.");
  }
}

/** The configuration is not usable. The message is one line for the operator: variable, what was found, what is allowed. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
