// The kernel's own settings: addresses, data, keys, log, mail, limits, proxies, plugins and shutdown.

import {
  absolutePath,
  anyText,
  bindHost,
  connectionCount,
  databaseUrl,
  duration,
  hostName,
  httpUrl,
  mailSender,
  network,
  oneOf,
  origin,
  port,
  rateLimits,
  rootKey,
  traceHeaders,
  urlWithScheme,
} from "./parsers.ts";
import { baseUrlHost, hostNameOf, listOf, optional, type ValuesOf, withDefault } from "./variable.ts";

/** Where a listener can be reached from this machine. */
function localAddress(host: string, port: string): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

const placeVariables = {
  HOST: withDefault(bindHost, "127.0.0.1", "Address the web listener binds."),
  PORT: withDefault(port, "3000", "Port of the web listener; 0 takes a free one."),
  BACKEND_HOST: withDefault(bindHost, "127.0.0.1", "Address the backend listener binds."),
  BACKEND_PORT: withDefault(port, "3001", "Port of the backend listener; 0 takes a free one."),
  BACKEND_URL: withDefault(
    httpUrl,
    {
      description: "from `BACKEND_HOST` and `BACKEND_PORT`",
      compute: ({ text }) => localAddress(text("BACKEND_HOST"), text("BACKEND_PORT")),
    },
    "Where a process with `ROLE=web` finds the backend.",
  ),
  ROLE: withDefault(
    oneOf("all", "web", "backend"),
    "all",
    "Which surfaces this process serves. Any role but `all` needs a remote `DATABASE_URL` and an explicit `SECRET_KEY`.",
  ),
  BASE_URL: withDefault(
    origin,
    { description: "`http://localhost:$PORT`", compute: ({ text }) => `http://localhost:${text("PORT")}` },
    "Public address: sign-in messages, mail links, OAuth redirects, cookie security.",
  ),
  AGENTS_DOMAIN: withDefault(hostName, baseUrlHost, "Agents answer at `<subdomain>.$AGENTS_DOMAIN`."),
  DATA_DIR: withDefault(
    absolutePath,
    "./data",
    "Folder of the database, key file, backups, uploads, mail outbox and stream segments.",
  ),
  DATABASE_URL: withDefault(
    databaseUrl,
    { description: "`file:$DATA_DIR/berth.db`", compute: ({ text }) => `file:${text("DATA_DIR")}/berth.db` },
    "Database: a file, or a libSQL server.",
    "address",
  ),
  DATABASE_AUTH_TOKEN: optional(anyText, "Token for a remote database.", "secret"),
  SECRET_KEY: optional(
    rootKey,
    "Root key of sessions, service tokens and stored secrets. Unset: made at the first start in `$DATA_DIR/secret.key`.",
    "secret",
  ),
  SECRET_KEY_PREVIOUS: optional(
    rootKey,
    "The root key before; still decrypts, until `berth vault rotate` has sealed every secret under SECRET_KEY.",
    "secret",
  ),
};

const outputVariables = {
  LOG_LEVEL: withDefault(oneOf("debug", "info", "warn", "error"), "info", "The least serious line that is logged."),
  LOG_FORMAT: withDefault(
    oneOf("pretty", "json"),
    { description: "`pretty` on a terminal, else `json`", compute: ({ terminal }) => (terminal ? "pretty" : "json") },
    "How log lines look.",
  ),
  SMTP_URL: optional(
    urlWithScheme("smtp", "smtps"),
    "Mail server. Unset: each mail becomes an `.eml` file in `$DATA_DIR/outbox`.",
    "address",
  ),
  MAIL_FROM: withDefault(
    mailSender,
    {
      description: "`Berth <berth@…>` at the host of `BASE_URL`",
      compute: ({ text }) => `Berth <berth@${hostNameOf(text("BASE_URL"))}>`,
    },
    "Sender of all mail.",
  ),
};

const requestVariables = {
  RATE_LIMITS: withDefault(rateLimits, "on", 'All limits, or overrides by rule: `{"sign-up":"10/m,60/h"}`.'),
  TRUSTED_PROXIES: listOf(network, "Proxies whose forwarding headers are believed."),
  CONNECTIONS_PER_ADDRESS: optional(
    connectionCount,
    "Most open connections of one address that is no trusted proxy. Unset: a quarter of the limit of open files, at most 4096.",
  ),
  CORS_ORIGINS: listOf(
    origin,
    "Foreign origins that browsers may call from. Those of the same site may use the visitor's session.",
  ),
};

const extensionVariables = {
  PLUGINS: listOf(absolutePath, "Files of third-party plugins."),
  OUTBOUND_ALLOW: listOf(
    network,
    "Private networks that addresses given by users may reach all the same. A network has no port: 127.0.0.1 opens every service on this machine to every user.",
  ),
};

const operationVariables = {
  METRICS_TOKEN: optional(anyText, "Bearer token for `/metrics`.", "secret"),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    httpUrl,
    "Collector that gets a trace of each turn by OTLP over HTTP, at `/v1/traces` below this address. Unset: there are no traces.",
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optional(
    traceHeaders,
    "Headers for the collector: `name=value`, separated by commas, values percent-encoded.",
    "secret",
  ),
  OTEL_SERVICE_NAME: withDefault(anyText, "berth", "Name of this service in traces."),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: withDefault(
    oneOf("false", "true"),
    "false",
    "Whether traces hold what people, agents and tools say.",
  ),
  SHUTDOWN_GRACE: withDefault(duration, "20s", "How long turns in flight may finish after SIGTERM."),
};

/** The kernel's variables in groups, so that docs/configuration.md can show related variables of a capability between them. */
export const kernelGroups = {
  place: { variables: placeVariables },
  output: { variables: outputVariables },
  requests: { variables: requestVariables },
  extensions: { variables: extensionVariables },
  operation: { variables: operationVariables },
};

export type KernelValues = ValuesOf<
  typeof placeVariables &
    typeof outputVariables &
    typeof requestVariables &
    typeof extensionVariables &
    typeof operationVariables
>;

/** The kernel's settings, nested by subject. */
export type KernelSettings = ReturnType<typeof buildKernelSettings>;

/** For sends to a messaging platform that are under way when the service ends. */
const SEND_GRACE_MS = 2_000;

export function buildKernelSettings(v: KernelValues) {
  return {
    role: v.ROLE,
    web: { host: v.HOST, port: v.PORT },
    /** `url`: where a `ROLE=web` process finds the backend. */
    backend: { host: v.BACKEND_HOST, port: v.BACKEND_PORT, url: v.BACKEND_URL },
    /** An origin, without a slash at its end. */
    baseUrl: v.BASE_URL,
    /** Host, with its port if it has one. */
    agentsDomain: v.AGENTS_DOMAIN,
    /** Absolute. */
    dataDir: v.DATA_DIR,
    /** `file` is the absolute path of a local database; a remote one has none. */
    database: { ...v.DATABASE_URL, authToken: v.DATABASE_AUTH_TOKEN },
    /** Undefined: the vault makes one in the data folder. */
    secretKey: v.SECRET_KEY,
    secretKeyPrevious: v.SECRET_KEY_PREVIOUS,
    log: { level: v.LOG_LEVEL, format: v.LOG_FORMAT },
    smtp: { url: v.SMTP_URL, from: v.MAIL_FROM },
    rateLimits: v.RATE_LIMITS,
    /** Networks in CIDR form. */
    trustedProxies: v.TRUSTED_PROXIES,
    /** Undefined: it depends on the limit of descriptors. */
    connectionsPerAddress: v.CONNECTIONS_PER_ADDRESS,
    corsOrigins: v.CORS_ORIGINS,
    /** Absolute paths. */
    plugins: v.PLUGINS,
    /** Networks in CIDR form. */
    outboundAllow: v.OUTBOUND_ALLOW,
    metricsToken: v.METRICS_TOKEN,
    /** Undefined: there are no traces. */
    traces: v.OTEL_EXPORTER_OTLP_ENDPOINT
      ? {
          url: `${v.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`,
          headers: v.OTEL_EXPORTER_OTLP_HEADERS ?? {},
          serviceName: v.OTEL_SERVICE_NAME,
          withContents: v.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT === "true",
        }
      : undefined,
    shutdownGraceMs: v.SHUTDOWN_GRACE,
    sendGraceMs: SEND_GRACE_MS,
  };
}
