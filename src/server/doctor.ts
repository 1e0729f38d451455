// Reports every setting in force with its source, and every problem found, for `berth doctor`.

import { budgetSettings, type ProviderSection, providerSettings } from "../../plugins/ai/settings.ts";
import { streamSettings } from "../../plugins/streams/settings.ts";
import {
  type Config,
  ConfigError,
  type ConfigInspection,
  type Environment,
  type Finding,
  inspectConfig,
  type SettingsSection,
} from "../kernel/config/config.ts";
import { programName } from "../kernel/config/program-name.ts";
import { maskValue, type ReadOptions, type ResolvedVariable } from "../kernel/config/variable-reader.ts";
import { count } from "../kernel/util/text/count.ts";
import { checkFileSystem } from "./checks/file-checks.ts";
import { findIdleSettings } from "./checks/idle-settings.ts";
import { checkRootKey } from "./checks/key-check.ts";
import { type StoredProvider, storedProviders } from "./checks/stored-providers.ts";
import { connectionLimits } from "./connections/connection-guard.ts";
import { descriptorLimit, lowLimitWarning } from "./connections/descriptors.ts";
import { findConflicts, settingsWith } from "./settings.ts";

export interface DoctorOptions extends Omit<ReadOptions, "cwd"> {
  /** What third-party plugins have defined, or why one of them can't be loaded. */
  external?: { settings: readonly SettingsSection[]; findings: readonly Finding[] };
  /** What else was found, by checks that take their time. */
  findings?: readonly Finding[];
  /** A service runs on this data folder and answers, so the ports are its own. */
  isServed?: boolean;
  /** Default: the built-in providers. */
  providers?: ProviderSection;
  /** Also show the settings that have their default. */
  all?: boolean;
}

export interface DoctorReport {
  /** Lines for a terminal; secrets are masked. The last one says how many errors there are; without any, see `verdictOf`. */
  text: string;
  /** 1 if a problem would prevent the start; 0 for warnings only. */
  exitCode: 0 | 1;
}

/**
 * Checks the environment, the `.env` file in `cwd`, the folders and files that they name, and the ports. Changes nothing.
 *
 * @example const { text, exitCode } = doctorReport(process.env, process.cwd());
 */
export function doctorReport(
  env: Environment,
  cwd: string,
  {
    providers = providerSettings,
    all = false,
    external,
    findings: given = [],
    isServed = false,
    ...options
  }: DoctorOptions = {},
): DoctorReport {
  let inspection: ConfigInspection;
  try {
    const settings = [...settingsWith(providers), ...(external?.settings ?? [])];
    inspection = inspectConfig(env, { ...options, cwd, settings });
  } catch (error) {
    if (error instanceof ConfigError) return { text: `✗ ${error.message}\n`, exitCode: 1 };
    throw error;
  }
  const { list, config } = inspection;
  const findings = [
    ...inspection.findings,
    ...inspection.findUnknownNames(),
    ...(external?.findings ?? []),
    ...given,
    ...(config ? CHECKS.flatMap((check) => check(config)) : []),
    ...(config && !isServed ? checkPorts(config) : []),
  ];
  const errors = findings.filter(isErrorFinding);
  const modelVariables = namesThatConfigureModels(providers);
  const highlighted = new Set(findings.map(({ name }) => name));
  const isSet = ({ source }: ResolvedVariable) => source !== "default" && source !== "not set";
  const shown = list.filter((variable) => all || isSet(variable) || highlighted.has(variable.name));
  const more = `${count(list.length - shown.length, "setting has its default", "settings have their default")}: ${programName()} doctor --all shows them.\n`;
  const hasPaidProvider = providers.registry.all.some(({ env }) =>
    list.some((variable) => variable.name === `${env}_API_KEY` && isSet(variable)),
  );
  const stored = config ? storedProviders(config) : [];
  const sections = [
    ...(shown.length > 0 ? [formatVariables(shown, highlighted)] : []),
    ...(shown.length < list.length ? [more] : []),
    ...findings.map(({ severity, message }) => `${severity === "error" ? "✗" : "!"} ${message}`),
    ...describeDescriptors(config),
    ...stored.map(describeStored),
    ...(list.some((variable) => modelVariables.has(variable.name) && isSet(variable)) || stored.length > 0
      ? []
      : ["! No AI provider is set up: a local Ollama, or else the demo model, answers."]),
    ...(config && (hasPaidProvider || stored.some(({ hasKey }) => hasKey)) ? [describeFreeUse(config)] : []),
    ...(errors.length > 0 ? [`${errors.length} wrong: the start would be refused.`] : []),
  ];
  return { text: `${sections.join("\n")}\n`, exitCode: errors.length > 0 ? 1 : 0 };
}

/** The last line of `berth doctor`, after all that it has printed. */
export function verdictOf(printed: string): string {
  const [wrong, warnings] = [/^✗ /gm, /^! /gm].map((sign) => printed.match(sign)?.length ?? 0);
  if (wrong) return `${wrong} wrong: see the ${wrong === 1 ? "line" : "lines"} with ✗ above.`;
  if (warnings) return `Nothing prevents a start, but see the ${count(warnings, "warning")} above.`;
  return "Nothing is wrong.";
}

/** Of settings that are sound each by itself. */
const CHECKS = [findConflicts, findIdleSettings, checkRootKey, checkFileSystem] as const;

function describeStored({ label, keyEnd, hasKey, baseUrl, overriddenBy }: StoredProvider): string {
  const key = hasKey ? `a key${keyEnd ? ` that ends in ${keyEnd}` : ""}` : "no key";
  const about = `Stored in the database for ${label}: ${key}${baseUrl ? `, address ${baseUrl}` : ""}`;
  return overriddenBy ? `! ${about}. It is not used, since ${overriddenBy} is set.` : `${about}.`;
}

/** What the operator's keys may be used for by those who pay nothing. */
function describeFreeUse(config: Config): string {
  const { unpaidMicroUsd, publicMicroUsd } = config.of(budgetSettings);
  return (
    `On your AI keys, trials and accounts without a paid subscription may together use ${unpaidMicroUsd / 1e6} USD a day ` +
    `(AI_UNPAID_BUDGET_USD_PER_DAY), and callers without an account ${publicMicroUsd / 1e6} USD (AI_PUBLIC_BUDGET_USD_PER_DAY).`
  );
}

/** The limit of open files and connections, which depends on how this command was started, like that of the service. */
function describeDescriptors(config: Config | undefined): string[] {
  const descriptors = descriptorLimit();
  if (descriptors === undefined || !config) return [];
  const { perAddress } = connectionLimits(descriptors, config);
  const warning = lowLimitWarning(descriptors);
  return [
    `At most ${descriptors} open files and connections, ${perAddress} connections of one address.`,
    ...(warning === undefined ? [] : [`! ${warning}`]),
  ];
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

/** Tries to listen on each port. A Berth that runs already, or another program, may have it. */
function checkPorts(config: Config): Finding[] {
  const { role, web, backend } = config;
  const { driver, rtmpPort } = config.of(streamSettings);
  const ports = [
    ...(role === "backend" ? [] : [{ name: "PORT", ...web }]),
    ...(role === "web" ? [] : [{ name: "BACKEND_PORT", ...backend }]),
    ...(driver === "embedded" && role !== "web" ? [{ name: "RTMP_PORT", host: web.host, port: rtmpPort }] : []),
  ];
  const inUse = ports.filter(({ host, port }) => port !== 0 && isPortInUse(host, port));
  return inUse.map(({ name, port }) => ({
    name,
    severity: "warning",
    message: `${name}: port ${port} is in use, by a Berth that runs already or by another program.`,
  }));
}

function isPortInUse(hostname: string, port: number): boolean {
  try {
    Bun.listen({ hostname, port, exclusive: true, socket: { data: () => undefined } }).stop(true);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  }
}
