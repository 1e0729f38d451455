// Who sent a request: the types that every service and route shares, and small checks on them.
import { forbidden } from "../../src/kernel/errors.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import type { Scope } from "./api-keys/api-keys.ts";
import type { Session } from "./sessions.ts";
import type { User } from "./users.ts";

/** Somebody signed in, by a session or by an API key. `isAdmin` is what counts for this very request. */
export interface Identity {
  user: User;
  isAdmin: boolean;
  /** Undefined for an API key. */
  session: Session | undefined;
  /** The id of the session or API key. */
  credentialId: string;
  scopes: ReadonlySet<Scope>;
}

/** Somebody who has signed in, not only brought a key. */
export interface SessionIdentity extends Identity {
  session: Session;
}

/** Who the backend works for. */
export interface Caller {
  userId: string;
  isAdmin: boolean;
  /** The client's address, also when the web surface is in between. */
  address: string;
  /** The agent that a service token is good for. */
  agentId: string | undefined;
  /** They came with a service token: whoever signed it has let them in, and counted them. */
  hasServiceToken: boolean;
  /** The id of the session or API key that they came with, as far as that is known: see `standing`. */
  credentialId?: string | undefined;
}

/** The token of `Authorization: Bearer …` (RFC 6750 §2.1), good or not; undefined where another scheme or none is used. */
export function bearerOf({ headers }: Request): string | undefined {
  const value = headers.get("authorization");
  const found = value === null ? null : /^bearer(?:\s+(.*))?$/i.exec(value);
  return found ? (found[1] ?? "") : undefined;
}

/** Throws 403 `MISSING_SCOPE` for an API key that lacks this scope. */
export function requireScope({ scopes }: Pick<Identity, "scopes">, scope: Scope): void {
  if (scopes.has(scope)) return;
  throw forbidden("MISSING_SCOPE", `This API key lacks the scope "${scope}". Make one that has it.`);
}

/** Counts one request of this account; throws 429 past the rate, which is that of one address for all its addresses. */
export function takeAccountRate(limits: RateLimiter, userId: string): void {
  const decision = limits.take("default", `user ${userId}`);
  if (!decision.allowed) throw limits.tooManyRequests(decision);
}
