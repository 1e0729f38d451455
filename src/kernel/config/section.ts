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

interface Definition<Declared extends Variables, T> {
  name: string;
  variables: Declared;
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
  const { name, variables, build, validate } = definition;
  // The reader parses exactly these variables with their own parsers, so the values have the declared types.
  return {
    name,
    variables,
    build: (values, context) => build(values as ValuesOf<Declared>, context),
    validate: (values, context) => validate?.(values as ValuesOf<Declared>, context) ?? [],
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

/**
 * Warns of each of these variables that is set although something is not without which it does nothing.
 *
 * @example ...(v.GATING_TOKEN_ADDRESS ? [] : idleWithout("GATING_TOKEN_ADDRESS", ["GATING_TOKEN_SYMBOL"], sources))
 * @param needed the variable to set, perhaps with its value: `STREAM_DRIVER=embedded`
 */
export const idleWithout = (needed: string, names: readonly string[], sources: SectionContext["sources"]): Finding[] =>
  names
    .filter((name) => isGiven(sources[name]))
    .map((name) => warning(name, `is set without ${needed}, so it has no effect.`));

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
