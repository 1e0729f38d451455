// What a plugin is, and the host that builds each one once and hands it to those that use it.
import type { AnyElysia } from "elysia";
import type { Chains } from "./chains/chains.ts";
import type { Config } from "./config/config.ts";
import type { Database } from "./database/database.ts";
import { StartError } from "./errors.ts";
import type { Events } from "./events/events.ts";
import type { BackendTransport } from "./http/backend-transport.ts";
import type { SocketRoute } from "./http/http.ts";
import type { Idempotency } from "./http/idempotency.ts";
import type { Jobs } from "./jobs/jobs.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { KeyRotation } from "./security/key-rotation.ts";
import type { Outbound } from "./security/outbound.ts";
import type { RateLimiter } from "./security/rate-limits/rate-limiter.ts";
import type { Vault } from "./security/vault.ts";
import type { Log } from "./telemetry/log.ts";
import type { Metrics } from "./telemetry/metrics.ts";

/** What every capability stands on. Knows none of them. */
export interface Kernel {
  readonly config: Config;
  readonly log: Log;
  readonly database: Database;
  readonly events: Events;
  readonly jobs: Jobs;
  readonly mail: Mailer;
  readonly vault: Vault;
  readonly keyRotation: KeyRotation;
  readonly outbound: Outbound;
  readonly limits: RateLimiter;
  readonly idempotency: Idempotency;
  readonly metrics: Metrics;
  readonly chains: Chains;
  /** How the web surface reaches the backend: in process or over HTTP. */
  readonly backend: BackendTransport;
}

/** Whether nobody else can write what is read from this database: only then may it be remembered. */
export const ownsDatabase = ({ config, database }: Pick<Kernel, "config" | "database">) =>
  config.role === "all" && database.file !== undefined;

/** What a plugin brings. Routes are served on their surface; background work runs where the backend runs. */
export interface PluginParts<Service> {
  /** What other plugins get from `host.use()`. */
  service: Service;
  web?: AnyElysia;
  backend?: AnyElysia;
  /** WebSocket endpoints on the web listener. */
  sockets?: SocketRoute[];
  /** Called in the order of the plugins once the database is there, where the backend runs. */
  start?: () => Promise<void> | void;
  /**
   * Called at shutdown in the reverse order, of plugins with sockets last; must return within the configured grace.
   * Also called where `start` failed or, with sockets, was never called.
   */
  stop?: () => Promise<void> | void;
  /** Throws, or answers false, while the plugin can't do its work; shown by `/readyz` under the plugin's name. */
  ready?: () => boolean | Promise<boolean>;
}

export interface Plugin<Service> {
  readonly name: string;
  setup(host: Host): PluginParts<Service>;
}

/** What `host.use(plugin)` answers. */
export type ServiceOf<P> = P extends Plugin<infer Service> ? Service : never;

export interface Host {
  readonly kernel: Kernel;
  /** Another plugin's service, built on first use. A cycle is refused with the path that closes it. */
  use<Service>(plugin: Plugin<Service>): Service;
  /** The service of a built-in plugin, for third-party ones, which can't import it; they are built after all built-in ones. */
  named(name: string): unknown;
}

/**
 * Declares a plugin.
 *
 * @example
 * export const agents = plugin("agents", (host) => {
 *   const { guards } = host.use(auth);
 *   const store = createAgents(host.kernel);
 *   return { service: store, web: routes(store, guards) };
 * });
 */
export function plugin<Service>(name: string, setup: (host: Host) => PluginParts<Service>): Plugin<Service> {
  return { name, setup };
}

export interface BuiltPlugin {
  name: string;
  parts: PluginParts<unknown>;
}

/** Runs a step of a plugin; what it throws becomes a StartError with the plugin's name, unless it is one already. */
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

/** Builds plugins once each, in the order in which they are needed. A failing setup and a name used twice are StartErrors. */
export function createHost(kernel: Kernel): Host & { built: readonly BuiltPlugin[] } {
  const built: BuiltPlugin[] = [];
  const services = new Map<Plugin<unknown>, unknown>();
  const inProgress: Plugin<unknown>[] = [];

  function use<Service>(requested: Plugin<Service>): Service {
    if (!services.has(requested)) build(requested);
    // The map holds for each plugin what its own setup returned.
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
    throw new StartError(`There is no plugin ${name} to be used here. There are: ${available}.`);
  }

  const host = { kernel, use, named, built };
  return host;
}
