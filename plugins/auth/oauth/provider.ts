// The common part of the providers: calls through openid-client with limits of time and size, and mapping of its
// errors.
import type { AuthorizationCodeGrantChecks, Configuration, CustomFetch } from "openid-client";
import type { LinkedAccount, LinkedProvider } from "./linked-accounts.ts";
import { OAuthFailure } from "./oauth-failure.ts";

/** The random values of one sign-in. The browser keeps them in the sealed flow cookie. */
export interface Checks {
  state: string;
  nonce: string;
  /** The code verifier of PKCE (RFC 7636). */
  verifier: string;
}

/** A user of the provider. */
export interface ProviderIdentity extends LinkedAccount {
  provider: Exclude<LinkedProvider, "wallet">;
  /** As sent by the provider, not normalised. Left out unless the provider says that it is verified. */
  email?: string;
  name?: string;
  /**
   * The person's groups that make admins, as this provider says; empty if they are in none. Left out if the provider makes no
   * admins.
   */
  adminGroups?: readonly string[];
}

export interface Provider {
  /** Where to send the visitor. Throws OAuthFailure. */
  createAuthorizationUrl(checks: Checks): Promise<URL>;
  /**
   * The identity that the response proves; `responseUrl` is the redirect URI with the provider's parameters. Throws
   * OAuthFailure.
   */
  identify(responseUrl: URL, checks: Checks): Promise<ProviderIdentity>;
  /** Throws OAuthFailure if a sign-in could not begin now. Missing for a provider that has no metadata to ask for. */
  check?(): Promise<void>;
}

export interface ProviderSettings {
  clientId: string;
  clientSecret: string;
  redirectUri: string;
}

/** Seconds for one request to a provider. A sign-in makes at most three in a row: about ten seconds in total. */
export const TIMEOUT_SECONDS = 3;
/** Larger responses are refused: genuine ones are far smaller. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/** The library, imported at the first sign-in to keep the start fast. */
export const loadOpenidClient = () => import("openid-client");

/** The parameters of an authorization request for PKCE with S256. */
export async function pkceParameters({ verifier }: Checks) {
  const { calculatePKCECodeChallenge } = await loadOpenidClient();
  return { code_challenge: await calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" };
}

/** A fetch that buffers the response up to the size limit, so that the library's abort signal also covers the body. */
export const boundedFetch: CustomFetch = async (url, { body, ...options }) => {
  const response = await fetch(url, { ...options, body: body ?? null });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_RESPONSE_BYTES) throw new OAuthFailure("PROVIDER_UNAVAILABLE", "a response is too large");
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(size > 0 ? Buffer.concat(chunks) : null, { status, headers });
};

/** Refuses a response whose `iss` names another issuer (RFC 9207), which prevents mix-up attacks. */
export function rejectMixUp(responseUrl: URL, server: { issuer: string; sendsIssuer?: boolean | undefined }): void {
  const issuer = responseUrl.searchParams.get("iss");
  if (issuer === server.issuer || (issuer === null && !server.sendsIssuer)) return;
  throw new OAuthFailure("STATE_INVALID", "the response names another issuer");
}

/** Error codes of the library for a provider that did not respond, or not in the protocol. */
const UNAVAILABLE_CODES = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_PARSE_ERROR",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
]);

/** Runs an operation and maps its errors to an OAuthFailure without text or tokens of the provider. */
export async function mapProviderErrors<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw await toOAuthFailure(error);
  }
}

/** Error codes for a client that the provider does not know, or that has another secret: RFC 6749 §5.2, and GitHub's. */
const CLIENT_REFUSALS = new Set(["invalid_client", "unauthorized_client", "incorrect_client_credentials"]);

/** Exchanges the code of a response for tokens. Throws OAuthFailure `PROVIDER_MISCONFIGURED` if the client is refused. */
export async function grantTokens(client: Configuration, responseUrl: URL, checks: AuthorizationCodeGrantChecks) {
  const { authorizationCodeGrant, ResponseBodyError, WWWAuthenticateChallengeError } = await loadOpenidClient();
  try {
    return await authorizationCodeGrant(client, responseUrl, checks);
  } catch (error) {
    const isRefused =
      error instanceof WWWAuthenticateChallengeError ||
      (error instanceof ResponseBodyError && CLIENT_REFUSALS.has(error.error));
    throw isRefused ? new OAuthFailure("PROVIDER_MISCONFIGURED") : error;
  }
}

async function toOAuthFailure(error: unknown): Promise<OAuthFailure> {
  const { AuthorizationResponseError, ClientError, ResponseBodyError } = await loadOpenidClient();
  if (error instanceof AuthorizationResponseError) {
    if (error.error === "access_denied") return new OAuthFailure("ACCESS_DENIED");
    const isUnavailable = error.error === "server_error" || error.error === "temporarily_unavailable";
    return new OAuthFailure(isUnavailable ? "PROVIDER_UNAVAILABLE" : "SIGN_IN_FAILED", safeErrorCode(error.error));
  }
  if (error instanceof ResponseBodyError) {
    return new OAuthFailure(
      error.status >= 500 ? "PROVIDER_UNAVAILABLE" : "SIGN_IN_FAILED",
      safeErrorCode(error.error),
    );
  }
  if (error instanceof ClientError) {
    if (error.cause instanceof OAuthFailure) return error.cause;
    const { code = "" } = error;
    return new OAuthFailure(
      code === "" || UNAVAILABLE_CODES.has(code) ? "PROVIDER_UNAVAILABLE" : "SIGN_IN_FAILED",
      code,
    );
  }
  if (error instanceof OAuthFailure) return error;
  return new OAuthFailure("PROVIDER_UNAVAILABLE", error instanceof Error ? error.name : "");
}

/**
 * Passes error codes in the form of the protocol (RFC 6749 §5.2) on to the log; anything else could be arbitrary text.
 */
const safeErrorCode = (code: string) => (/^[a-z_]{1,40}$/.test(code) ? code : "unrecognized error code");

/** Caches the result of `load` for `lifetimeMs`. Concurrent callers share one load; a failure is not cached. */
export function memoizeAsync<T>(load: () => Promise<T>, lifetimeMs: number): () => Promise<T> {
  let cached: { value: Promise<T>; until: number } | undefined;
  return () => {
    if (cached && cached.until > Date.now()) return cached.value;
    const value = load();
    const entry = { value, until: Date.now() + lifetimeMs };
    cached = entry;
    value.catch(() => {
      if (cached === entry) cached = undefined;
    });
    return value;
  };
}
