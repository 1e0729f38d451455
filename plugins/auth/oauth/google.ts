// Google, or any other OpenID provider in its place: who somebody is stands in a signed ID token.

import { OAuthFailure } from "./failure.ts";
import {
  boundedFetch,
  type Provider,
  type ProviderSettings,
  pkce,
  protocol,
  refuseMixUp,
  remembered,
  TIMEOUT,
  withProvider,
} from "./provider.ts";

const HOUR = 3_600_000;

/** OpenID Connect Core 1.0, code flow. Plain http only for an issuer that is configured so. */
export function createGoogle(settings: ProviderSettings & { issuer: string }): Provider {
  const { clientId, clientSecret, redirectUri, issuer } = settings;

  const discovered = remembered(async () => {
    const library = await protocol();
    const insecure = issuer.startsWith("http:") ? [library.allowInsecureRequests] : [];
    return library.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      timeout: TIMEOUT,
      execute: [library.enableNonRepudiationChecks, ...insecure],
      [library.customFetch]: boundedFetch,
    });
  }, HOUR);

  /** Whatever keeps us from knowing the provider, it is not the visitor's doing. */
  const server = () =>
    discovered().catch((error) => {
      const why = error instanceof Error && "code" in error ? (error.code ?? "no answer") : "no answer";
      throw new OAuthFailure("PROVIDER_UNAVAILABLE", `discovery: ${why}`);
    });

  return {
    authorize: (checks) =>
      withProvider(async () => {
        const { buildAuthorizationUrl } = await protocol();
        const { state, nonce } = checks;
        return buildAuthorizationUrl(await server(), {
          redirect_uri: redirectUri,
          scope: "openid email profile",
          state,
          nonce,
          ...(await pkce(checks)),
        });
      }),

    identify: (answer, { state, nonce, verifier }) =>
      withProvider(async () => {
        const { authorizationCodeGrant } = await protocol();
        const config = await server();
        const { issuer, authorization_response_iss_parameter_supported: namesItself } = config.serverMetadata();
        refuseMixUp(answer, { issuer, namesItself });
        const tokens = await authorizationCodeGrant(config, answer, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) throw new OAuthFailure("SIGN_IN_FAILED", "no ID token");
        const { sub, email, email_verified, name } = claims;
        return {
          provider: "google",
          subject: sub,
          ...(typeof email === "string" && email_verified === true && { email }),
          ...(typeof name === "string" && { name }),
        };
      }),
  };
}
