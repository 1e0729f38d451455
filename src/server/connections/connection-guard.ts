// Keeps one address, or all together, from taking every descriptor of the process: connections beyond the limits are
// closed, so that /healthz and the rest of the service can still be reached.
import type { Config } from "../../kernel/config/config.ts";
import { isInNetworks, parseNetworks, rateLimitKey } from "../../kernel/http/client-address.ts";
import type { WebServer } from "../../kernel/http/web-sockets.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import { MINUTE } from "../../kernel/util/time.ts";
import { type AcceptedSocket, type AcceptedSockets, openAcceptedSockets } from "./accepted-sockets.ts";
import { lowestFreeDescriptor, openDescriptors } from "./descriptors.ts";

export interface GuardOptions {
  servers: readonly WebServer[];
  limits: ConnectionLimits;
  /** Proxies hold the connections of many clients: the limit per address does not apply to them. */
  trustedProxies: readonly string[];
  /** Other machines of a cluster send the requests of many clients, too. */
  peers?: () => readonly string[];
  log: Log;
}

export interface ConnectionLimits {
  /** The most descriptors that the process may have. */
  descriptors: number;
  /** The descriptors that connections leave free for files, outgoing requests, and new connections. */
  reserve: number;
  /** The most connections of one address; an IPv6 network of 64 bits counts as one. */
  perAddress: number;
}

const MAX_PER_ADDRESS = 4096;
const MIN_RESERVE = 32;

/** Milliseconds between two looks, each of which takes microseconds while few descriptors are in use. */
const CALM_MS = 500;
/** The same right after connections were closed, since whoever opened them may go on. */
const ALERT_MS = 50;

/** A process that serves only the backend has few peers, the web surfaces, each with the requests of many clients. */
export function connectionLimits(
  descriptors: number,
  { role, connectionsPerAddress }: Pick<Config, "role" | "connectionsPerAddress">,
): ConnectionLimits {
  const usual = role === "backend" ? descriptors : Math.min(MAX_PER_ADDRESS, Math.floor(descriptors / 4));
  return {
    descriptors,
    reserve: Math.max(MIN_RESERVE, Math.floor(descriptors / 16)),
    perAddress: connectionsPerAddress ?? usual,
  };
}

/** Looks at the connections from time to time until `stop`. */
export function guardConnections({ servers, limits, trustedProxies, peers = () => [], log }: GuardOptions): {
  stop(): void;
} {
  const proxies = parseNetworks(trustedProxies);
  const ports = new Set(servers.flatMap(({ port }) => port ?? []));
  let accepted: Promise<AcceptedSockets | undefined> | undefined;
  let warnedAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  let timer = setTimeout(look, CALM_MS).unref();

  async function look(): Promise<void> {
    let closed = 0;
    try {
      const inUse = lowestFreeDescriptor() ?? limits.descriptors;
      if (inUse > Math.min(limits.perAddress, limits.descriptors - limits.reserve)) closed = await enforceLimits();
    } finally {
      if (!isStopped) timer = setTimeout(look, closed > 0 ? ALERT_MS : CALM_MS).unref();
    }
  }

  /** Returns the number of closed connections. */
  async function enforceLimits(): Promise<number> {
    accepted ??= openAcceptedSockets();
    const sockets = await accepted;
    const { isIP } = await import("node:net");
    const trusted = [...proxies, ...parseNetworks(peers().filter((address) => isIP(address) !== 0))];
    const list = () => {
      const open = openDescriptors(limits.descriptors);
      const found = sockets?.list(open, ports) ?? [];
      return { open, groups: groupByAddress(found.filter(({ address }) => !isInNetworks(address, trusted))) };
    };

    const { open, groups } = list();
    const excess = groups.flatMap((group) => group.slice(limits.perAddress));
    for (const socket of excess) sockets?.shutDown(socket);
    let closed = excess.length;
    const surplus = open.length - excess.length - (limits.descriptors - limits.reserve);
    if (surplus > 0) {
      let idle = 0;
      for (const server of servers) idle += server.closeIdleConnections();
      const busy = idle < surplus ? chooseLargest(list().groups, surplus - idle) : [];
      for (const socket of busy) sockets?.shutDown(socket);
      closed += idle + busy.length;
    }
    if (closed > 0) warn(open.length, closed);
    return closed;
  }

  /** Once a minute at most, so that a flood of connections does not fill the log. */
  function warn(inUse: number, closed: number): void {
    if (performance.now() - warnedAt < MINUTE) return;
    warnedAt = performance.now();
    log.warn("connections closed: one address had more than CONNECTIONS_PER_ADDRESS, or no reserve was left", {
      closed,
      inUse,
      ...limits,
    });
  }

  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

const groupByAddress = (sockets: AcceptedSocket[]): AcceptedSocket[][] => [
  ...Map.groupBy(sockets, ({ address }) => rateLimitKey(address)).values(),
];

/** Chooses at least `wanted` connections, if there are as many, of the addresses with the most; each keeps one. */
function chooseLargest(groups: AcceptedSocket[][], wanted: number): AcceptedSocket[] {
  for (let kept = Math.max(0, ...groups.map(({ length }) => length)); ; kept = Math.floor(kept / 2)) {
    const chosen = groups.flatMap((group) => group.slice(Math.max(1, kept)));
    if (chosen.length >= wanted || kept <= 1) return chosen;
  }
}
