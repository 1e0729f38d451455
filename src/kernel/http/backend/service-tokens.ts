// Signs and verifies service tokens: the short-lived grants under which the web surface calls the backend.
import type { RequestActor } from "../../audit/actor.ts";
import type { Vault } from "../../security/vault.ts";
import { SECOND } from "../../util/time.ts";

/** The user, the action and the agent of one backend call, as the web surface has authorized it. Signed as JSON. */
export interface Grant {
  userId: string;
  /** Whether the web surface found the user to be an admin. */
  isAdmin: boolean;
  /** The id of the session or API key that the user came with; a long operation checks at its end that it still exists. */
  credentialId?: string;
  /** The agent that the action concerns; left out when it concerns no single one. */
  agentId?: string;
  /** The only action that the grant allows, such as `agent.chat`. */
  action: string;
  /** The client's address, for limits and logs. */
  address: string;
  /** Whose change it is, for the audit log; left out by a surface of an earlier version. */
  actor?: RequestActor;
}

/** What a service token holds: the grant, with `credentialId` as `shown`, and the time at which it expires, in ms. */
type Claims = Omit<Grant, "credentialId"> & { shown?: string | undefined; expires: number };

/** Milliseconds until a service token expires. It covers the way to the backend, not the work there. */
const TOKEN_LIFETIME_MS = 30 * SECOND;
const TOKEN_PREFIX = "st.";

/** The `www-authenticate` header of a backend that refuses a service token (RFC 6750, section 3): a fault of ours. */
export const INVALID_TOKEN_CHALLENGE = 'Bearer error="invalid_token"';

export interface ServiceTokens {
  sign(grant: Grant): string;
  /** Returns the grant of a token; undefined when its signature is wrong or it has expired. */
  verify(token: string): Grant | undefined;
}

/** Makes tokens of the form `st.<payload>.<mac>`, signed with a key that is derived from the root key. */
export function createServiceTokens(vault: Vault): ServiceTokens {
  return {
    sign({ credentialId, ...grant }) {
      // The claim keeps its name on the wire, so that surfaces of different versions check the same credential.
      const claims: Claims = { ...grant, shown: credentialId, expires: Date.now() + TOKEN_LIFETIME_MS };
      const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
      return `${TOKEN_PREFIX}${payload}.${vault.sign("service-token", payload)}`;
    },
    verify(token) {
      if (!token.startsWith(TOKEN_PREFIX)) return undefined;
      const [payload, mac, ...rest] = token.slice(TOKEN_PREFIX.length).split(".");
      if (!payload || !mac || rest.length > 0 || !vault.verify("service-token", payload, mac)) return undefined;
      const { expires, shown, ...grant }: Claims = JSON.parse(Buffer.from(payload, "base64url").toString());
      // Written so that a token without a number here has expired, too.
      const isCurrent = Date.now() < expires;
      if (!isCurrent) return undefined;
      return shown === undefined ? grant : { ...grant, credentialId: shown };
    },
  };
}
