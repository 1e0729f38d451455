// The plugin host builds each plugin once, on first use, and gives its service to the plugins that use it.
import { StartError } from "./errors.ts";
import type { Host, Kernel, Plugin, PluginParts } from "./plugin.ts";

export interface BuiltPlugin {
  name: string;
  parts: PluginParts<unknown>;
}

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
