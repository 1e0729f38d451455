// Who is really calling: the socket's address, or what trusted proxies say; and the networks both are compared with.

import ipaddr from "ipaddr.js";

/** IPv4 and IPv6 networks, parsed once. */
export type Networks = readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

/** Parses CIDRs ("10.0.0.0/8") or single addresses. Throws on anything else; the configuration has checked them. */
export function parseNetworks(list: readonly string[]): Networks {
  return list.map((text) => {
    if (text.includes("/")) return ipaddr.parseCIDR(text);
    const address = ipaddr.process(text);
    return [address, address.kind() === "ipv4" ? 32 : 128];
  });
}

/** An address written as ::ffff:1.2.3.4 counts as 1.2.3.4. */
export function isInNetworks(address: string, networks: Networks): boolean {
  if (networks.length === 0 || !ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  return networks.some(([network, bits]) => network.kind() === ip.kind() && ip.match(network, bits));
}

const MAX_HOPS = 32;
const MAX_CACHED = 10_000;

/**
 * The caller's address: the socket's, unless that is a trusted proxy; then X-Forwarded-For is read from its right end,
 * where the proxies nearest to us write, up to the first address that is not trusted. Anything left of that is
 * whatever the caller liked to say. An entry that is no address ends the search at the proxy that passed it on.
 */
export function resolveClientAddress(socketAddress: string, forwardedFor: string | null, trusted: Networks): string {
  let address = normalise(socketAddress);
  if (trusted.length === 0 || !forwardedFor) return address;
  const hops = forwardedFor.split(",").slice(-MAX_HOPS);
  while (isInNetworks(address, trusted)) {
    const next = parseHop(hops.pop());
    if (next === undefined) break;
    address = next;
  }
  return address;
}

/** `clientAddress` with the proxies of the configuration. */
export function createClientAddressResolver(trustedProxies: readonly string[]) {
  const trusted = parseNetworks(trustedProxies);
  return (socketAddress: string, forwardedFor: string | null) =>
    resolveClientAddress(socketAddress, forwardedFor, trusted);
}

/**
 * What rate limits count by: an IPv4 address, or the /64 of an IPv6 one, since one caller owns all of it.
 * Text that is no address is its own key.
 */
export function rateLimitKey(address: string): string {
  if (!address.includes(":")) return address;
  return getOrCreate(networkKeyCache, address, () => {
    if (!ipaddr.isValid(address)) return address;
    const ip = ipaddr.process(address);
    if (ip instanceof ipaddr.IPv4) return ip.toString();
    const prefix = ip.parts.slice(0, 4).map((part) => part.toString(16));
    return `${prefix.join(":")}::/64`;
  });
}

const networkKeyCache = new Map<string, string>();
const normalisedCache = new Map<string, string>();

/** One spelling per address; IPv4 comes as such and costs nothing. */
function normalise(address: string): string {
  if (!address.includes(":")) return address;
  return getOrCreate(normalisedCache, address, () => {
    const bare = address.split("%")[0] ?? address;
    return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : address;
  });
}

/** Some proxies write a port, brackets or quotes around the address. */
function parseHop(entry: string | undefined): string | undefined {
  const text = entry?.trim().replace(/^"(.*)"$/, "$1") ?? "";
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const isWhole = bare.includes(":") || ipaddr.IPv4.isValidFourPartDecimal(bare);
  return isWhole && ipaddr.isValid(bare) ? normalise(bare) : undefined;
}

/** A bounded memory: when it is full it starts over, which costs a few microseconds and no bookkeeping. */
function getOrCreate(cache: Map<string, string>, key: string, make: () => string): string {
  const hit = cache.get(key);
  if (hit !== undefined) return hit;
  if (cache.size >= MAX_CACHED) cache.clear();
  const value = make();
  cache.set(key, value);
  return value;
}
