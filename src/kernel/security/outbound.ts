// Fetches URLs that users supply, protected against SSRF: no private networks, and limits on size, time and redirects.

import ipaddr from "ipaddr.js";
import { AppError } from "../errors.ts";
import { isInNetworks, parseNetworks } from "../http/client-address.ts";
import type { Log } from "../telemetry/log.ts";
import { SECOND } from "../util/time.ts";
import { addressNotAllowed, hostWithoutBrackets, isPublic, parseAddress } from "./outbound-address.ts";
import { throwUnreachable } from "./unreachable.ts";

export interface OutboundInit {
  method?: string;
  headers?: Record<string, string> | Headers;
  body?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
  /** For the whole exchange, with redirects and body. Default 15 s. */
  timeoutMs?: number;
  /** The largest body, after decompression. Default 1 MiB. */
  maxBytes?: number;
  /** Allows plain http only to addresses in `OutboundOptions.allow`. */
  httpsOnly?: boolean;
  /** Default 5. With 0, a redirect is returned as the response. */
  maxRedirects?: number;
  /** Returns status and headers without reading the body. */
  headOnly?: boolean;
}

export interface OutboundStreamInit extends Omit<OutboundInit, "headOnly" | "maxRedirects"> {
  /** Ends the exchange at any time, also while the body is read. */
  signal?: AbortSignal;
}

/** A response whose body was read completely. */
export interface OutboundResponse {
  status: number;
  ok: boolean;
  headers: Headers;
  /** The URL of the response, after redirects. */
  finalUrl: string;
  bytes(): Uint8Array;
  text(): string;
}

export interface Outbound {
  /**
   * Fetches an http(s) URL that a user supplied. The host is resolved, all its addresses are checked, and the connection
   * goes to a checked address (no DNS rebinding); likewise at each redirect. Headers that may hold credentials are not sent
   * to another origin.
   * Throws AppError 400 INVALID_ADDRESS and ADDRESS_NOT_ALLOWED, 502 UPSTREAM_UNREACHABLE and UPSTREAM_TOO_LARGE,
   * 504 UPSTREAM_TIMEOUT; if the caller's signal aborts, its reason.
   */
  fetch(url: string, init?: OutboundInit): Promise<OutboundResponse>;
  /**
   * Makes the same checks, and resolves as soon as the headers are there: for protocols that stream. Redirects are returned as
   * the response, so that the caller's client decides about them; it comes back here with their target. `timeoutMs` is for
   * the headers. After `maxBytes` (decompressed) the body fails with UPSTREAM_TOO_LARGE and the connection is closed.
   * Throws the errors of `fetch`.
   */
  stream(url: string, init?: OutboundStreamInit): Promise<Response>;
  /** Makes the same check without a request, for a URL that is only stored. */
  check(url: string): Promise<void>;
  /**
   * The addresses of a host that a user supplied, at most three, all of them checked: for protocols other than http. Connect to
   * one of them, not to the name. Throws the errors of `fetch`.
   */
  resolve(host: string, signal: AbortSignal): Promise<string[]>;
}

export interface OutboundOptions {
  /** Private networks (CIDRs) that may be reached nevertheless. */
  allow: readonly string[];
  log?: Log;
  /** Returns all addresses of a host name. Default: the system's resolver. */
  resolve?: (hostname: string) => Promise<string[]>;
  /** More certificate authorities, PEM. */
  ca?: string;
}

/** The only headers that are sent after a redirect to another origin: any other may be a credential. */
const CROSS_ORIGIN_HEADERS = new Set(["accept", "accept-encoding", "accept-language", "content-type", "user-agent"]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_ADDRESSES_TRIED = 3;
const DEFAULT_MAX_BYTES = 1_048_576;

export function createOutbound({ allow, log, resolve = resolveAll, ca }: OutboundOptions): Outbound {
  const allowedNetworks = parseNetworks(allow);
  const isAllowedAddress = (address: string) => isPublic(address) || isInNetworks(address, allowedNetworks);

  /** Returns the first addresses of a host; throws if any of its addresses is not allowed. */
  async function resolveAddresses(url: URL, signal: AbortSignal, httpsOnly = false): Promise<string[]> {
    const literal = hostWithoutBrackets(url);
    const addresses = ipaddr.isValid(literal)
      ? [literal]
      : await abortable(resolve(literal), signal).catch(throwUnreachable);
    if (addresses.length === 0) return throwUnreachable(new Error("The host has no address."));
    const refused = addresses.find((address) => !isAllowedAddress(address));
    if (refused !== undefined) {
      log?.warn("an outbound address was refused", { host: url.hostname, address: refused });
      throw addressNotAllowed(
        "it leads into a private or reserved network. The operator can allow that network with OUTBOUND_ALLOW",
      );
    }
    if (
      httpsOnly &&
      url.protocol !== "https:" &&
      !addresses.every((address) => isInNetworks(address, allowedNetworks))
    ) {
      throw addressNotAllowed("only https is");
    }
    return addresses.slice(0, MAX_ADDRESSES_TRIED);
  }

  /** Sends one request, without following redirects, to the first address that accepts the connection. */
  async function requestOnce(
    url: URL,
    request: RequestInit,
    signal: AbortSignal,
    httpsOnly?: boolean,
  ): Promise<Response> {
    const headers = new Headers(request.headers);
    headers.set("host", url.host);
    const name = hostWithoutBrackets(url);
    const tls = { ...(ca ? { ca } : {}), ...(ipaddr.isValid(name) ? {} : { serverName: name }) };
    let failure: unknown;
    for (const address of await resolveAddresses(url, signal, httpsOnly)) {
      const pinned = new URL(url);
      pinned.hostname = address.includes(":") ? `[${address}]` : address;
      try {
        return await fetch(pinned, { ...request, headers, signal, redirect: "manual", tls });
      } catch (error) {
        failure = error;
        if (signal.aborted || !hasNotConnected(error)) break;
      }
    }
    if (signal.aborted) throw signal.reason;
    return throwUnreachable(failure);
  }

  async function followRedirects(start: string, init: OutboundInit, signal: AbortSignal): Promise<OutboundResponse> {
    let url = parseAddress(start);
    let request: RequestInit = {
      method: init.method ?? "GET",
      body: init.body ?? null,
      headers: new Headers(init.headers),
    };
    for (let redirectsLeft = init.maxRedirects ?? 5; ; redirectsLeft--) {
      const response = await requestOnce(url, request, signal, init.httpsOnly);
      const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
      if (location === null || init.maxRedirects === 0) {
        if (init.headOnly) {
          await response.body?.cancel();
          return toOutboundResponse(response, url, new Uint8Array());
        }
        const bytes = await readResponseBody(response, init.maxBytes ?? DEFAULT_MAX_BYTES, signal);
        return toOutboundResponse(response, url, bytes);
      }
      await response.body?.cancel();
      if (redirectsLeft <= 0) throw new AppError(502, "UPSTREAM_UNREACHABLE", "The address redirects too often.");
      const next = parseAddress(location, url);
      request = toRedirectRequest(request, response.status, next.origin !== url.origin);
      url = next;
    }
  }

  return {
    async fetch(url, init = {}) {
      const timeout = AbortSignal.timeout(init.timeoutMs ?? 15 * SECOND);
      const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
      try {
        return await followRedirects(url, init, signal);
      } catch (error) {
        if (init.signal?.aborted) throw init.signal.reason;
        if (timeout.aborted) throw upstreamTimeout(error);
        throw error;
      }
    },
    async stream(url, init = {}) {
      const { method = "GET", headers, body = null, timeoutMs = 15 * SECOND, maxBytes = DEFAULT_MAX_BYTES } = init;
      const exchange = new AbortController();
      const abort = () => exchange.abort(init.signal?.reason);
      init.signal?.throwIfAborted();
      init.signal?.addEventListener("abort", abort, { once: true });
      const timer = setTimeout(() => exchange.abort(upstreamTimeout(undefined)), timeoutMs);
      const end = () => init.signal?.removeEventListener("abort", abort);
      try {
        const request = { method, body, ...(headers && { headers: new Headers(headers) }) };
        const response = await requestOnce(parseAddress(url), request, exchange.signal, init.httpsOnly);
        return withLimitedBody(response, maxBytes, exchange, end);
      } catch (error) {
        end();
        throw exchange.signal.aborted ? exchange.signal.reason : error;
      } finally {
        clearTimeout(timer);
      }
    },
    async check(url) {
      const timeout = AbortSignal.timeout(5 * SECOND);
      await resolveAddresses(parseAddress(url), timeout).catch((error) => {
        throw timeout.aborted ? upstreamTimeout(error) : error;
      });
    },
    resolve: (host, signal) => resolveAddresses(parseAddress(`https://${host}`), signal),
  };
}

async function resolveAll(hostname: string): Promise<string[]> {
  const { lookup } = await import("node:dns/promises");
  const found = await lookup(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/** Makes the next request like browsers: 303, and 301 and 302 after a POST, continue with GET (Fetch, HTTP-redirect). */
function toRedirectRequest(request: RequestInit, status: number, isCrossOrigin: boolean): RequestInit {
  const headers = new Headers(request.headers);
  for (const name of [...headers.keys()]) {
    if (isCrossOrigin && !CROSS_ORIGIN_HEADERS.has(name)) headers.delete(name);
  }
  const keepsMethod = status === 307 || status === 308 || request.method === "GET" || request.method === "HEAD";
  if (keepsMethod) return { ...request, headers };
  headers.delete("content-type");
  return { method: "GET", body: null, headers };
}

const upstreamTooLarge = (maxBytes: number) =>
  new AppError(502, "UPSTREAM_TOO_LARGE", `The answer is larger than ${maxBytes} bytes.`);

/** The same response with a body that fails after `maxBytes`. `end` is called when the body has ended in any way. */
function withLimitedBody(response: Response, maxBytes: number, exchange: AbortController, end: () => void): Response {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  // The body is decompressed already.
  headers.delete("content-encoding");
  headers.delete("content-length");
  const reader = response.body?.getReader();
  if (!reader) {
    end();
    return new Response(null, { status, statusText, headers });
  }
  let left = maxBytes;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          left -= value.length;
          if (left >= 0) return controller.enqueue(value);
          exchange.abort(upstreamTooLarge(maxBytes));
        }
        end();
        if (done) controller.close();
        else controller.error(exchange.signal.reason);
      } catch (error) {
        end();
        controller.error(exchange.signal.aborted ? exchange.signal.reason : error);
      }
    },
    cancel(reason) {
      end();
      exchange.abort(reason);
    },
  });
  // A response of these statuses can't have a body, not even an empty one.
  return new Response(status === 204 || status === 205 || status === 304 ? null : body, {
    status,
    statusText,
    headers,
  });
}

async function readResponseBody(response: Response, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(throwUnreachable);
      if (done) return Buffer.concat(chunks, size);
      size += value.length;
      if (size > maxBytes) throw upstreamTooLarge(maxBytes);
      chunks.push(value);
    }
  } finally {
    // Closes the connection if the response was not read to its end.
    if (!signal.aborted) await reader.cancel();
  }
}

const toOutboundResponse = ({ status, ok, headers }: Response, url: URL, bytes: Uint8Array): OutboundResponse => ({
  status,
  ok,
  headers,
  finalUrl: url.href,
  bytes: () => bytes,
  text: () => new TextDecoder().decode(bytes),
});

/** Whether the request was certainly not sent, so that another address may be tried. */
const hasNotConnected = (error: unknown) =>
  error instanceof Error &&
  "code" in error &&
  /^(ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)$/.test(String(error.code));

/** Settles like the promise, or rejects with the signal's reason if the signal aborts first. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
}

const upstreamTimeout = (cause: unknown) =>
  new AppError(504, "UPSTREAM_TIMEOUT", "The address did not answer in time.", {}, { cause });
