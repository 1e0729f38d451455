// Lists the origins whose pages may send requests that carry a user's cookie, and the headers that those of CORS_ORIGINS may send.
import { type Config, isLoopbackHost } from "../config/config.ts";
import type { Log } from "../telemetry/log.ts";

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

/** Returns the origins of a URL. For a loopback host, these are all names of this machine. */
function originVariants(url: string): string[] {
  const { origin, protocol, hostname, port } = new URL(url);
  if (!isLoopbackHost(hostname)) return [origin];
  return [origin, ...LOOPBACK_NAMES.map((name) => `${protocol}//${name}${port && `:${port}`}`)];
}

/** Returns Berth's own origin and those of CORS_ORIGINS; for the backend also its own, for its documentation page. */
export function trustedOrigins(
  { baseUrl, corsOrigins, backend }: Pick<Config, "baseUrl" | "corsOrigins" | "backend">,
  surfaceName: "web" | "backend",
): ReadonlySet<string> {
  return new Set([
    ...originVariants(baseUrl),
    ...corsOrigins,
    ...(surfaceName === "backend" ? originVariants(backend.url) : []),
  ]);
}

/** Request headers that pages of CORS_ORIGINS may send beside the safelisted ones (Fetch, CORS protocol). */
const ALLOWED_HEADERS = [
  ...["authorization", "content-type", "idempotency-key", "last-event-id", "user-agent", "x-api-key"],
  ...["x-conversation-id", "x-openwebui-chat-id", "x-vercel-ai-ui-message-stream"],
];
/** Of the clients of OpenAI and Anthropic, which add such headers from version to version. */
const ALLOWED_PREFIXES = ["x-stainless-", "openai-", "anthropic-"];

/** The headers of the response to a preflight. */
export function preflightHeaders({ headers }: Request): Record<string, string> {
  const asked = (headers.get("access-control-request-headers") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase());
  const ofClients = asked.filter(
    (name) => /^[a-z0-9-]+$/.test(name) && ALLOWED_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  return {
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers": [...ALLOWED_HEADERS, ...ofClients].join(", "),
    "access-control-max-age": "600",
  };
}

/** Origins that are named in the log: whoever sends requests can make up any number of them. */
const MAX_NAMED = 100;
const MAX_ORIGIN = 200;

/** Writes one line for each origin whose pages are refused, since a browser shows the page nothing of the reason. */
export function createRefusedOrigins(log: Log) {
  const named = new Set<string>();
  return (given: string): void => {
    const origin = given.slice(0, MAX_ORIGIN);
    if (named.has(origin) || named.size >= MAX_NAMED) return;
    named.add(origin);
    log.info("a page of another origin was refused; if it is yours, add its origin to CORS_ORIGINS", { origin });
  };
}
