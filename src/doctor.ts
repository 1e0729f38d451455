// `berth doctor`: every setting in force, where it came from, and what is wrong, for people.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Reading, type Readings, readVariables, shown } from "./config/read.ts";
import { type Finding, findings } from "./config/rules.ts";
import { table } from "./config/table.ts";
import { ConfigError, type Environment, type ReadOptions } from "./config.ts";

export interface DoctorReport {
  /** Lines for a terminal; secrets are masked. */
  text: string;
  /** 1 when something is wrong that stops the start; warnings alone are 0. */
  exitCode: 0 | 1;
}

/**
 * Looks at the environment, the `.env` file in `cwd` and the folders they name. Changes nothing.
 *
 * @example const { text, exitCode } = doctorReport(process.env, process.cwd());
 */
export function doctorReport(env: Environment, cwd: string, options: Omit<ReadOptions, "cwd"> = {}): DoctorReport {
  let readings: Readings;
  try {
    readings = readVariables(env, { ...options, cwd });
  } catch (error) {
    if (error instanceof ConfigError) return { text: `✗ ${error.message}\n`, exitCode: 1 };
    throw error;
  }
  const ofValues = findings(readings);
  const found = ofValues.some(isError) ? ofValues : [...ofValues, ...lookAround(readings)];
  const errors = found.filter(isError);
  const sections = [
    settings(readings.list, new Set(found.map(({ name }) => name))),
    ...found.map(({ severity, message }) => `${severity === "error" ? "✗" : "!"} ${message}`),
    ...(readings.list.some(givesModel)
      ? []
      : ["! No AI provider is set up: a local Ollama, or else the demo model, answers."]),
    errors.length > 0 ? `${errors.length} wrong: the start would be refused.` : "Nothing is wrong.",
  ];
  return { text: `${sections.join("\n")}\n`, exitCode: errors.length > 0 ? 1 : 0 };
}

const isError = ({ severity }: Finding) => severity === "error";

/** A key for any provider, or a server of one's own as provider 3. */
const givesModel = ({ name, origin }: Reading) =>
  origin !== "default" && origin !== "not set" && /^PROVIDER_(\d_API_KEY|3_BASE_URL)$/.test(name);

function settings(list: Reading[], marked: Set<string>): string {
  const nameWidth = Math.max(...list.map(({ name }) => name.length));
  const lines = list.map(({ name, text, origin }) => {
    const secrecy = origin === "default" ? "open" : table[name].secrecy;
    const value = text === undefined ? "" : shown(text, secrecy) || "(empty)";
    return `${marked.has(name) ? "›" : " "} ${name.padEnd(nameWidth)}  ${origin.padEnd(11)}  ${value}`.trimEnd();
  });
  return `${lines.join("\n")}\n`;
}

/** What no value shows by itself: whether the folders and files it names can be used. */
function lookAround({ values }: Readings): Finding[] {
  const found: Finding[] = [];
  const error = (name: string, text: string) => found.push({ name, severity: "error", message: `${name}: ${text}` });

  const folder = values.DATA_DIR;
  const nearest = nearestExisting(folder);
  if (!statSync(nearest).isDirectory()) error("DATA_DIR", `${nearest} is not a folder.`);
  else if (!writable(nearest)) error("DATA_DIR", `${nearest} can't be written by this user.`);
  const file = values.DATABASE_URL.file;
  if (file && existsSync(file) && !writable(file)) error("DATABASE_URL", `${file} can't be written by this user.`);

  const key = join(folder, "secret.key");
  if (!values.SECRET_KEY && existsSync(key) && (statSync(key).mode & 0o077) !== 0) {
    found.push({
      name: "DATA_DIR",
      severity: "warning",
      message: `${key} can be read by others: its mode should be 0600.`,
    });
  }
  for (const plugin of values.PLUGINS) if (!existsSync(plugin)) error("PLUGINS", `${plugin} is not there.`);
  return found;
}

const nearestExisting = (path: string): string => (existsSync(path) ? path : nearestExisting(dirname(path)));

function writable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
