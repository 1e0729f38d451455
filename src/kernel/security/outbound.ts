// Fetch for addresses that users give: never into our own network, never more or longer than asked.

import { lookup } from "node:dns/promises";
import ipaddr from "ipaddr.js";
import { AppError } from "../errors.ts";
import { isInNetworks, parseNetworks } from "../http/client-address.ts";
import type { Log } from "../telemetry/log.ts";

export interface OutboundInit {
  method?: string;
  headers?: Record<string, string> | Headers;
  body?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
  /** For the whole exchange, redirects and body included. Default 15 s. */
  timeoutMs?: number;
  /** Of the body, after decompression. Default 1 MiB. */
  maxBytes?: number;
  /** Plain http only to addresses that are allowed although they are private. */
  httpsOnly?: boolean;
  /** Default 5; 0 hands a redirect back as the answer it is. */
  maxRedirects?: number;
  /** Only status and headers are wanted: the body is not read, however long it is or takes. */
  headOnly?: boolean;
}

/** An answer whose body is here in full. */
export interface OutboundResponse {
  status: number;
  ok: boolean;
  headers: Headers;
  /** The address that answered, after redirects. */
  finalUrl: string;
  bytes(): Uint8Array;
  text(): string;
}

export interface Outbound {
  /**
   * Fetches an http(s) address a user gave. Each host is resolved, every address it has is checked, and the
   * connection goes to the address that was checked; so again at each redirect. Credentials in headers do not follow a
   * redirect to another origin.
   * Throws AppError 400 INVALID_ADDRESS and ADDRESS_NOT_ALLOWED, 502 UPSTREAM_UNREACHABLE and UPSTREAM_TOO_LARGE,
   * 504 UPSTREAM_TIMEOUT; the reason of the caller's own signal as it is.
   */
  fetch(url: string, init?: OutboundInit): Promise<OutboundResponse>;
  /** The same check without a request, for an address that is only stored. */
  check(url: string): Promise<void>;
}

export interface OutboundOptions {
  /** CIDRs that may be reached although they are private. */
  allow: readonly string[];
  log?: Log;
  /** All addresses of a host name. Default: the system's resolver. */
  resolve?: (hostname: string) => Promise<string[]>;
  /** More certificate authorities, PEM. */
  ca?: string;
}

/** All that follows a redirect to another origin: any other header may be a credential. */
const CROSS_ORIGIN_HEADERS = new Set(["accept", "accept-encoding", "accept-language", "content-type", "user-agent"]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_ADDRESSES_TRIED = 3;
/** Answers to virtual machines alone, although its address is a public one (Azure's metadata and agent endpoint). */
const METADATA_ADDRESSES = ["168.63.129.16"];

export function createOutbound({ allow, log, resolve = resolveAll, ca }: OutboundOptions): Outbound {
  const allowedNetworks = parseNetworks(allow);
  const isAllowedAddress = (address: string) => isPublic(address) || isInNetworks(address, allowedNetworks);

  /** The addresses of a host, all of them good to connect to. */
  async function resolveAddresses(url: URL, signal: AbortSignal, httpsOnly = false): Promise<string[]> {
    const literal = hostWithoutBrackets(url);
    const addresses = ipaddr.isValid(literal)
      ? [literal]
      : await abortable(resolve(literal), signal).catch(throwUnreachable);
    if (addresses.length === 0) return throwUnreachable(new Error("The host has no address."));
    const refused = addresses.find((address) => !isAllowedAddress(address));
    if (refused !== undefined) {
      log?.warn("An outbound address was refused.", { host: url.hostname, address: refused });
      throw addressNotAllowed("it leads into a private or reserved network");
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

  /** One request without redirects, to the first address that takes the connection. */
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
        const bytes = await readResponseBody(response, init.maxBytes ?? 1_048_576, signal);
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
      const timeout = AbortSignal.timeout(init.timeoutMs ?? 15_000);
      const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
      try {
        return await followRedirects(url, init, signal);
      } catch (error) {
        if (init.signal?.aborted) throw init.signal.reason;
        if (timeout.aborted) throw upstreamTimeout(error);
        throw error;
      }
    },
    async check(url) {
      const timeout = AbortSignal.timeout(5000);
      await resolveAddresses(parseAddress(url), timeout).catch((error) => {
        throw timeout.aborted ? upstreamTimeout(error) : error;
      });
    },
  };
}

async function resolveAll(hostname: string): Promise<string[]> {
  const found = await lookup(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/** IPv6 only from the block that is handed out, so that every embedding of IPv4 outside it is out too. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address) || METADATA_ADDRESSES.includes(address)) return false;
  const ip = ipaddr.parse(address);
  if (ip.range() !== "unicast") return false;
  return ip instanceof ipaddr.IPv4 || ip.match(GLOBAL_UNICAST);
}
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/** An address a user gave, or a redirect relative to `base`. */
function parseAddress(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (!url) throw new AppError(400, "INVALID_ADDRESS", "The address is not a valid URL.");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw addressNotAllowed("only http and https are");
  if (url.username || url.password) throw addressNotAllowed("it holds a user name or password");
  const host = hostWithoutBrackets(url);
  if (host.endsWith(".") || host === "") throw addressNotAllowed("its host name is odd");
  // 0x7f.1, 2130706433, 0177.0.0.1 and full-width digits have all become dotted decimals by now.
  if (ipaddr.IPv4.isValid(host) && url.host !== base?.host && !text.includes(host)) {
    throw addressNotAllowed("its host is an IP address in an odd form");
  }
  return url;
}

const hostWithoutBrackets = (url: URL) => url.hostname.replace(/^\[(.*)\]$/, "$1");

/** What browsers do: 303, and 301 and 302 after a POST, ask again with GET; nothing secret goes to another origin. */
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

async function readResponseBody(response: Response, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  const tooLarge = () => new AppError(502, "UPSTREAM_TOO_LARGE", `The answer is larger than ${maxBytes} bytes.`);
  const reader = response.body?.getReader();
  if (!reader) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(throwUnreachable);
      if (done) return Buffer.concat(chunks, size);
      size += value.length;
      if (size > maxBytes) throw tooLarge();
      chunks.push(value);
    }
  } finally {
    // Closes the connection of an answer that was not read to its end; a no-op after it.
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

/** Whether the request certainly was not sent, so that another address may be tried. */
const hasNotConnected = (error: unknown) =>
  error instanceof Error &&
  "code" in error &&
  /^(ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)$/.test(String(error.code));

/** The promise's outcome, or the signal's reason if that comes first. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
}

const addressNotAllowed = (reason: string) =>
  new AppError(400, "ADDRESS_NOT_ALLOWED", `This address is not allowed: ${reason}.`);
const upstreamTimeout = (cause: unknown) =>
  new AppError(504, "UPSTREAM_TIMEOUT", "The address did not answer in time.", {}, { cause });
function throwUnreachable(cause: unknown): never {
  throw new AppError(502, "UPSTREAM_UNREACHABLE", "The address can't be reached.", {}, { cause });
}
