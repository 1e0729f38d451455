// Finds a client's address from the socket and, behind trusted proxies, from X-Forwarded-For.

import ipaddr from "ipaddr.js";

/** IPv4 and IPv6 networks, parsed once. */
export type Networks = readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

/** Parses CIDRs ("10.0.0.0/8") or single addresses. Throws on anything else, which the configuration rejects earlier. */
export function parseNetworks(list: readonly string[]): Networks {
  return list.map((text) => {
    if (text.includes("/")) return ipaddr.parseCIDR(text);
    const address = ipaddr.process(text);
    return [address, address.kind() === "ipv4" ? 32 : 128];
  });
}

/** Whether an address is in one of the networks. ::ffff:1.2.3.4 counts as 1.2.3.4. */
export function isInNetworks(address: string, networks: Networks): boolean {
  if (networks.length === 0 || !ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  return networks.some(([network, bits]) => network.kind() === ip.kind() && ip.match(network, bits));
}

const MAX_HOPS = 32;
const MAX_CACHED = 10_000;

/**
 * Returns the client's address: the socket's, unless that is a trusted proxy. Then X-Forwarded-For is read from its right
 * end, where the nearest proxies write, up to the first address that is not trusted. Entries to its left are invented by
 * the client. An entry that is not an address ends the search at the proxy that added it.
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

/** Makes `resolveClientAddress` for the configured proxies. */
export function createClientAddressResolver(trustedProxies: readonly string[]) {
  const trusted = parseNetworks(trustedProxies);
  return (socketAddress: string, forwardedFor: string | null) =>
    resolveClientAddress(socketAddress, forwardedFor, trusted);
}

/**
 * Returns the key for rate limits: an IPv4 address, or the /64 network of an IPv6 address, since one client usually owns
 * the whole network. Text that is not an address is its own key.
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

/** Gives each address one spelling. IPv4 addresses need no work. */
function normalise(address: string): string {
  if (!address.includes(":")) return address;
  return getOrCreate(normalisedCache, address, () => {
    const bare = address.split("%")[0] ?? address;
    return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : address;
  });
}

/** Parses an entry of X-Forwarded-For. Some proxies add a port, brackets or quotes. */
function parseHop(entry: string | undefined): string | undefined {
  const text = entry?.trim().replace(/^"(.*)"$/, "$1") ?? "";
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const isWhole = bare.includes(":") || ipaddr.IPv4.isValidFourPartDecimal(bare);
  return isWhole && ipaddr.isValid(bare) ? normalise(bare) : undefined;
}

/** Caches results in a map that is cleared when it is full. Cheaper on each request than evicting single entries. */
function getOrCreate(cache: Map<string, string>, key: string, make: () => string): string {
  const hit = cache.get(key);
  if (hit !== undefined) return hit;
  if (cache.size >= MAX_CACHED) cache.clear();
  const value = make();
  cache.set(key, value);
  return value;
}
