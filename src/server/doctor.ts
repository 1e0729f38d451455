// Reports every setting in force with its source, and every problem found, for `berth doctor`.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ProviderSection, providerSettings } from "../../plugins/ai/settings.ts";
import {
  type Config,
  ConfigError,
  type ConfigInspection,
  type Environment,
  type Finding,
  inspectConfig,
} from "../kernel/config/config.ts";
import { maskValue, type ReadOptions, type ResolvedVariable } from "../kernel/config/variable-reader.ts";
import { settingsWith } from "./settings.ts";

export interface DoctorOptions extends Omit<ReadOptions, "cwd"> {
  /** Default: the built-in providers. */
  providers?: ProviderSection;
}

export interface DoctorReport {
  /** Lines for a terminal; secrets are masked. */
  text: string;
  /** 1 if a problem would prevent the start; 0 for warnings only. */
  exitCode: 0 | 1;
}

/**
 * Checks the environment, the `.env` file in `cwd`, and the folders and files that they name. Changes nothing.
 *
 * @example const { text, exitCode } = doctorReport(process.env, process.cwd());
 */
export function doctorReport(
  env: Environment,
  cwd: string,
  { providers = providerSettings, ...options }: DoctorOptions = {},
): DoctorReport {
  let inspection: ConfigInspection;
  try {
    inspection = inspectConfig(env, { ...options, cwd, settings: settingsWith(providers) });
  } catch (error) {
    if (error instanceof ConfigError) return { text: `✗ ${error.message}\n`, exitCode: 1 };
    throw error;
  }
  const { list, config } = inspection;
  const findings = [...inspection.findings, ...(config ? checkFileSystem(config) : [])];
  const errors = findings.filter(isErrorFinding);
  const modelVariables = namesThatConfigureModels(providers);
  const hasProvider = list.some(
    ({ name, source }) => modelVariables.has(name) && source !== "default" && source !== "not set",
  );
  const sections = [
    formatVariables(list, new Set(findings.map(({ name }) => name))),
    ...findings.map(({ severity, message }) => `${severity === "error" ? "✗" : "!"} ${message}`),
    ...(hasProvider ? [] : ["! No AI provider is set up: a local Ollama, or else the demo model, answers."]),
    errors.length > 0 ? `${errors.length} wrong: the start would be refused.` : "Nothing is wrong.",
  ];
  return { text: `${sections.join("\n")}\n`, exitCode: errors.length > 0 ? 1 : 0 };
}

const isErrorFinding = ({ severity }: Finding) => severity === "error";

/** The keys of all providers, and the addresses of those that need no key. */
const namesThatConfigureModels = ({ registry }: ProviderSection) =>
  new Set(
    registry.all.flatMap(({ env, credential }) => [
      `${env}_API_KEY`,
      ...(credential.required ? [] : [`${env}_BASE_URL`]),
    ]),
  );

function formatVariables(list: ResolvedVariable[], highlighted: Set<string>): string {
  const nameWidth = Math.max(...list.map(({ name }) => name.length));
  const lines = list.map(({ name, text, source, secrecy }) => {
    const value = text === undefined ? "" : maskValue(text, source === "default" ? "open" : secrecy) || "(empty)";
    return `${highlighted.has(name) ? "›" : " "} ${name.padEnd(nameWidth)}  ${source.padEnd(11)}  ${value}`.trimEnd();
  });
  return `${lines.join("\n")}\n`;
}

/** Checks whether the folders and files that the settings name can be used. */
function checkFileSystem({ dataDir, database, secretKey, plugins }: Config): Finding[] {
  const findings: Finding[] = [];
  const error = (name: string, text: string) => findings.push({ name, severity: "error", message: `${name}: ${text}` });

  const nearest = nearestExistingParent(dataDir);
  if (!statSync(nearest).isDirectory()) error("DATA_DIR", `${nearest} is not a folder.`);
  else if (!isWritable(nearest)) error("DATA_DIR", `${nearest} can't be written by this user.`);
  const { file } = database;
  if (file && existsSync(file) && !isWritable(file)) error("DATABASE_URL", `${file} can't be written by this user.`);

  const key = join(dataDir, "secret.key");
  if (!secretKey && existsSync(key) && (statSync(key).mode & 0o077) !== 0) {
    findings.push({
      name: "DATA_DIR",
      severity: "warning",
      message: `${key} can be read by others: its mode should be 0600.`,
    });
  }
  for (const plugin of plugins) if (!existsSync(plugin)) error("PLUGINS", `${plugin} is not there.`);
  return findings;
}

const nearestExistingParent = (path: string): string =>
  existsSync(path) ? path : nearestExistingParent(dirname(path));

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
