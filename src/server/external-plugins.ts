// Loads third-party plugins from source at the start, and passes them the library parts that they can't import.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Elysia, t } from "elysia";
import { defineTool } from "../../plugins/skills/index.ts";
import { parser } from "../kernel/config/parsers.ts";
import { defineSettings, type SettingsSection } from "../kernel/config/section.ts";
import { optional, withDefault } from "../kernel/config/variable.ts";
import { AppError, StartError } from "../kernel/errors.ts";
import { guarded, openRoutes } from "../kernel/http/route-guards.ts";
import { type Plugin, plugin } from "../kernel/plugin.ts";
import { allSettings } from "./settings.ts";

/** The argument of a plugin file's function. Files beside a compiled binary can't import from it. */
export const toolkit = {
  plugin,
  Elysia,
  t,
  AppError,
  guarded,
  openRoutes,
  defineTool,
  defineSettings,
  withDefault,
  optional,
  parser,
};
export type Toolkit = typeof toolkit;

export interface ExternalPlugins {
  readonly plugins: readonly Plugin<unknown>[];
  /** The sections of settings that the files have defined, so that they are checked and shown with all others. */
  readonly settings: readonly SettingsSection[];
}

/**
 * Loads each file's default export, a function from the toolkit to a plugin. Throws StartError with the file and reason.
 *
 * @example
 * // my-plugin.ts
 * export default ({ plugin, Elysia, openRoutes }) =>
 *   plugin("hello", () => ({ service: {}, web: new Elysia().use(openRoutes).get("/hello", () => "hi", { open: true }) }));
 */
export async function loadExternalPlugins(files: readonly string[]): Promise<ExternalPlugins> {
  const plugins: Plugin<unknown>[] = [];
  const settings: SettingsSection[] = [];
  const recording: Toolkit = {
    ...toolkit,
    defineSettings(definition) {
      const section = defineSettings(definition);
      requireFreeName(section, [...allSettings, ...settings]);
      settings.push(section);
      return section;
    },
  };
  for (const file of files) {
    try {
      const found = statSync(resolve(file), { throwIfNoEntry: false });
      if (!found) throw new Error("there is no such file");
      if (found.isDirectory()) throw new Error("it is a folder, not a file");
      const module = (await import(resolve(file))) as { default?: unknown };
      if (typeof module.default !== "function") throw new Error("its default export is not a function");
      const result: unknown = module.default(recording);
      if (!isPlugin(result)) throw new Error("its default export did not return plugin(name, setup)");
      plugins.push(result);
    } catch (cause) {
      const reason = reasonOf(cause)
        .trim()
        .replace(/\s*\n\s*/g, " ");
      throw new StartError(`The plugin ${file} can't be loaded: ${reason.replace(/\.$/, "")}.`, { cause });
    }
  }
  return { plugins, settings };
}

/** Sections are found by their names: of two with the same one, the second would get the values of the first. */
function requireFreeName({ name }: SettingsSection, taken: readonly object[]): void {
  if (taken.some((group) => "name" in group && group.name === name))
    throw new Error(`other settings have the name ${name} already. Give these another one`);
}

/** The message; of errors in the source with the place and the line of each. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return cause.errors.map(reasonOf).join("; ");
  if (cause instanceof BuildMessage && cause.position) {
    const { file, line, column, lineText } = cause.position;
    return `${file}:${line}:${column}: ${cause.message}, in "${lineText.trim().slice(0, 80)}"`;
  }
  return cause instanceof Error ? cause.message : String(cause);
}

function isPlugin(value: unknown): value is Plugin<unknown> {
  if (typeof value !== "object" || value === null) return false;
  return "name" in value && typeof value.name === "string" && "setup" in value && typeof value.setup === "function";
}
