// The identity behind a request: its types, and small checks on them.
import { forbidden } from "../../src/kernel/errors.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { looksLikeApiKey, type Scope } from "./api-keys/api-keys.ts";
import type { Session } from "./sessions.ts";
import type { User } from "./users.ts";

/** A user who is signed in by a session or an API key. `isAdmin` is valid for this request only. */
export interface Identity {
  user: User;
  isAdmin: boolean;
  /** Undefined for an API key. */
  session: Session | undefined;
  /** The id of the session or API key. */
  credentialId: string;
  scopes: ReadonlySet<Scope>;
}

/** A user who is signed in by a session, not by an API key. */
export interface SessionIdentity extends Identity {
  session: Session;
}

/** The user on whose behalf a backend route acts. */
export interface Caller {
  userId: string;
  isAdmin: boolean;
  /** The client's address, not that of the web surface that forwards the request. */
  address: string;
  /** The agent that the service token names, if any. */
  agentId: string | undefined;
  /** Authenticated by a service token: the web surface that signed it has already checked and counted the request. */
  hasServiceToken: boolean;
  /** The id of the session or API key, if known: see `credentialStillValidStatements`. */
  credentialId?: string | undefined;
}

/** The token of `Authorization: Bearer …` (RFC 6750 §2.1), unchecked; undefined for another scheme or no header. */
export function bearerOf({ headers }: Request): string | undefined {
  const value = headers.get("authorization");
  const found = value === null ? null : /^bearer(?:\s+(.*))?$/i.exec(value);
  return found ? (found[1] ?? "") : undefined;
}

/** The API key of a request: the bearer token, or the header of Anthropic's clients, which only an API key of Berth may be in. */
export function keyOf(request: Request): string | undefined {
  const bearer = bearerOf(request);
  if (bearer !== undefined) return bearer;
  const key = request.headers.get("x-api-key");
  return key !== null && looksLikeApiKey(key) ? key : undefined;
}

/** Throws 403 `MISSING_SCOPE` if an API key lacks this scope; sessions have all scopes. */
export function requireScope({ scopes }: Pick<Identity, "scopes">, scope: Scope): void {
  if (scopes.has(scope)) return;
  throw forbidden("MISSING_SCOPE", `This API key lacks the scope "${scope}". Make one that has it.`);
}

/** Counts one request of this account, from whichever address; throws 429 past the rate that one address has. */
export function takeAccountRate(limits: RateLimiter, userId: string): void {
  const decision = limits.take("default", `user ${userId}`);
  if (!decision.allowed) throw limits.tooManyRequests(decision);
}
