// The only reader of the environment: parses every setting, checks it, and hands it out typed and frozen.

import { buildKernelSettings, type KernelSettings, type KernelValues, kernelGroups } from "./kernel-settings.ts";
import { type DeepReadonly, deepFreeze, type Finding, type SectionContext, type SettingsSection } from "./section.ts";
import { parseErrors, unknownNameWarning, validateKernelSettings } from "./validation.ts";
import type { VariableGroup, VariableSource } from "./variable.ts";
import {
  ConfigError,
  createVariableReader,
  type Environment,
  type ReadOptions,
  type ResolvedGroup,
  type ResolvedVariable,
  secretOf,
} from "./variable-reader.ts";

export {
  type DatabaseLocation,
  type RateLimit,
  type RateLimitRule,
  type RateLimits,
  rateLimitRules,
} from "./parsers.ts";
export { type DeepReadonly, defineSettings, type Finding, type SettingsOf, type SettingsSection } from "./section.ts";
export { isLoopbackHost, isLoopbackUrl } from "./validation.ts";
export type { VariableSource } from "./variable.ts";
export { ConfigError, type Environment } from "./variable-reader.ts";

/** The settings of the kernel, and those of every capability by its section. */
export type Config = DeepReadonly<KernelSettings> & {
  /**
   * The settings of a capability. Sections given to `loadConfig` are parsed with it; another one is parsed at the first
   * call, and then throws ConfigError when a value is bad.
   */
  of<T>(section: SettingsSection<T>): DeepReadonly<T>;
  /** The source of every variable that was read with the configuration. */
  readonly sources: Readonly<Record<string, VariableSource>>;
  /** What does not fit together and still allows a start, such as a setting without effect. */
  readonly warnings: readonly Finding[];
  /** Texts to keep out of the log: the values of secret variables, and the passwords in addresses. */
  readonly secrets: readonly string[];
};

export interface LoadOptions extends ReadOptions {
  /**
   * The kernel's groups and the sections of capabilities, in the order in which they are shown. All are parsed and checked
   * at once. Default: the kernel's alone.
   */
  settings?: readonly (VariableGroup | SettingsSection)[] | undefined;
}

/** Everything that was found; `berth doctor` shows it. */
export interface ConfigInspection {
  list: ResolvedVariable[];
  findings: Finding[];
  /** Undefined when there is an error among the findings. */
  config: Config | undefined;
  /** Warnings of names that no setting has. Computed when called, since only reports need it. */
  findUnknownNames(): Finding[];
}

/**
 * Reads, checks and freezes the configuration: the environment first, then the `.env` file of the working directory
 * (every command alike), then defaults. An empty value counts as not set.
 * Throws ConfigError, whose message has a line for each wrong variable: what was found (masked if secret) and what is allowed.
 *
 * @example const config = loadConfig(process.env, { settings: allSettings });
 */
export function loadConfig(env: Environment, options: LoadOptions = {}): Config {
  const { config, findings } = inspectConfig(env, options);
  if (config) return config;
  const errors = findings.filter(({ severity }) => severity === "error");
  throw new ConfigError(errors.map(({ message }) => message).join("\n"));
}

/** Like `loadConfig`, but returns all findings. Throws ConfigError only when the `.env` file can't be read. */
export function inspectConfig(env: Environment, options: LoadOptions = {}): ConfigInspection {
  const settings = options.settings ?? Object.values(kernelGroups);
  const reader = createVariableReader(env, options, settings);
  const groups = new Map(settings.map((group) => [group, reader.read(group)] as const));
  const list = [...groups.values()].flatMap((group) => group.list);
  const findUnknownNames = () => reader.unknownNames().map(unknownNameWarning);
  const errors = parseErrors(list);
  if (errors.length > 0) return { list, findings: errors, config: undefined, findUnknownNames };

  const kernelValues = Object.assign({}, ...Object.values(kernelGroups).map((group) => groups.get(group)?.values));
  // The groups of the kernel are always among those that were read, and each value comes from its own parser.
  const kernel = deepFreeze(buildKernelSettings(kernelValues as KernelValues));
  const findings = validateKernelSettings(kernel, sourcesOf(list));
  const bySection = new Map<string, unknown>();
  const build = <T>(section: SettingsSection<T>, group: ResolvedGroup): DeepReadonly<T> => {
    const context: SectionContext = { kernel, sources: sourcesOf(group.list) };
    const built = deepFreeze(section.build(group.values, context));
    bySection.set(section.name, built);
    findings.push(...section.validate(group.values, context));
    return built;
  };
  for (const [group, values] of groups) if (isSection(group)) build(group, values);
  if (findings.some(({ severity }) => severity === "error"))
    return { list, findings, config: undefined, findUnknownNames };

  const config: Config = {
    ...kernel,
    sources: sourcesOf(list),
    warnings: [...findings],
    secrets: list.map(secretOf).filter((secret) => secret !== undefined),
    of<T>(section: SettingsSection<T>) {
      if (bySection.has(section.name)) return bySection.get(section.name) as DeepReadonly<T>;
      const group = reader.read(section);
      const [error] = parseErrors(group.list);
      if (error) throw new ConfigError(error.message);
      return build(section, group);
    },
  };
  return { list, findings, config: Object.freeze(config), findUnknownNames };
}

const isSection = (group: VariableGroup | SettingsSection): group is SettingsSection => "build" in group;

const sourcesOf = (list: readonly ResolvedVariable[]): Readonly<Record<string, VariableSource>> =>
  Object.freeze(Object.fromEntries(list.map(({ name, source }) => [name, source])));

/** The process's own environment: what every command hands to `loadConfig`. */
export const environment = (): Environment => process.env;
