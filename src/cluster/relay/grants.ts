// Signs and checks the grant under which a node sends a request on to the owner: which surface it came to, from where, and for which cell.
import type { Vault } from "../../kernel/security/vault.ts";
import { SECOND } from "../../kernel/util/time.ts";

export const RELAY_HEADER = "x-berth-relay";

export interface RelayGrant {
  /** `call`: what another cell calls, not a request of a client. */
  surface: "web" | "backend" | "call";
  cell: number;
  /** Of the socket at the first node. */
  clientAddress: string;
}

interface Claims extends RelayGrant {
  /** The node that has signed it; undefined for a machine alone, and in a grant of an older version. */
  from?: string | undefined;
  /** The node that the request is for. */
  node: string;
  /** Method and path. */
  request: string;
  /** Epoch ms, by the clock of the machine that has signed it. */
  expires: number;
}

/** Clocks of machines differ, and are set while the machines run. */
export interface Clocks {
  /** The address of this node. */
  self: string;
  /** What the clock of another node shows now, in epoch ms, as far as this one knows. */
  clockOf(node: string): number | undefined;
}

const LIFETIME_MS = 30 * SECOND;
/** A clock is known from a renewal of the lease, which was some time on its way. */
const LATE_MS = 10 * SECOND;
const PURPOSE = "cluster-relay";

export interface RelayGrants {
  sign(grant: RelayGrant, node: string, request: string): string;
  /**
   * Undefined for a grant that is forged, or for another node or request. `again` for one that is not valid at the time of
   * its signer: that is old, or the signer's clock was set a moment ago, or is not known yet. A new one may be valid.
   */
  verify(header: string, node: string, request: string): RelayGrant | "again" | undefined;
}

/** @param clocks undefined where all that sign and verify are processes of one machine */
export function createRelayGrants(vault: Vault, clocks?: Clocks): RelayGrants {
  function isCurrent({ from, expires }: Claims): boolean {
    const isOfOther = clocks !== undefined && from !== undefined && from !== clocks.self;
    const now = isOfOther ? clocks.clockOf(from) : Date.now();
    return now !== undefined && now < expires && expires - now < LIFETIME_MS + LATE_MS;
  }

  return {
    sign(grant, node, request) {
      const claims: Claims = { ...grant, from: clocks?.self, node, request, expires: Date.now() + LIFETIME_MS };
      const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
      return `${payload}.${vault.sign(PURPOSE, payload)}`;
    },
    verify(header, node, request) {
      const [payload, mac, ...rest] = header.split(".");
      if (!payload || !mac || rest.length > 0 || !vault.verify(PURPOSE, payload, mac)) return undefined;
      const claims: Claims = JSON.parse(Buffer.from(payload, "base64url").toString());
      if (claims.node !== node || claims.request !== request) return undefined;
      const { surface, cell, clientAddress } = claims;
      return isCurrent(claims) ? { surface, cell, clientAddress } : "again";
    },
  };
}

/** What a grant is for: the method and the path with its query. */
export const requestLine = (method: string, url: string) => {
  const start = url.indexOf("/", "https://".length);
  return `${method} ${start < 0 ? "/" : url.slice(start)}`;
};
