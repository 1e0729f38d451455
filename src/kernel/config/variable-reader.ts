// Finds every variable's text, parses it, and remembers where it came from; nothing here throws for a bad value.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import {
  type DefaultContext,
  type Secrecy,
  type Values,
  type VariableName,
  variableNames,
  variables,
} from "./variables.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ReadOptions {
  /** Where `.env` is looked for and relative paths start. Default: the process's working directory. */
  cwd?: string | undefined;
  /** The text of the `.env` file, or false to read none. Default: `.env` in `cwd`, when there is one. */
  dotenv?: string | false | undefined;
  /** Whether standard output is a terminal. Default: as it is. */
  terminal?: boolean | undefined;
}

export type VariableSource = "environment" | ".env file" | "default" | "not set";

/** One variable as it was found. */
export interface ResolvedVariable {
  name: VariableName;
  /** The text in force; undefined when it is not set and has no default. */
  text: string | undefined;
  source: VariableSource;
  /** What is wrong with it, as one line that can be shown to anyone. */
  problem: string | undefined;
}

export interface ResolvedVariables {
  list: ResolvedVariable[];
  /** Parsed values; those with a problem are undefined, so check `list` before use. */
  values: Values;
  /** Names in the `.env` file that Berth does not know: spelling mistakes, most of the time. */
  unknown: string[];
}

/** Reads the whole table from the environment and the `.env` file; an empty value counts as not set. */
export function readVariables(env: Environment, options: ReadOptions = {}): ResolvedVariables {
  const cwd = options.cwd ?? process.cwd();
  const file = options.dotenv === false ? {} : parseEnv(options.dotenv ?? readDotenv(cwd));
  const texts = new Map<string, { text: string | undefined; source: VariableSource }>();

  const context: DefaultContext = {
    cwd,
    terminal: options.terminal ?? process.stdout.isTTY === true,
    text: (name) => resolveVariable(name).text ?? "",
  };

  function resolveVariable(name: string) {
    const known = texts.get(name);
    if (known) return known;
    const variable = variableNames.find((one) => one === name);
    if (!variable) throw new Error(`No variable is called ${name}.`);
    const resolved = findText(variable);
    texts.set(name, resolved);
    return resolved;
  }

  function findText(name: VariableName): { text: string | undefined; source: VariableSource } {
    // A variable that is set but empty in the real environment switches off the file's.
    const environmentValue = env[name];
    const text = (environmentValue ?? file[name])?.trim();
    if (text) return { text, source: environmentValue === undefined ? ".env file" : "environment" };
    const { defaultValue } = variables[name];
    if (defaultValue === undefined) return { text: undefined, source: "not set" };
    return { text: typeof defaultValue === "string" ? defaultValue : defaultValue.compute(context), source: "default" };
  }

  const values: Partial<Record<VariableName, unknown>> = {};
  const list = variableNames.map((name): ResolvedVariable => {
    const { text, source } = resolveVariable(name);
    const { parser, secrecy } = variables[name];
    const value = text === undefined ? undefined : parser.parse(text, context);
    values[name] = value;
    const isInvalid = text !== undefined && value === undefined;
    return {
      name,
      text,
      source,
      problem: isInvalid ? invalidValueMessage(name, text, secrecy, parser.allowed) : undefined,
    };
  });
  const unknown = Object.keys(file).filter((name) => !(name in variables));
  return { list, values: values as Values, unknown };
}

const invalidValueMessage = (name: string, text: string, secrecy: Secrecy, allowed: string) =>
  `${name}: found "${maskValue(text, secrecy)}"; allowed is ${allowed}.`;

/** The text of a value as it may be shown to people: secrets are masked, control characters escaped. */
export function maskValue(text: string, secrecy: Secrecy): string {
  const masked = `*** (${text.length} characters)`;
  if (secrecy === "secret") return masked;
  const url = URL.parse(text);
  const hasCredentials = url?.username || url?.password;
  if (text.startsWith("file:") || (secrecy === "open" && !hasCredentials)) return escapeToOneLine(text);
  if (!url?.host) return masked;
  const start = `${url.protocol}//${url.host}`;
  return escapeToOneLine(start === text.replace(/\/+$/, "") ? start : `${start}/***`);
}

/** One line, whatever is in it, and not too long a one. */
function escapeToOneLine(text: string): string {
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
