// The plugin contract: what the kernel offers to a plugin, and every hook that a plugin can register.
import type { AnyElysia } from "elysia";
import type { Migration } from "../../migrations/index.ts";
import type { Audit } from "./audit/audit.ts";
import type { Cells } from "./cells/cells.ts";
import type { Marks } from "./cells/marks.ts";
import type { Config } from "./config/config.ts";
import type { Database } from "./database/database.ts";
import type { Events } from "./events/events.ts";
import type { SharedFiles } from "./files.ts";
import type { BackendTransport } from "./http/backend/backend-transport.ts";
import type { CrossOriginPath } from "./http/cross-origin-paths.ts";
import type { ErrorFormat } from "./http/error-response.ts";
import type { Idempotency } from "./http/idempotency.ts";
import type { OpenApiDocument } from "./http/openapi/document.ts";
import type { SelfLimitedPath } from "./http/self-limited-paths.ts";
import type { VirtualHost } from "./http/virtual-hosts.ts";
import type { SocketRoute } from "./http/web-sockets.ts";
import type { Jobs } from "./jobs/jobs.ts";
import type { LateRoutes } from "./late-apps.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { Retention } from "./retention/retention.ts";
import type { KeyRotation } from "./security/key-rotation.ts";
import type { Outbound } from "./security/outbound.ts";
import type { RateLimiter, RateLimitRules } from "./security/rate-limits/rate-limiter.ts";
import type { Vault } from "./security/vault.ts";
import type { Log } from "./telemetry/log.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import type { Outages } from "./telemetry/outages.ts";
import type { Traces } from "./telemetry/traces.ts";

/** The services that every plugin builds on. They know no plugin. */
export interface Kernel {
  readonly config: Config;
  readonly log: Log;
  readonly database: Database;
  readonly events: Events;
  /** Records every change that matters, in the batch of the change. */
  readonly audit: Audit;
  readonly jobs: Jobs;
  /** What is kept for how long: each plugin registers its kinds of data. */
  readonly retention: Retention;
  readonly mail: Mailer;
  readonly vault: Vault;
  readonly keyRotation: KeyRotation;
  readonly outbound: Outbound;
  readonly limits: RateLimiter;
  readonly idempotency: Idempotency;
  readonly metrics: Metrics;
  /** Which places outside of the service do not work, such as Stripe. */
  readonly outages: Outages;
  /** Undefined unless the operator has set an endpoint for them. */
  readonly traces: Traces | undefined;
  /** Calls the backend from the web surface: in this process, or over HTTP. */
  readonly backend: BackendTransport;
  /** Where a cluster keeps files of the data folder; undefined on a single machine. */
  readonly files: SharedFiles | undefined;
  /** Makes the ids that requests name, and marks tokens, so that each finds its cell. */
  readonly marks: Marks;
  /** The other cells of the service; undefined if this is the only one. */
  readonly cells: Cells | undefined;
}

/** Whether this process alone writes the database. Only then may rows be cached. */
export const ownsDatabase = ({ config, database }: Pick<Kernel, "config" | "database">) =>
  config.role === "all" && database.file !== undefined;

/**
 * Everything that a plugin registers. The host defines `rateLimitRules`, `secretPatterns` and `eventTypes` as soon as the plugin is
 * built; src/server/app.ts collects the rest and makes the two surfaces of it.
 */
export interface PluginParts<Service> {
  /** The result of `host.use(plugin)` for other plugins. */
  service: Service;

  /** Routes of the web surface. */
  web?: AnyElysia;
  /** Routes of the backend surface. */
  backend?: AnyElysia;
  /**
   * Routes below /api/, or one of `latePrefixes`, for all that is not asked for all the time. Each function is called at the first request for one of its routes. No
   * route of `web` or `backend` may match their paths, since it would win.
   */
  lateRoutes?: { web?: readonly LateRoutes[]; backend?: readonly LateRoutes[] };
  /** The starts of paths, such as `/v1/`, below which a late route may lie beside /api/. */
  latePrefixes?: readonly string[];
  /** WebSocket endpoints of the web surface. */
  sockets?: SocketRoute[];
  /** Recognizes requests to host names other than Berth's own, on the web surface. */
  virtualHost?: VirtualHost;

  /** Rules for `limits.take()` and the like: by name, with rates that RATE_LIMITS may override. */
  rateLimitRules?: RateLimitRules;
  /** Paths to which the `default` rule does not apply, because their routes count requests in their own way. */
  selfLimitedPaths?: SelfLimitedPath[];

  /** Paths that pages of other origins may call without credentials, each of them as its plugin decides. */
  crossOriginPaths?: CrossOriginPath[];

  /** Paths whose end is a secret. Logs show the first group of the pattern, and an ellipsis for the rest. */
  secretPaths?: RegExp[];
  /** Paths whose errors have the form of another service, for the clients of that service. */
  errorFormats?: ErrorFormat[];
  /** Forms of secrets, such as a key's prefix, that logs black out in any text. With the `g` flag, and linear in time. */
  secretPatterns?: RegExp[];

  /** Types of the events that this plugin records, such as `tide.entered`: webhooks and readers of the stream can then choose them. */
  eventTypes?: readonly string[];

  /** OpenAPI paths of the web surface that are not routes, such as those of `sockets`. */
  documentedPaths?: OpenApiDocument["paths"];
  /** OpenAPI security schemes by name, for `documentGuard(names)` in this plugin's guards. */
  securitySchemes?: Record<string, object>;

  /**
   * Changes of the plugin's own tables, in order: each runs once, all or nothing, before `start`, where the backend runs. A released one
   * never changes; the next version adds one at the end. For third-party plugins; the built-in ones are in `migrations/`.
   */
  migrations?: readonly Migration[];

  /**
   * Refuses a start for which the settings, or the rows that they must fit, are wrong: throws, and changes nothing. Called before any plugin
   * starts, and by a trial (`berth migrate --dry-run`), which starts none. So what would make `start` fail for such a reason belongs here.
   */
  check?: () => Promise<void> | void;
  /** Starts background work. Called in the order of the plugins, only where the backend runs. */
  start?: () => Promise<void> | void;
  /**
   * Stops it. Called at shutdown in reverse order, for plugins with sockets last; must return within the configured
   * grace period. Also called if `start` failed and, for plugins with sockets, if `start` was never called.
   */
  stop?: () => Promise<void> | void;
  /** Throws, or returns false, while the plugin can't work; `/readyz` shows this under the plugin's name. */
  ready?: () => boolean | Promise<boolean>;
}

export interface Plugin<Service> {
  readonly name: string;
  setup(host: Host): PluginParts<Service>;
}

/** The type of `host.use(plugin)`. */
export type ServiceOf<P> = P extends Plugin<infer Service> ? Service : never;

export interface Host {
  readonly kernel: Kernel;
  /** Returns another plugin's service; builds the plugin on first use. Throws StartError for a cycle, with its path. */
  use<Service>(plugin: Plugin<Service>): Service;
  /**
   * Returns the service of a built-in plugin by its name, for third-party plugins, which can't import it. They are built
   * after all built-in ones.
   */
  named(name: string): unknown;
}

/**
 * Declares a plugin.
 *
 * @example
 * export const agents = plugin("agents", (host) => {
 *   const { guards } = host.use(auth);
 *   const store = createAgentStore(host.kernel);
 *   return { service: store, web: webRoutes(store, guards) };
 * });
 */
export function plugin<Service>(name: string, setup: (host: Host) => PluginParts<Service>): Plugin<Service> {
  return { name, setup };
}
