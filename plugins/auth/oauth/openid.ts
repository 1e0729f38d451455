// Sign-in with an OpenID Connect provider, Google or any other: the identity comes from a signed ID token.
import type { Configuration, IDToken, ServerMetadata } from "openid-client";
import { HOUR } from "../../../src/kernel/util/time.ts";
import { type OpenidProviderSettings, subjectOf } from "./configured-providers.ts";
import { OAuthFailure } from "./oauth-failure.ts";
import {
  boundedFetch,
  type Checks,
  grantTokens,
  loadOpenidClient,
  mapProviderErrors,
  memoizeAsync,
  type Provider,
  type ProviderIdentity,
  pkceParameters,
  rejectMixUp,
  TIMEOUT_SECONDS,
} from "./provider.ts";

/** How a client may prove its secret (OpenID Connect Core 1.0 §9), in the order in which they are tried. */
const AUTH_METHODS = ["client_secret_post", "client_secret_basic"] as const;
type AuthMethod = (typeof AUTH_METHODS)[number];

/** OpenID Connect Core 1.0, code flow. Plain http only for an issuer that is configured so. */
export function createOpenid(settings: OpenidProviderSettings & { redirectUri: string }): Provider {
  const { kind, clientId, clientSecret, redirectUri, issuer, scope } = settings;
  /** The method that the provider accepted last. */
  let accepted: AuthMethod | undefined;

  const discover = memoizeAsync(async (): Promise<ServerMetadata> => {
    const library = await loadOpenidClient();
    // The address of the metadata, not the issuer: then a slash at the issuer's end is compared here.
    const config = await library.discovery(
      new URL(`${issuer}/.well-known/openid-configuration`),
      clientId,
      clientSecret,
      undefined,
      {
        timeout: TIMEOUT_SECONDS,
        execute: issuer.startsWith("http:") ? [library.allowInsecureRequests] : [],
        [library.customFetch]: boundedFetch,
      },
    );
    const metadata = config.serverMetadata();
    if (metadata.issuer.replace(/\/$/, "") !== issuer) {
      throw new OAuthFailure("PROVIDER_UNAVAILABLE", "its metadata names another issuer than the configuration");
    }
    return metadata;
  }, HOUR);

  /** Every failure of the discovery is reported as an outage of the provider, since the visitor can't cause one. */
  const getMetadata = () =>
    discover().catch((error) => {
      if (error instanceof OAuthFailure) throw error;
      if (error instanceof Error && error.cause instanceof OAuthFailure) throw error.cause;
      const reason = error instanceof Error && "code" in error ? (error.code ?? "no answer") : "no answer";
      throw new OAuthFailure("PROVIDER_UNAVAILABLE", `discovery: ${reason}`);
    });

  /**
   * A client of its own for each sign-in: the library keeps a provider's keys with the client, and would refuse the tokens of
   * a key that has replaced them within the last minute.
   */
  async function createClient(metadata: ServerMetadata, method: AuthMethod): Promise<Configuration> {
    const library = await loadOpenidClient();
    const authenticate =
      method === "client_secret_post"
        ? library.ClientSecretPost(clientSecret)
        : library.ClientSecretBasic(clientSecret);
    const config = new library.Configuration(metadata, clientId, clientSecret, authenticate);
    config.timeout = TIMEOUT_SECONDS;
    config[library.customFetch] = boundedFetch;
    library.enableNonRepudiationChecks(config);
    if (issuer.startsWith("http:")) library.allowInsecureRequests(config);
    return config;
  }

  /** Exchanges the code; tries the next method of authentication where the provider refuses one. */
  async function exchange(responseUrl: URL, metadata: ServerMetadata, { state, nonce, verifier }: Checks) {
    const expected = {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    };
    const methods = [...new Set([...(accepted ? [accepted] : []), ...authMethodsOf(metadata)])];
    for (const [index, method] of methods.entries()) {
      const client = await createClient(metadata, method);
      try {
        const tokens = await grantTokens(client, responseUrl, expected);
        accepted = method;
        return { client, tokens };
      } catch (error) {
        const isRefused = error instanceof OAuthFailure && error.code === "PROVIDER_MISCONFIGURED";
        if (!isRefused || index === methods.length - 1) throw error;
      }
    }
    throw new OAuthFailure("PROVIDER_MISCONFIGURED");
  }

  /** Some providers send the address or the groups only from their userinfo endpoint (OpenID Connect Core 1.0 §5.4). */
  async function completeClaims(client: Configuration, { accessToken, claims }: Answer): Promise<Claims> {
    const lacksGroups = settings.adminGroups.length > 0 && findClaim(claims, settings.groupsClaim) === undefined;
    if (claims.email !== undefined && !lacksGroups) return claims;
    if (client.serverMetadata().userinfo_endpoint === undefined) return claims;
    const { fetchUserInfo } = await loadOpenidClient();
    const info = await fetchUserInfo(client, accessToken, claims.sub);
    // The address and whether it is verified come from one place.
    const { email, email_verified } = claims.email === undefined ? info : claims;
    return { ...info, ...claims, email, email_verified };
  }

  function toIdentity(issuedBy: string, claims: Claims): ProviderIdentity {
    const { sub, email, email_verified: isVerified, name: fullName } = claims;
    const isTrusted = isVerified === true || (settings.trustsEmail && isVerified === undefined);
    return {
      provider: kind,
      subject: subjectOf(kind, issuedBy, sub),
      ...(typeof email === "string" && { label: email, ...(isTrusted && { email }) }),
      ...(typeof fullName === "string" && { name: fullName }),
      ...(settings.adminGroups.length > 0 && { adminGroups: adminGroupsIn(claims) }),
    };
  }

  /** The groups of the person that make admins. A missing claim means none: providers leave it out then. */
  function adminGroupsIn(claims: Claims): string[] {
    const found = findClaim(claims, settings.groupsClaim);
    const groups: readonly unknown[] = Array.isArray(found) ? found : [found];
    return settings.adminGroups.filter((group) => groups.includes(group));
  }

  return {
    createAuthorizationUrl: (checks) =>
      mapProviderErrors(async () => {
        const { buildAuthorizationUrl } = await loadOpenidClient();
        const { state, nonce } = checks;
        return buildAuthorizationUrl(await createClient(await getMetadata(), AUTH_METHODS[0]), {
          redirect_uri: redirectUri,
          scope,
          state,
          nonce,
          ...(await pkceParameters(checks)),
        });
      }),

    identify: (responseUrl, checks) =>
      mapProviderErrors(async () => {
        const metadata = await getMetadata();
        const { issuer, authorization_response_iss_parameter_supported: sendsIssuer } = metadata;
        rejectMixUp(responseUrl, { issuer, sendsIssuer });
        const { client, tokens } = await exchange(responseUrl, metadata, checks);
        const claims = tokens.claims();
        if (!claims) throw new OAuthFailure("SIGN_IN_FAILED", "no ID token");
        return toIdentity(issuer, await completeClaims(client, { accessToken: tokens.access_token, claims }));
      }),

    check: async () => void (await getMetadata()),
  };
}

type Claims = { readonly [claim: string]: unknown } & Pick<IDToken, "sub">;

interface Answer {
  accessToken: string;
  claims: IDToken;
}

/** Providers that name no method take the one of the standard (OpenID Connect Discovery 1.0 §3). */
function authMethodsOf({ token_endpoint_auth_methods_supported: named }: ServerMetadata): readonly AuthMethod[] {
  const supported = named ?? ["client_secret_basic"];
  const usable = AUTH_METHODS.filter((method) => supported.includes(method));
  return usable.length > 0 ? usable : AUTH_METHODS;
}

/** A claim by its name, which may hold dots; else along a path of names with dots between. */
function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Object.getOwnPropertyDescriptor(value, part)?.value;
  }
  return value;
}
