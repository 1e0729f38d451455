// The plugin host builds each plugin once, on first use, and gives its service to the plugins that use it.
import { Elysia } from "elysia";
import { StartError } from "./errors.ts";
import type { LatePart } from "./late-apps.ts";
import type { Host, Kernel, Plugin, PluginParts } from "./plugin.ts";

export interface BuiltPlugin {
  name: string;
  parts: PluginParts<unknown>;
}

/** Each function of a plugin's `lateRoutes` is a part. */
export const latePartsOf = (built: readonly BuiltPlugin[], surfaceName: "web" | "backend"): LatePart[] =>
  built.flatMap(({ name, parts }) =>
    (parts.lateRoutes?.[surfaceName] ?? []).map((make, index) => ({ name: `${name} ${index}`, make })),
  );

/** Runs one step of a plugin. An error that is not a StartError becomes one that names the plugin and the `action`. */
export async function runPluginStep(plugin: { name: string }, action: string, step: () => unknown): Promise<void> {
  try {
    await step();
  } catch (error) {
    throw toStartError(plugin, action, error);
  }
}

function toStartError({ name }: { name: string }, action: string, error: unknown): Error {
  if (error instanceof StartError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StartError(`The plugin ${name} can't ${action}: ${reason}`, { cause: error });
}

/** Throws for parts that no type has checked, such as those of a plugin in JavaScript. */
function requireParts(parts: unknown): void {
  if (parts instanceof Promise) {
    // Its failure would be reported a second time, as an unhandled one.
    parts.catch(() => undefined);
    throw new Error(
      "its setup returned a promise. Make it a plain function, and do in start what has to be waited for.",
    );
  }
  if (typeof parts !== "object" || parts === null) throw new Error("its setup did not return its parts, an object.");
  const part = (name: string): unknown => Reflect.get(parts, name);
  for (const name of ["web", "backend"]) {
    if (part(name) !== undefined && !(part(name) instanceof Elysia))
      throw new Error(`its ${name} is no routes. Give new Elysia() with routes, or leave it out.`);
    const late = (part("lateRoutes") as PluginParts<unknown>["lateRoutes"])?.[name as "web" | "backend"];
    if (late !== undefined && !(Array.isArray(late) && late.every((make) => typeof make === "function")))
      throw new Error(`its lateRoutes.${name} is no list of functions that return routes.`);
  }
  requireMigrations(part("migrations"));
  for (const name of ["check", "start", "stop", "ready"])
    if (part(name) !== undefined && typeof part(name) !== "function") throw new Error(`its ${name} is no function.`);
}

function requireMigrations(given: unknown): void {
  if (given === undefined) return;
  const list: unknown[] = Array.isArray(given) ? given : [undefined];
  const textOf = (one: unknown, name: string): unknown =>
    typeof one === "object" && one !== null ? Reflect.get(one, name) : undefined;
  const isComplete = (one: unknown) => ["name", "sql"].every((name) => typeof textOf(one, name) === "string");
  if (!list.every(isComplete)) throw new Error("its migrations are no list of { name, sql }.");
  const names = list.map((one) => textOf(one, "name"));
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new Error(`two of its migrations have the name ${String(twice)}.`);
}

/**
 * Makes a host. Plugins are built in the order in which they are needed. A setup that fails, a cycle and two plugins of
 * one name throw a StartError.
 */
export function createHost(kernel: Kernel): Host & { built: readonly BuiltPlugin[] } {
  const built: BuiltPlugin[] = [];
  const services = new Map<Plugin<unknown>, unknown>();
  const inProgress: Plugin<unknown>[] = [];

  function use<Service>(requested: Plugin<Service>): Service {
    if (!services.has(requested)) build(requested);
    // The map holds, for each plugin, the service that its own setup returned.
    return services.get(requested) as Service;
  }

  function build(requested: Plugin<unknown>): void {
    const { name } = requested;
    if (inProgress.includes(requested)) {
      const path = [...inProgress, requested].map(({ name }) => name).join(" → ");
      throw new StartError(`Plugins use each other: ${path}.`);
    }
    if ([...built, ...inProgress].some((other) => other.name === name)) {
      throw new StartError(`Two plugins have the name ${name}. Give one of them another.`);
    }
    inProgress.push(requested);
    try {
      const parts = requested.setup(host);
      requireParts(parts);
      kernel.events.declareTypes(parts.eventTypes ?? []);
      kernel.limits.define(parts.rateLimitRules ?? {});
      for (const pattern of parts.secretPatterns ?? []) kernel.log.redactPattern(pattern);
      services.set(requested, parts.service);
      built.push({ name, parts });
    } catch (error) {
      throw toStartError(requested, "be set up", error);
    } finally {
      inProgress.pop();
    }
  }

  function named(name: string): unknown {
    const found = built.find((one) => one.name === name);
    if (found) return found.parts.service;
    const available = built.map(({ name }) => name).join(", ");
    throw new StartError(`There is no plugin ${name}. The plugins are: ${available}.`);
  }

  const host = { kernel, use, named, built };
  return host;
}
