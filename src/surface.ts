// One listener's front door: everything that holds for every request, whatever route it is for.
import type { AnyElysia } from "elysia";
import { createClientAddress } from "./client-address.ts";
import { AppError, forbidden } from "./errors.ts";
import { attachContext, errorResponse, type RequestContext, type SocketRoute, type WebServer } from "./http.ts";
import { ownOrigins } from "./origins.ts";
import type { Kernel } from "./plugin.ts";

export interface Surface {
  name: "web" | "backend";
  /** Answers a request that came over the network. Undefined: it became a WebSocket. */
  fetch(request: Request, server: WebServer): Promise<Response | undefined>;
  /** Answers a request made inside this process. */
  handle(request: Request): Promise<Response>;
}

/** Time to the head of an answer, for both surfaces. */
export const servedTimes = ({ metrics }: Pick<Kernel, "metrics">) =>
  metrics.histogram("berth_http_seconds", "Time to the head of an answer.", ["surface", "class"]);
export type ServedTimes = ReturnType<typeof servedTimes>;

const FORWARDING_HEADERS = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Wraps the routes of one surface: request id, client address, foreign origins, the default rate limit, metrics, CORS.
 * `app` must answer every request, errors included.
 */
export function createSurface(
  name: Surface["name"],
  app: AnyElysia,
  kernel: Kernel,
  served: ServedTimes,
  sockets: SocketRoute[],
): Surface {
  const { config, log, limits } = kernel;
  const address = createClientAddress(config.trustedProxies);
  const origins = ownOrigins(config);
  const byClass = [0, 1, 2, 3, 4, 5].map((n) => served.labels({ surface: name, class: `${n}xx` }));

  async function answer(request: Request, context: RequestContext, network: boolean): Promise<Response> {
    attachContext(request, context);
    try {
      const origin = request.headers.get("origin");
      if (origin !== null && request.method === "OPTIONS") return preflight(origin);
      refuseForeign(request, origin);
      if (network && !isPlatformPost(request)) takeDefaultLimit(request, context);
      return decorate(await app.fetch(request), context, origin);
    } catch (error) {
      return decorate(errorResponse(error, request, log), context, request.headers.get("origin"));
    }
  }

  /** Cookies ride on requests that other sites cause; bearer tokens don't. */
  function refuseForeign(request: Request, origin: string | null): void {
    if (SAFE_METHODS.has(request.method) || request.headers.has("authorization")) return;
    const site = request.headers.get("sec-fetch-site");
    const foreign = origin !== null ? !origins.has(origin) : site === "cross-site" || site === "same-site";
    if (foreign)
      throw forbidden("FOREIGN_ORIGIN", "This request comes from another site. Send it from Berth's own address.");
  }

  function takeDefaultLimit(request: Request, context: RequestContext): void {
    const decision = limits.take("default", context.address);
    if (decision.allowed) return;
    const { pathname } = new URL(request.url);
    log.debug("rate limited", { surface: name, address: context.address, path: pathname });
    throw limits.refusal(decision);
  }

  function preflight(origin: string): Response {
    if (!config.corsOrigins.includes(origin)) return new Response(null, { status: 403 });
    return new Response(null, {
      status: 204,
      headers: {
        "access-control-allow-origin": origin,
        "access-control-allow-credentials": "true",
        "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
        "access-control-allow-headers": "authorization, content-type, idempotency-key",
        "access-control-max-age": "600",
        vary: "origin",
      },
    });
  }

  function decorate(response: Response, context: RequestContext, origin: string | null): Response {
    const { headers } = response;
    headers.set("x-request-id", context.id);
    headers.set("x-content-type-options", "nosniff");
    for (const cookie of context.cookies) headers.append("set-cookie", cookie);
    if (origin !== null && config.corsOrigins.includes(origin)) {
      headers.set("access-control-allow-origin", origin);
      headers.set("access-control-allow-credentials", "true");
      headers.append("vary", "origin");
    }
    return response;
  }

  async function upgrade(request: Request, server: WebServer): Promise<Response | undefined> {
    const { pathname } = new URL(request.url);
    const route = sockets.find((candidate) => pathname.startsWith(candidate.prefix));
    if (!route) return answer(request, networkContext(request, server), true);
    attachContext(request, networkContext(request, server));
    const session = await route.accept(request, pathname.slice(route.prefix.length));
    const headers = session.protocol ? { "sec-websocket-protocol": session.protocol } : {};
    if (server.upgrade(request, { data: session, headers })) return undefined;
    const error = new AppError(400, "UPGRADE_FAILED", "This is not a WebSocket request that can be accepted.");
    return errorResponse(error, request, log);
  }

  function networkContext(request: Request, server: WebServer): RequestContext {
    const socket = server.requestIP(request)?.address ?? "";
    const forwarded = FORWARDING_HEADERS.some((header) => request.headers.has(header));
    return {
      id: requestId(),
      address: address(socket, request.headers.get("x-forwarded-for")),
      direct: !forwarded && isLoopbackAddress(socket),
      cookies: [],
    };
  }

  return {
    name,
    async fetch(request, server) {
      if (request.headers.get("upgrade")?.toLowerCase() === "websocket") return upgrade(request, server);
      const started = performance.now();
      const response = await answer(request, networkContext(request, server), true);
      byClass[Math.floor(response.status / 100)]?.observe((performance.now() - started) / 1000);
      return response;
    },
    handle: (request) => answer(request, { id: requestId(), address: "", direct: false, cookies: [] }, false),
  };
}

/** Platforms post for all their bots from a few addresses: these posts are limited per bot, by their route. Contract §1. */
const PLATFORM_POSTS = ["/hooks/", "/api/hooks/"];
const isPlatformPost = ({ method, url }: Request) => {
  if (method !== "POST") return false;
  const path = url.indexOf("/", "https://".length);
  return PLATFORM_POSTS.some((prefix) => url.startsWith(prefix, path));
};

let counter = 0;
const run = crypto.randomUUID().slice(0, 8);

/** Unique over restarts, short, and free of meaning. */
const requestId = () => `${run}-${(++counter).toString(36)}`;

const isLoopbackAddress = (address: string) =>
  address === "::1" || address.startsWith("127.") || address.startsWith("::ffff:127.");
