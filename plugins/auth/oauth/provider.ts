// What Google and GitHub have in common: the protocol through openid-client, bounded in time and size, and told apart when it fails.
import type { CustomFetch } from "openid-client";
import type { LinkedAccount } from "../linked-accounts.ts";
import { OAuthFailure } from "./oauth-failure.ts";

export type ProviderName = "google" | "github";

/** The random parts of one sign-in; the browser keeps them, sealed, until it comes back. */
export interface Checks {
  state: string;
  nonce: string;
  /** Of PKCE (RFC 7636). */
  verifier: string;
}

/** Somebody, as the provider knows them. */
export interface ProviderIdentity extends LinkedAccount {
  provider: ProviderName;
  /** As it came. Left out unless the provider says that it is verified. */
  email?: string;
  name?: string;
}

export interface Provider {
  /** Where to send the visitor. Throws OAuthFailure. */
  createAuthorizationUrl(checks: Checks): Promise<URL>;
  /** Who came back; `answer` is our redirect address with the provider's parameters. Throws OAuthFailure. */
  identify(responseUrl: URL, checks: Checks): Promise<ProviderIdentity>;
}

export interface ProviderSettings {
  clientId: string;
  clientSecret: string;
  redirectUri: string;
}

/** Seconds for one exchange. No sign-in makes more than three in a row, so that nobody waits longer than ten. */
export const TIMEOUT_SECONDS = 3;
/** No honest answer of a provider is bigger. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/** The library, loaded at the first sign-in. */
export const loadOpenidClient = () => import("openid-client");

/** Sends the visitor on with PKCE S256. */
export async function pkceParameters({ verifier }: Checks) {
  const { calculatePKCECodeChallenge } = await loadOpenidClient();
  return { code_challenge: await calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" };
}

/** Fetch that reads the whole answer, unless it is too large; the library's signal bounds the time of both. */
export const boundedFetch: CustomFetch = async (url, { body, ...options }) => {
  const response = await fetch(url, { ...options, body: body ?? null });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_RESPONSE_BYTES) throw new OAuthFailure("PROVIDER_UNAVAILABLE", "an answer is too large");
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(size > 0 ? Buffer.concat(chunks) : null, { status, headers });
};

/** The provider named itself in the answer (RFC 9207), and it is another one: two providers are being mixed up. */
export function rejectMixUp(responseUrl: URL, server: { issuer: string; sendsIssuer?: boolean | undefined }): void {
  const issuer = responseUrl.searchParams.get("iss");
  if (issuer === server.issuer || (issuer === null && !server.sendsIssuer)) return;
  throw new OAuthFailure("STATE_INVALID", "the answer names another issuer");
}

/** What the library says when nobody was there to answer, or nobody who speaks the protocol. */
const UNAVAILABLE_CODES = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_PARSE_ERROR",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
]);

/** Runs a step with the provider. What it throws becomes an OAuthFailure, without a word or a token of the provider's. */
export async function mapProviderErrors<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw await toOAuthFailure(error);
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

/** An error code of the protocol (RFC 6749 §5.2 and its like), which helps an operator; anything else is not repeated. */
const safeErrorCode = (code: string) => (/^[a-z_]{1,40}$/.test(code) ? code : "an error of its own");

/** The outcome of `load`, kept for so long; a failure is not kept, and a crowd asks once. */
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
