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
  /** The node that the request is for. */
  node: string;
  /** Method and path. */
  request: string;
  /** Epoch ms. */
  expires: number;
}

const LIFETIME_MS = 30 * SECOND;
const PURPOSE = "cluster-relay";

export interface RelayGrants {
  sign(grant: RelayGrant, node: string, request: string): string;
  /** Undefined for a grant that is forged, old, or for another node or request. */
  verify(header: string, node: string, request: string): RelayGrant | undefined;
}

export function createRelayGrants(vault: Vault): RelayGrants {
  return {
    sign(grant, node, request) {
      const claims: Claims = { ...grant, node, request, expires: Date.now() + LIFETIME_MS };
      const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
      return `${payload}.${vault.sign(PURPOSE, payload)}`;
    },
    verify(header, node, request) {
      const [payload, mac, ...rest] = header.split(".");
      if (!payload || !mac || rest.length > 0 || !vault.verify(PURPOSE, payload, mac)) return undefined;
      const claims: Claims = JSON.parse(Buffer.from(payload, "base64url").toString());
      const isValid = Date.now() < claims.expires && claims.node === node && claims.request === request;
      const { surface, cell, clientAddress } = claims;
      return isValid ? { surface, cell, clientAddress } : undefined;
    },
  };
}

/** What a grant is for: the method and the path with its query. */
export const requestLine = (method: string, url: string) => {
  const start = url.indexOf("/", "https://".length);
  return `${method} ${start < 0 ? "/" : url.slice(start)}`;
};
