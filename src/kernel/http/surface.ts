// One listener's front door: everything that holds for every request, whatever route it is for.
import type { AnyElysia } from "elysia";
import { AppError, forbidden } from "../errors.ts";
import type { Kernel } from "../plugin.ts";
import { type AgentHost, createAgentHostResolver, rewriteToAgentPath } from "./agent-hosts.ts";
import { createClientAddressResolver } from "./client-address.ts";
import { attachContext, errorResponse, type RequestContext, type SocketRoute, type WebServer } from "./http.ts";
import { trustedOrigins } from "./trusted-origins.ts";

export interface Surface {
  name: "web" | "backend";
  /** Answers a request that came over the network. Undefined: it became a WebSocket. */
  fetch(request: Request, server: WebServer): Promise<Response | undefined>;
  /** Answers a request made inside this process. */
  handle(request: Request): Promise<Response>;
}

/** Time to the head of an answer, for both surfaces. */
export const createRequestDurations = ({ metrics }: Pick<Kernel, "metrics">) =>
  metrics.histogram("berth_http_seconds", "Time to the head of an answer.", ["surface", "class"]);
export type RequestDurations = ReturnType<typeof createRequestDurations>;

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

const CORS_HEADERS = {
  "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
  "access-control-allow-headers": "authorization, content-type, idempotency-key",
  "access-control-max-age": "600",
};
/** What a page of another origin may read beside the usual. */
const EXPOSED_HEADERS =
  "x-request-id, retry-after, ratelimit, ratelimit-policy, deprecation, link, idempotency-replayed";

/**
 * Wraps the routes of one surface: request id, client address, foreign origins, the default rate limit, metrics, CORS.
 * `app` must answer every request, errors included.
 */
export function createSurface(
  name: Surface["name"],
  app: AnyElysia,
  kernel: Kernel,
  durations: RequestDurations,
  socketRoutes: SocketRoute[],
): Surface {
  const { config, log, limits, backend } = kernel;
  const address = createClientAddressResolver(config.trustedProxies);
  const readsForwarded = config.trustedProxies.length > 0;
  const origins = trustedOrigins(config, name);
  const resolveAgentHost = createAgentHostResolver(config);
  const durationsByClass = [0, 1, 2, 3, 4, 5].map((n) => durations.labels({ surface: name, class: `${n}xx` }));

  async function respond(request: Request, context: RequestContext, isFromNetwork: boolean): Promise<Response> {
    attachContext(request, context);
    const origin = request.headers.get("origin");
    try {
      if (origin !== null && request.method === "OPTIONS") {
        return addHeaders(preflight(origin, context), context, origin);
      }
      rejectForeignOrigin(request, origin, context);
      if (isFromNetwork) admitRequest(request, context);
      return addHeaders(await app.fetch(request), context, origin);
    } catch (error) {
      return addHeaders(errorResponse(error, request, log), context, origin);
    }
  }

  /** Cookies ride on requests that other sites cause; bearer tokens don't. */
  function rejectForeignOrigin(
    { method, headers }: Request,
    origin: string | null,
    { agentOrigin }: RequestContext,
  ): void {
    if (SAFE_METHODS.has(method) || headers.get("authorization")?.startsWith("Bearer ")) return;
    const site = headers.get("sec-fetch-site");
    const isOwn = (origin: string) => (agentOrigin === undefined ? origins.has(origin) : origin === agentOrigin);
    const isForeign = origin !== null ? !isOwn(origin) : site === "cross-site" || site === "same-site";
    if (isForeign)
      throw forbidden("FOREIGN_ORIGIN", "This request comes from another site. Send it from Berth's own address.");
  }

  function admitRequest(request: Request, context: RequestContext): void {
    // A Host that can be none, or CONNECT: such a request has no URL that means us.
    const { url } = request;
    if (!url.startsWith("http") || !URL.canParse(url))
      throw new AppError(400, "BAD_REQUEST", "The Host header names no host.");
    if (isPlatformPost(request) || (name === "web" && isStreamFile(request)) || isServiceRequest(request)) return;
    const decision = limits.take("default", context.address);
    if (decision.allowed) return;
    log.debug("rate limited", { surface: name, address: context.address, path: requestPath(request) });
    throw limits.tooManyRequests(decision);
  }

  /** The web surface in another process speaks for all its clients, whom it has counted itself. */
  function isServiceRequest({ headers }: Request): boolean {
    if (name === "web") return false;
    const bearer = headers.get("authorization")?.slice("Bearer ".length);
    return bearer !== undefined && backend.tokens.verify(bearer) !== undefined;
  }

  const isCorsAllowed = (origin: string, { agentOrigin }: RequestContext) =>
    agentOrigin === undefined && config.corsOrigins.includes(origin);

  function preflight(origin: string, context: RequestContext): Response {
    if (!isCorsAllowed(origin, context)) {
      throw forbidden("FOREIGN_ORIGIN", "Pages of this origin may not call Berth. CORS_ORIGINS lists those that may.");
    }
    return new Response(null, { status: 204, headers: CORS_HEADERS });
  }

  function addHeaders(response: Response, context: RequestContext, origin: string | null): Response {
    const { headers } = response;
    headers.set("x-request-id", context.id);
    headers.set("x-content-type-options", "nosniff");
    for (const cookie of context.cookies) headers.append("set-cookie", cookie);
    if (config.corsOrigins.length > 0) headers.append("vary", "origin");
    if (origin !== null && isCorsAllowed(origin, context)) {
      headers.set("access-control-allow-origin", origin);
      headers.set("access-control-allow-credentials", "true");
      headers.set("access-control-expose-headers", EXPOSED_HEADERS);
    }
    return response;
  }

  /** Undefined: it is a WebSocket now. */
  async function upgrade(
    route: SocketRoute,
    path: string,
    request: Request,
    server: WebServer,
  ): Promise<Response | undefined> {
    const context = networkContext(request, server);
    attachContext(request, context);
    try {
      admitRequest(request, context);
      const session = await route.accept(request, path.slice(route.prefix.length));
      // Left out, Bun confirms the first that was offered, which may be somebody's token.
      const headers = { "sec-websocket-protocol": session.protocol ?? "" };
      if (server.upgrade(request, { data: session, headers })) return undefined;
      throw new AppError(400, "UPGRADE_FAILED", "This is not a WebSocket request that can be accepted.");
    } catch (error) {
      return addHeaders(errorResponse(error, request, log), context, request.headers.get("origin"));
    }
  }

  function networkContext(request: Request, server: WebServer, agentHost?: AgentHost): RequestContext {
    const socketAddress = server.requestIP(request)?.address ?? "";
    const forwardedFor = readsForwarded ? request.headers.get("x-forwarded-for") : null;
    const agentOrigin = agentHost?.origin;
    return { id: requestId(), address: address(socketAddress, forwardedFor), socketAddress, cookies: [], agentOrigin };
  }

  return {
    name,
    async fetch(request, server) {
      const agentHost = name === "web" ? resolveAgentHost(request) : undefined;
      if (!agentHost && socketRoutes.length > 0 && request.headers.get("upgrade")?.toLowerCase() === "websocket") {
        const path = requestPath(request);
        const route = socketRoutes.find(({ prefix }) => path.startsWith(prefix));
        if (route) return upgrade(route, path, request, server);
      }
      const started = performance.now();
      const context = networkContext(request, server, agentHost);
      const response = await respond(agentHost ? rewriteToAgentPath(request, agentHost) : request, context, true);
      durationsByClass[Math.floor(response.status / 100)]?.observe((performance.now() - started) / 1000);
      return response;
    },
    handle: (request) => respond(request, { id: requestId(), address: "", socketAddress: "", cookies: [] }, false),
  };
}

/** A request with a Host that can be none has a URL without one. */
const requestPath = ({ url }: Request) => URL.parse(url)?.pathname ?? "";

/** Platforms post for all their bots from a few addresses: these posts are limited per bot, by their route. Contract §1. */
const PLATFORM_POSTS = ["/hooks/", "/api/hooks/"];
const isPlatformPost = ({ method, url }: Request) => {
  if (method !== "POST") return false;
  const path = url.indexOf("/", "https://".length);
  return PLATFORM_POSTS.some((prefix) => url.startsWith(prefix, path));
};

/** Players ask for a piece every second or two, many from one address. Their route limits who asks in vain. Contract §1. */
const STREAM_PREFIX = "/live/";
const isStreamFile = ({ method, url }: Request) => {
  if (method !== "GET") return false;
  const path = url.indexOf("/", "https://".length);
  return url.startsWith(STREAM_PREFIX, path) && url.indexOf("/", path + STREAM_PREFIX.length) > 0;
};

let requestCounter = 0;
const processPrefix = crypto.randomUUID().slice(0, 8);

/** Unique over restarts, short, and free of meaning. */
const requestId = () => `${processPrefix}-${(++requestCounter).toString(36)}`;
