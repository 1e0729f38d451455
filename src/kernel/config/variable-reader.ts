// Finds each variable's text, parses it, and records where it came from; a bad value is reported, never thrown.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nearestName } from "../util/nearest-name.ts";
import type { DefaultContext, Secrecy, Variable, VariableGroup, VariableSource } from "./variable.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ReadOptions {
  /** The folder of the `.env` file and of relative paths. Default: the process's working directory. */
  cwd?: string | undefined;
  /** The text of the `.env` file, or false to read none. Default: `.env` in `cwd`, when there is one. */
  dotenv?: string | false | undefined;
  /** Whether standard output is a terminal. Default: detected. */
  terminal?: boolean | undefined;
}

/** One variable as it was found. */
export interface ResolvedVariable {
  name: string;
  /** The text in force; undefined when it is not set and has no default. */
  text: string | undefined;
  source: VariableSource;
  secrecy: Secrecy;
  /** An error message in one line that can be shown to anyone; undefined when the value is good. */
  problem: string | undefined;
}

export interface ResolvedGroup {
  /** Without the variables that repeat others and are not set. */
  list: ResolvedVariable[];
  /** Parsed values by name; those with a problem are undefined, so check `list` before use. */
  values: Record<string, unknown>;
}

export interface UnknownName {
  name: string;
  source: "environment" | ".env file";
  /** The known name that was probably meant. */
  nearest: string | undefined;
}

export interface VariableReader {
  /** Reads the variables of a group. The result is not kept. */
  read(group: VariableGroup): ResolvedGroup;
  /**
   * Names that no known group declares: all of the `.env` file, and those of the environment that are spelt like a known
   * one. Slow for a large environment; for reports only.
   */
  unknownNames(): UnknownName[];
}

/**
 * Makes a reader of the environment and the `.env` file, which is read here, once. An empty value counts as not set.
 * Computed defaults may refer to the variables of `groups` and of the group that is being read.
 * Throws ConfigError when there is a `.env` file that can't be read.
 */
export function createVariableReader(
  given: Environment,
  options: ReadOptions,
  groups: readonly VariableGroup[],
): VariableReader {
  const cwd = options.cwd ?? process.cwd();
  // Every look into `process.env` itself is a call into the runtime.
  const env = { ...given };
  const file = options.dotenv === false ? {} : parseDotenv(options.dotenv ?? readDotenv(cwd));
  const declared = new Map<string, Variable<unknown>>();
  const texts = new Map<string, { text: string | undefined; source: VariableSource }>();

  const context: DefaultContext = {
    cwd,
    terminal: options.terminal ?? process.stdout.isTTY === true,
    text: (name) => {
      const variable = declared.get(name);
      if (!variable) throw new Error(`No variable is called ${name}.`);
      return resolveText(name, variable).text ?? "";
    },
  };

  function declare({ variables }: VariableGroup): void {
    for (const [name, variable] of Object.entries(variables)) declared.set(name, variable);
  }

  function resolveText(name: string, variable: Variable<unknown>) {
    const known = texts.get(name);
    if (known) return known;
    const resolved = findText(name, variable);
    texts.set(name, resolved);
    return resolved;
  }

  function findText(name: string, { defaultValue }: Variable<unknown>) {
    // A variable that is set but empty in the real environment switches off the file's.
    const environmentValue = env[name];
    const text = (environmentValue ?? file[name])?.trim();
    if (text) return { text, source: environmentValue === undefined ? ".env file" : "environment" } as const;
    if (defaultValue === undefined) return { text: undefined, source: "not set" } as const;
    const defaultText = typeof defaultValue === "string" ? defaultValue : defaultValue.compute(context);
    return { text: defaultText, source: "default" } as const;
  }

  for (const group of groups) declare(group);
  return {
    read(group) {
      declare(group);
      const values: Record<string, unknown> = {};
      const list = Object.entries(group.variables).flatMap(([name, variable]): ResolvedVariable[] => {
        const { text, source } = resolveText(name, variable);
        const { parser, secrecy } = variable;
        const value = text === undefined ? undefined : parser.parse(text, context);
        values[name] = value;
        const isInvalid = text !== undefined && value === undefined;
        const problem = isInvalid ? invalidValueMessage(name, text, secrecy, parser.allowed) : undefined;
        const isLeftOut = variable.repeats !== undefined && (source === "not set" || source === "default");
        return isLeftOut ? [] : [{ name, text, source, secrecy, problem }];
      });
      return { list, values };
    },
    unknownNames() {
      const isUnknown = (name: string) => !declared.has(name);
      const inFile = Object.keys(file).filter(isUnknown);
      const known = [...declared.keys()];
      const misspelt = Object.keys(env).filter((name) => isUnknown(name) && !Object.hasOwn(file, name));
      return [
        ...inFile.map((name) => ({ name, source: ".env file" as const, nearest: nearestName(name, known) })),
        ...misspelt.flatMap((name) => {
          // Short names, such as HOME, resemble ours by chance.
          const nearest = name.length >= 6 ? nearestName(name, known, MAX_MISSPELT_CHARACTERS) : undefined;
          return nearest === undefined ? [] : [{ name, source: "environment" as const, nearest }];
        }),
      ];
    },
  };
}

/** More characters make another name, of another program. */
const MAX_MISSPELT_CHARACTERS = 2;

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

/** At most 200 characters, without line breaks. */
function escapeToOneLine(text: string): string {
  const short = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return JSON.stringify(short).slice(1, -1);
}

/** The text to keep out of the log: a secret as a whole, and the password of an address. */
export function secretOf({ text, secrecy }: ResolvedVariable): string | undefined {
  if (text === undefined || secrecy === "open") return undefined;
  return secrecy === "secret" ? text : decodePassword(URL.parse(text)?.password);
}

function decodePassword(password: string | undefined): string | undefined {
  if (!password) return undefined;
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** Without a `.env`, the module that reads its form is not loaded. */
const parseDotenv = (text: string): Environment =>
  text === "" ? {} : process.getBuiltinModule("node:util").parseEnv(text);

/** A missing `.env` is fine; one that can't be read is an error, since its settings would be ignored silently. */
function readDotenv(cwd: string): string {
  try {
    return readFileSync(join(cwd, ".env"), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw new ConfigError(".env: found a file that can't be read; allowed is a readable text file, or none.");
  }
}

/** The configuration is not usable. Each line of the message is for the operator: variable, what was found, what is allowed. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
