// Applies to every request of one listener, whatever its route: id, client address, origin check, default rate limit, CORS.
import type { AnyElysia } from "elysia";
import { runForRequest } from "../audit/current-actor.ts";
import { AppError, forbidden } from "../errors.ts";
import type { Kernel } from "../plugin.ts";
import type { Histogram } from "../telemetry/metrics.ts";
import { withWarnings } from "./body/ignored-fields.ts";
import { createClientAddressResolver } from "./client-address.ts";
import {
  CROSS_ORIGIN_PREFLIGHT,
  type CrossOriginPath,
  createCrossOriginFinder,
  crossOriginHeaders,
} from "./cross-origin-paths.ts";
import { type ErrorPaths, errorResponse } from "./error-response.ts";
import { attachContext, createRequestId, isLocalRequest, type RequestContext } from "./request-context.ts";
import { createSelfLimitedCheck, type SelfLimitedPath } from "./self-limited-paths.ts";
import { createRefusedOrigins, preflightHeaders, trustedOrigins } from "./trusted-origins.ts";
import type { VirtualHost, VirtualHostRequest } from "./virtual-hosts.ts";
import type { SocketRoute, WebServer } from "./web-sockets.ts";

export interface Surface {
  name: "web" | "backend";
  /** Responds to a request from the network. Undefined: the request became a WebSocket. */
  fetch(request: Request, server: WebServer): Promise<Response | undefined>;
  /** Responds to a request from inside this process. */
  handle(request: Request): Promise<Response>;
}

/** The hooks of plugins that a surface applies; all optional. See `PluginParts`. */
export interface SurfaceHooks extends ErrorPaths {
  sockets?: readonly SocketRoute[];
  selfLimitedPaths?: readonly SelfLimitedPath[];
  crossOriginPaths?: readonly CrossOriginPath[];
  virtualHosts?: readonly VirtualHost[];
}

/** The histograms of the time until a response's headers are ready, for both surfaces. */
export function createRequestDurations({ metrics }: Pick<Kernel, "metrics">) {
  const byClass = metrics.histogram("berth_http_seconds", "Time to response headers.", ["surface", "class"]);
  const byOperation = metrics.histogram(
    "berth_http_operation_seconds",
    "Time to response headers of each operation of the API.",
    ["operation"],
    OPERATION_SECONDS,
  );
  const operations = new Map<string, Histogram>();
  return {
    byClass,
    /** The operations are those of the API document, so their number is bounded. */
    ofOperation(operation: string): Histogram {
      let series = operations.get(operation);
      if (!series) {
        series = byOperation.labels({ operation });
        operations.set(operation, series);
      }
      return series;
    },
  };
}
export type RequestDurations = ReturnType<typeof createRequestDurations>;

/** Few, since there are some hundred operations. */
const OPERATION_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60];

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Response headers that a page of another origin may read beside the safelisted ones (Fetch, CORS protocol). */
const EXPOSED_HEADERS =
  "x-request-id, retry-after, ratelimit, ratelimit-policy, deprecation, link, idempotency-replayed";

/**
 * Wraps the routes of one surface with everything that holds for every request. `app` must respond to every request,
 * errors included.
 */
export function createSurface(
  name: Surface["name"],
  app: AnyElysia,
  kernel: Kernel,
  durations: RequestDurations,
  {
    sockets = [],
    selfLimitedPaths = [],
    crossOriginPaths = [],
    virtualHosts = [],
    secretPaths,
    errorFormats,
  }: SurfaceHooks = {},
): Surface {
  const { config, log, limits, backend } = kernel;
  const address = createClientAddressResolver(config.trustedProxies);
  const readsForwarded = config.trustedProxies.length > 0;
  const origins = trustedOrigins(config, name);
  const noteRefused = createRefusedOrigins(log);
  const errorPaths = { secretPaths, errorFormats };
  const isSelfLimited = createSelfLimitedCheck(name, selfLimitedPaths);
  const findCrossOriginPath = createCrossOriginFinder(name, crossOriginPaths);
  const durationsByClass = [2, 3, 4, 5].map((n) => durations.byClass.labels({ surface: name, class: `${n}xx` }));

  async function respond(request: Request, context: RequestContext, isFromNetwork: boolean): Promise<Response> {
    attachContext(request, context);
    const origin = request.headers.get("origin");
    const crossOriginPath = origin === null ? undefined : findCrossOriginPath(request);
    try {
      if (crossOriginPath && origin !== null) {
        return await respondAcrossOrigins(crossOriginPath, request, context, isFromNetwork, origin);
      }
      if (origin !== null && request.method === "OPTIONS") {
        return addHeaders(preflight(request, origin, context), context, origin);
      }
      rejectForeignOrigin(request, origin, context);
      if (isFromNetwork) admitRequest(request, context);
      const response = await app.fetch(request);
      const { ignoredFields } = context;
      return addHeaders(ignoredFields ? await withWarnings(response, ignoredFields) : response, context, origin);
    } catch (error) {
      return addHeaders(errorResponse(error, request, log, errorPaths), context, origin);
    } finally {
      context.hasEnded = true;
    }
  }

  /** Responds below a path whose plugin names the origins itself. */
  async function respondAcrossOrigins(
    { allows }: CrossOriginPath,
    request: Request,
    context: RequestContext,
    isFromNetwork: boolean,
    origin: string,
  ): Promise<Response> {
    let isAllowed = false;
    const finish = (response: Response) => {
      const { headers } = addHeaders(response, context, null);
      if (config.corsOrigins.length === 0) headers.append("vary", "origin");
      if (isAllowed)
        for (const [header, value] of Object.entries(crossOriginHeaders(origin))) headers.set(header, value);
      return response;
    };
    try {
      // A preflight counts, too: it looks for the agent.
      if (isFromNetwork) admitRequest(request, context);
      isAllowed = await allows(request, origin);
      if (!isAllowed) throw forbidden("FOREIGN_ORIGIN", "Pages of this origin may not call this address.");
      if (request.method === "OPTIONS") {
        return finish(new Response(null, { status: 204, headers: CROSS_ORIGIN_PREFLIGHT }));
      }
      return finish(await app.fetch(request));
    } catch (error) {
      return finish(errorResponse(error, request, log, errorPaths));
    }
  }

  /** Browsers send cookies with requests that other sites cause (CSRF), but never bearer tokens. */
  function rejectForeignOrigin(
    { method, headers }: Request,
    origin: string | null,
    { pageOrigin }: RequestContext,
  ): void {
    if (SAFE_METHODS.has(method) || headers.get("authorization")?.startsWith("Bearer ")) return;
    const site = headers.get("sec-fetch-site");
    const isOwn = (origin: string) => (pageOrigin === undefined ? origins.has(origin) : origin === pageOrigin);
    const isForeign = origin !== null ? !isOwn(origin) : site === "cross-site" || site === "same-site";
    if (!isForeign) return;
    if (origin !== null && pageOrigin === undefined) noteRefused(origin);
    throw forbidden("FOREIGN_ORIGIN", "This request comes from another site. Send it from Berth's own address.");
  }

  function admitRequest(request: Request, context: RequestContext): void {
    // With an invalid Host header, or for CONNECT, Bun gives a URL that is relative or can't be parsed.
    const { url } = request;
    if (!url.startsWith("http") || !URL.canParse(url))
      throw new AppError(400, "BAD_REQUEST", "The Host header is not a valid host.");
    // Bun joins repeated headers with commas, and takes the first one for the URL; a proxy may have taken another.
    if (request.headers.get("host")?.includes(","))
      throw new AppError(400, "BAD_REQUEST", "Send one Host header (RFC 9112, section 3.2).");
    if (isMonitoring(request) || isSelfLimited(request) || isServiceRequest(request)) return;
    const decision = limits.take("default", context.address);
    if (decision.allowed) return;
    log.debug("rate limited", { surface: name, address: context.address, path: requestPath(request) });
    throw limits.tooManyRequests(decision);
  }

  /** Probes of an orchestrator are never refused: it would restart a service that is merely busy. */
  function isMonitoring(request: Request): boolean {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    const path = pathText(request.url);
    if (path === "/healthz" || path === "/readyz") return true;
    return path === "/metrics" && name === "backend" && isLocalRequest(request);
  }

  /** A web surface in another process sends the requests of all its clients, and has counted each of them itself. */
  function isServiceRequest({ headers }: Request): boolean {
    if (name === "web") return false;
    const bearer = headers.get("authorization")?.slice("Bearer ".length);
    return bearer !== undefined && backend.tokens.verify(bearer) !== undefined;
  }

  const isCorsAllowed = (origin: string, { pageOrigin }: RequestContext) =>
    pageOrigin === undefined && config.corsOrigins.includes(origin);

  function preflight(request: Request, origin: string, context: RequestContext): Response {
    if (!isCorsAllowed(origin, context)) {
      if (context.pageOrigin === undefined) noteRefused(origin);
      throw forbidden("FOREIGN_ORIGIN", "Pages of this origin may not call Berth. CORS_ORIGINS lists those that may.");
    }
    return new Response(null, { status: 204, headers: preflightHeaders(request) });
  }

  function addHeaders(response: Response, context: RequestContext, origin: string | null): Response {
    const { headers } = response;
    if (response !== context.complete) {
      headers.set("x-request-id", context.id);
      headers.set("x-content-type-options", "nosniff");
    }
    for (const cookie of context.cookies) headers.append("set-cookie", cookie);
    if (config.corsOrigins.length > 0) headers.append("vary", "origin");
    if (origin !== null && isCorsAllowed(origin, context)) {
      headers.set("access-control-allow-origin", origin);
      headers.set("access-control-allow-credentials", "true");
      headers.set("access-control-expose-headers", EXPOSED_HEADERS);
    }
    return response;
  }

  /** Returns undefined when the request has become a WebSocket. */
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
      session.peer = server.requestIP(request) ?? undefined;
      // Without this header, Bun confirms the first protocol that the client offered, which may be a token.
      const headers = { "sec-websocket-protocol": session.protocol ?? "" };
      if (server.upgrade(request, { data: session, headers })) return undefined;
      throw new AppError(400, "UPGRADE_FAILED", "This is not a WebSocket request that can be accepted.");
    } catch (error) {
      return addHeaders(errorResponse(error, request, log, errorPaths), context, request.headers.get("origin"));
    }
  }

  function networkContext(request: Request, server: WebServer, pageOrigin?: string): RequestContext {
    const socketAddress = server.requestIP(request)?.address ?? "";
    const forwardedFor = readsForwarded ? request.headers.get("x-forwarded-for") : null;
    return {
      id: createRequestId(),
      address: address(socketAddress, forwardedFor),
      socketAddress,
      cookies: [],
      pageOrigin,
    };
  }

  function resolveVirtualHost(request: Request): VirtualHostRequest | undefined {
    for (const resolve of virtualHosts) {
      const found = resolve(request);
      if (found) return found;
    }
    return undefined;
  }

  return {
    name,
    async fetch(request, server) {
      const virtual = resolveVirtualHost(request);
      if (!virtual && sockets.length > 0 && request.headers.get("upgrade")?.toLowerCase() === "websocket") {
        const path = requestPath(request);
        const route = sockets.find(({ prefix }) => path.startsWith(prefix));
        if (route) return upgrade(route, path, request, server);
      }
      const started = performance.now();
      // The context is made from the request that the server knows, not from the rewritten one.
      const context = networkContext(request, server, virtual?.origin);
      const response = await runForRequest(context, () => respond(virtual ? virtual.request : request, context, true));
      const seconds = (performance.now() - started) / 1000;
      durationsByClass[Math.floor(response.status / 100) - 2]?.observe(seconds);
      if (context.operation !== undefined) durations.ofOperation(context.operation).observe(seconds);
      return response;
    },
    handle(request) {
      const context = { id: createRequestId(), address: "", socketAddress: "", cookies: [] };
      return runForRequest(context, () => respond(request, context, false));
    },
  };
}

/** The path of a URL from the network, cut out without parsing it, since this runs for every request. */
function pathText(url: string): string {
  const start = url.indexOf("/", "https://".length);
  const query = url.indexOf("?", start);
  return url.slice(start, query < 0 ? undefined : query);
}

/** The path; empty if the request's URL can't be parsed because of an invalid Host header. */
const requestPath = ({ url }: Request) => URL.parse(url)?.pathname ?? "";
