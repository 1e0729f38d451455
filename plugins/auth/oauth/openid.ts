// Sign-in with an OpenID Connect provider, Google or any other: the identity comes from a signed ID token.
import type { Configuration, IDToken } from "openid-client";
import { HOUR } from "../../../src/kernel/util/time.ts";
import { OAuthFailure } from "./oauth-failure.ts";
import {
  boundedFetch,
  loadOpenidClient,
  mapProviderErrors,
  memoizeAsync,
  type Provider,
  type ProviderSettings,
  pkceParameters,
  rejectMixUp,
  TIMEOUT_SECONDS,
} from "./provider.ts";

type OpenidProviderName = "google" | "oidc";

/** OpenID Connect Core 1.0, code flow. Plain http only for an issuer that is configured so. */
export function createOpenid(name: OpenidProviderName, settings: ProviderSettings & { issuer: string }): Provider {
  const { clientId, clientSecret, redirectUri, issuer } = settings;

  const discover = memoizeAsync(async () => {
    const library = await loadOpenidClient();
    const insecure = issuer.startsWith("http:") ? [library.allowInsecureRequests] : [];
    return library.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      timeout: TIMEOUT_SECONDS,
      execute: [library.enableNonRepudiationChecks, ...insecure],
      [library.customFetch]: boundedFetch,
    });
  }, HOUR);

  /** Every failure of the discovery is reported as an outage of the provider, since the visitor can't cause one. */
  const getConfiguration = () =>
    discover().catch((error) => {
      const reason = error instanceof Error && "code" in error ? (error.code ?? "no answer") : "no answer";
      throw new OAuthFailure("PROVIDER_UNAVAILABLE", `discovery: ${reason}`);
    });

  return {
    createAuthorizationUrl: (checks) =>
      mapProviderErrors(async () => {
        const { buildAuthorizationUrl } = await loadOpenidClient();
        const { state, nonce } = checks;
        return buildAuthorizationUrl(await getConfiguration(), {
          redirect_uri: redirectUri,
          scope: "openid email profile",
          state,
          nonce,
          ...(await pkceParameters(checks)),
        });
      }),

    identify: (responseUrl, { state, nonce, verifier }) =>
      mapProviderErrors(async () => {
        const { authorizationCodeGrant } = await loadOpenidClient();
        const config = await getConfiguration();
        const { issuer, authorization_response_iss_parameter_supported: sendsIssuer } = config.serverMetadata();
        rejectMixUp(responseUrl, { issuer, sendsIssuer });
        const tokens = await authorizationCodeGrant(config, responseUrl, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) throw new OAuthFailure("SIGN_IN_FAILED", "no ID token");
        const { sub, email, email_verified: isVerified, name: fullName } = await completeClaims(config, tokens, claims);
        return {
          provider: name,
          subject: subjectOf(name, issuer, sub),
          ...(typeof email === "string" && { label: email, ...(isVerified === true && { email }) }),
          ...(typeof fullName === "string" && { name: fullName }),
        };
      }),
  };
}

/**
 * The permanent id of a user. A subject is unique within its issuer only (OpenID Connect Core 1.0 §2), and an operator
 * may replace the one provider by another. Google's stays as it always was stored.
 */
const subjectOf = (name: OpenidProviderName, issuer: string, sub: string) =>
  name === "google" ? sub : `${issuer}#${sub}`;

type Tokens = Awaited<ReturnType<typeof import("openid-client").authorizationCodeGrant>>;

/** Many providers send the address only from their userinfo endpoint (OpenID Connect Core 1.0 §5.4). */
async function completeClaims(config: Configuration, tokens: Tokens, claims: IDToken): Promise<IDToken> {
  if (claims.email !== undefined || config.serverMetadata().userinfo_endpoint === undefined) return claims;
  const { fetchUserInfo } = await loadOpenidClient();
  return { ...(await fetchUserInfo(config, tokens.access_token, claims.sub)), ...claims };
}
