// Signs and checks the grant under which a node sends a request on to the owner: which surface it came to, from where, for which cell,
// and what the network, which is not encrypted, must not change.
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

/** A grant that was verified. */
export interface VerifiedGrant extends RelayGrant {
  /** The hash of the body that it is for, of a call. */
  body?: string;
}

/** What is signed beside the method and path. */
export interface Covered {
  /** The header with what another cell has sent along. */
  forwarding?: string | null | undefined;
  /** Of a call, which needs no credential. */
  body?: string | undefined;
}

interface Claims extends VerifiedGrant {
  /** The node that has signed it; undefined for a machine alone, and in a grant of an older version. */
  from?: string | undefined;
  /** The node that the request is for. */
  node: string;
  /** Method and path. */
  request: string;
  /** Epoch ms, by the clock of the machine that has signed it. */
  expires: number;
  /** The hash of what another cell has sent along; null without it, undefined in a grant of an earlier version. */
  forwarding?: string | null;
  /** Of a call, which is taken once. */
  nonce?: string;
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
/** A grant that was current once is not after this, also if its signer's clock is set back by some seconds meanwhile. */
const REMEMBERED_MS = 3 * (LIFETIME_MS + LATE_MS);
const PURPOSE = "cluster-relay";

export interface RelayGrants {
  sign(grant: RelayGrant, node: string, request: string, covered?: Covered): string;
  /**
   * Undefined for a grant that is forged, for another node or request, or of a call that was taken already. `again` for one that is not valid at the time of
   * its signer: that is old, or the signer's clock was set a moment ago, or is not known yet. A new one may be valid.
   */
  verify(
    header: string,
    node: string,
    request: string,
    forwarding?: string | null,
  ): VerifiedGrant | "again" | undefined;
}

/**
 * @param clocks undefined where all that sign and verify are processes of one machine
 * @param other of another key whose grants are valid, too: machines get a new SECRET_KEY one after the other
 */
export function createRelayGrants(vault: Vault, clocks?: Clocks, other?: Vault): RelayGrants {
  const isSigned = (payload: string, mac: string) =>
    vault.verify(PURPOSE, payload, mac) || other?.verify(PURPOSE, payload, mac) === true;

  function isCurrent({ from, expires }: Claims): boolean {
    const isOfOther = clocks !== undefined && from !== undefined && from !== clocks.self;
    const now = isOfOther ? clocks.clockOf(from) : Date.now();
    return now !== undefined && now < expires && expires - now < LIFETIME_MS + LATE_MS;
  }

  /** Calls that were taken, until none of them can be current any more: by its nonce, when this process forgets it. */
  const taken = new Map<string, number>();

  function takeOnce(nonce: string): boolean {
    const now = performance.now();
    for (const [old, until] of taken) {
      if (until > now) break;
      taken.delete(old);
    }
    if (taken.has(nonce)) return false;
    taken.set(nonce, now + REMEMBERED_MS);
    return true;
  }

  return {
    sign(grant, node, request, { forwarding, body } = {}) {
      const claims: Claims = {
        ...grant,
        from: clocks?.self,
        node,
        request,
        expires: Date.now() + LIFETIME_MS,
        forwarding: forwarding ? hashOf(forwarding) : null,
        ...(body !== undefined && { body: hashOf(body), nonce: crypto.randomUUID() }),
      };
      const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
      return `${payload}.${vault.sign(PURPOSE, payload)}`;
    },
    verify(header, node, request, forwarding) {
      const [payload, mac, ...rest] = header.split(".");
      if (!payload || !mac || rest.length > 0 || !isSigned(payload, mac)) return undefined;
      const claims: Claims = JSON.parse(Buffer.from(payload, "base64url").toString());
      if (claims.node !== node || claims.request !== request) return undefined;
      const isChanged = claims.forwarding !== (forwarding ? hashOf(forwarding) : null);
      if (claims.forwarding !== undefined && isChanged) return undefined;
      const { surface, cell, clientAddress, body, nonce } = claims;
      if (!isCurrent(claims)) return "again";
      if (nonce !== undefined && !takeOnce(nonce)) return undefined;
      return { surface, cell, clientAddress, ...(body !== undefined && { body }) };
    },
  };
}

/** Whether a call's grant is for this body. Machines with an earlier version, which run beside newer ones during an upgrade, name none. */
export const isOfBody = ({ body }: VerifiedGrant, text: string) => body === undefined || body === hashOf(text);

const hashOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("base64url");

/** What a grant is for: the method and the path with its query. */
export const requestLine = (method: string, url: string) => {
  const start = url.indexOf("/", "https://".length);
  return `${method} ${start < 0 ? "/" : url.slice(start)}`;
};
