// Keeps what Berth knows about each request beside the request: id, client address, cookies, and results of its guards.
import type { RequestActor } from "../audit/actor.ts";
import { isLoopbackHost } from "../config/validation.ts";
import type { Issue } from "../errors.ts";

/** Facts about a request that the request itself does not carry. */
export interface RequestContext {
  readonly id: string;
  /** The client's address; behind trusted proxies, the one that they report. Empty for calls inside this process. */
  address: string;
  /** The address of the connected socket; empty for calls inside this process. */
  readonly socketAddress: string;
  /** `set-cookie` values that the surface adds to the response, errors included. */
  readonly cookies: string[];
  /** Set when the request came to a virtual host: the only origin whose pages may change something there. */
  readonly pageOrigin?: string | undefined;
  /** The body's text, once it was read. */
  bodyText?: string;
  /** Fields of the body that the route does not know, with what to say about each. */
  ignoredFields?: readonly Issue[];
  /** The body as it came, where the route parses it itself. */
  bodyBytes?: Uint8Array<ArrayBuffer>;
  /** The route's own limit of body bytes, set by its guard; default: `MAX_BODY_BYTES`. */
  maxBodyBytes?: number;
  /** Fields that this route adds to the body of every error response. */
  errorExtras?: Readonly<Record<string, unknown>>;
  /** The name of the operation that the request has reached, as in the API document. */
  operation?: string;
  /** The guard chain that authorized this request, so that it runs once. */
  authorizedBy?: unknown;
  /** Incremented when the body arrived slowly: results of earlier guards may be outdated. */
  guardRound?: number;
  /** The account or key whose request it is, for the audit log; set when it is authenticated. */
  actor?: RequestActor;
  /** The response that `respondWith` has made. */
  complete?: Response;
  /** The response is ready: what still runs is no longer work of this request. */
  hasEnded?: boolean;
  /** What `createRequestMemo` remembers, by its memo. */
  memos?: Map<object, { value: unknown; guardRound: number | undefined }>;
}

const contexts = new WeakMap<Request, RequestContext>();

export const attachContext = (request: Request, context: RequestContext) => contexts.set(request, context);

/** Returns the context that the surface attached. Throws for a request that came through no surface. */
export function contextOf(request: Request): RequestContext {
  const context = contexts.get(request);
  if (!context) throw new Error("This request did not come through a surface.");
  return context;
}

/** A body of a response, whole or as it comes. */
export type AnswerBody = ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>;

/** Makes the response of a request with the headers that the surface gives every response: to add them afterwards takes twice as long. */
export function respondWith(context: RequestContext, body: AnswerBody, headers: Record<string, string>): Response {
  const response = new Response(body, {
    headers: { ...headers, "x-request-id": context.id, "x-content-type-options": "nosniff" },
  });
  context.complete = response;
  return response;
}

let requestCounter = 0;
const processPrefix = crypto.randomUUID().slice(0, 8);

/** Makes an id that is unique across restarts. */
export const createRequestId = () => `${processPrefix}-${(++requestCounter).toString(36)}`;

/** Remembers one value per request, so that it is computed once; forgets it when the guards run again after a slow body. */
export function createRequestMemo<Value>() {
  const memo = {
    get(request: Request): Value | undefined {
      const { memos, guardRound } = contextOf(request);
      const found = memos?.get(memo);
      return found && found.guardRound === guardRound ? (found.value as Value) : undefined;
    },
    set(request: Request, value: Value): Value {
      const context = contextOf(request);
      context.memos ??= new Map();
      context.memos.set(memo, { value, guardRound: context.guardRound });
      return value;
    },
  };
  return memo;
}

/** Headers that proxies, load balancers and tunnels add. */
const PROXY_HEADERS =
  /forwarded|^(?:via|cdn-loop|x-scheme)$|^(?:cf|fly|x-envoy|x-original|x-originating|x-azure|x-arr|x-appengine)-|(?:-|client|socket)(?:ip|addr|address)$/;

/**
 * Whether a request came directly from this machine: over a loopback socket, to a loopback name, and without any header
 * that a proxy adds, trusted or not. The name is checked because a foreign page can point its own name to 127.0.0.1 (DNS
 * rebinding).
 */
export function isLocalRequest(request: Request): boolean {
  const { socketAddress } = contextOf(request);
  if (socketAddress !== "::1" && !/^(?:::ffff:)?127\./.test(socketAddress)) return false;
  const host = request.headers.get("host") ?? "";
  if (!isLoopbackHost(host.replace(/:\d*$/, ""))) return false;
  return [...request.headers.keys()].every((name) => !PROXY_HEADERS.test(name));
}
