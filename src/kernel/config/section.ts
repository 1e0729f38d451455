// The contract by which a capability declares its settings: named variables, a typed value built from them, and checks.

import type { KernelSettings } from "./kernel-settings.ts";
import type { ValuesOf, VariableGroup, VariableSource, Variables } from "./variable.ts";

/** A problem with the settings: an error stops the start, a warning is logged then and shown by `berth doctor`. */
export interface Finding {
  name: string;
  severity: "error" | "warning";
  /** One line; starts with the variable's name. */
  message: string;
}

/** What a section's `build` and `validate` may look at besides their own values. */
export interface SectionContext {
  readonly kernel: DeepReadonly<KernelSettings>;
  /** The source of each of the section's own variables. */
  readonly sources: Readonly<Record<string, VariableSource>>;
}

/** The settings of one capability. The type of `T` is what `config.of(section)` returns. */
export interface SettingsSection<T = unknown> extends VariableGroup {
  /** Unique among all sections: a section that is given to `loadConfig` replaces the default one of the same name. */
  readonly name: string;
  build(values: Readonly<Record<string, unknown>>, context: SectionContext): T;
  validate(values: Readonly<Record<string, unknown>>, context: SectionContext): Finding[];
}

/** The type of a section's settings, as `config.of(section)` returns them. */
export type SettingsOf<Section> = Section extends SettingsSection<infer T> ? DeepReadonly<T> : never;

/** By the variable that has to be set, or to have a value (`STREAM_DRIVER=embedded`): those that do nothing otherwise. */
type Needs = Readonly<Record<string, readonly string[]>>;

interface Definition<Declared extends Variables, T> {
  name: string;
  variables: Declared;
  /** Each that is set in vain gives a warning. */
  needs?: Needs;
  /** Makes the settings from the parsed values. Called once for each configuration; the result is frozen. */
  build(values: ValuesOf<Declared>, context: SectionContext): T;
  /** Reports values that do not fit together. Called only when every variable could be parsed. */
  validate?(values: ValuesOf<Declared>, context: SectionContext): Finding[];
}

/**
 * Declares the settings of a capability.
 *
 * @example
 * export const gatingSettings = defineSettings({
 *   name: "gating",
 *   variables: { GATING_TOKEN_ADDRESS: optional(contractAddress, "Token whose holders pass the gate.") },
 *   build: (values) => ({ token: values.GATING_TOKEN_ADDRESS }),
 * });
 * const { token } = kernel.config.of(gatingSettings);
 */
export function defineSettings<Declared extends Variables, T>(definition: Definition<Declared, T>): SettingsSection<T> {
  const { name, variables, needs = {}, build, validate } = definition;
  // The reader parses exactly these variables with their own parsers, so the values have the declared types.
  return {
    name,
    variables,
    build: (values, context) => build(values as ValuesOf<Declared>, context),
    validate: (values, context) => [
      ...findIdle(needs, values, context.sources),
      ...(validate?.(values as ValuesOf<Declared>, context) ?? []),
    ],
  };
}

export const warning = (name: string, text: string): Finding => ({
  name,
  severity: "warning",
  message: `${name}: ${text}`,
});

/** Stops the start. */
export const error = (name: string, text: string): Finding => ({
  name,
  severity: "error",
  message: `${name}: ${text}`,
});

/** Warns when one of two variables that are useless alone is set without the other. */
export function requireBoth(values: Readonly<Record<string, unknown>>, first: string, second: string): Finding[] {
  const missing = (set: string, unset: string) =>
    values[set] && !values[unset] ? [warning(set, `is set without ${unset}, so it has no effect.`)] : [];
  return [...missing(first, second), ...missing(second, first)];
}

/** Whether the operator has set the variable, even to its default. */
export const isGiven = (source: VariableSource | undefined): boolean =>
  source !== undefined && source !== "default" && source !== "not set";

/** Warns of each of these variables that is set. */
export function warnOfGiven(names: readonly string[], sources: SectionContext["sources"], text: string): Finding[] {
  const findings: Finding[] = [];
  for (const name of names) if (isGiven(sources[name])) findings.push(warning(name, text));
  return findings;
}

/** Warns of variables that are set and do nothing; see `needs`. */
function findIdle(
  needs: Needs,
  values: Readonly<Record<string, unknown>>,
  sources: SectionContext["sources"],
): Finding[] {
  const findings: Finding[] = [];
  for (const [needed, names] of Object.entries(needs)) {
    const [name = "", value] = needed.split("=");
    const isMet = value === undefined ? Boolean(values[name]) : values[name] === value;
    if (!isMet) findings.push(...warnOfGiven(names, sources, `is set without ${needed}, so it has no effect.`));
  }
  return findings;
}

/** A value whose objects and arrays can't be written; functions, maps and patterns stay as they are. */
export type DeepReadonly<T> = T extends
  | string
  | number
  | boolean
  | bigint
  | undefined
  | RegExp
  | ReadonlyMap<never, unknown>
  | ((...args: never[]) => unknown)
  ? T
  : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

/** Freezes plain objects and arrays to their leaves, and stops at what is frozen already. */
export function deepFreeze<T>(value: T): DeepReadonly<T>;
export function deepFreeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
