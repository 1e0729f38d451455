// Sign-in with GitHub: plain OAuth 2 without ID tokens, so the identity is fetched from the API with the access token.
// For GitHub Enterprise Server both base addresses are configurable.
import { OAuthFailure } from "./oauth-failure.ts";
import {
  boundedFetch,
  grantTokens,
  loadOpenidClient,
  mapProviderErrors,
  type Provider,
  type ProviderSettings,
  pkceParameters,
  rejectMixUp,
  TIMEOUT_SECONDS,
} from "./provider.ts";

/** https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps */
export function createGithub(settings: ProviderSettings & { baseUrl: string; apiUrl: string }): Provider {
  const { clientId, clientSecret, redirectUri, baseUrl, apiUrl } = settings;
  // GitHub publishes no metadata; this is the `iss` parameter of its authorization responses since 2026.
  const issuer = `${baseUrl}/login/oauth`;

  async function createConfiguration() {
    const library = await loadOpenidClient();
    const config = new library.Configuration(
      { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/access_token` },
      clientId,
      clientSecret,
    );
    config.timeout = TIMEOUT_SECONDS;
    config[library.customFetch] = boundedFetch;
    if ([baseUrl, apiUrl].some((url) => url.startsWith("http:"))) library.allowInsecureRequests(config);
    return config;
  }

  return {
    createAuthorizationUrl: (checks) =>
      mapProviderErrors(async () => {
        const { buildAuthorizationUrl } = await loadOpenidClient();
        return buildAuthorizationUrl(await createConfiguration(), {
          redirect_uri: redirectUri,
          scope: "read:user user:email",
          state: checks.state,
          ...(await pkceParameters(checks)),
        });
      }),

    identify: (responseUrl, { state, verifier }) =>
      mapProviderErrors(async () => {
        const { fetchProtectedResource } = await loadOpenidClient();
        const config = await createConfiguration();
        rejectMixUp(responseUrl, { issuer });
        const checks = { expectedState: state, pkceCodeVerifier: verifier };
        const { access_token } = await grantTokens(config, responseUrl, checks);

        async function getJson(path: string): Promise<unknown> {
          const headers = new Headers({ accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" });
          const url = new URL(apiUrl + path);
          const response = await fetchProtectedResource(config, access_token, url, "GET", undefined, headers);
          if (!response.ok) throw new OAuthFailure("PROVIDER_UNAVAILABLE", `${path} answers ${response.status}`);
          return response.json();
        }
        const [user, emails] = await Promise.all([getJson("/user"), getJson("/user/emails?per_page=100")]);
        return { provider: "github", ...readProfile(user), ...readPrimaryEmail(emails) };
      }),
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Uses the numeric id, which never changes; a login can be given up and taken by another user. */
function readProfile(user: unknown): { subject: string; label?: string; name?: string } {
  if (!isRecord(user) || !Number.isSafeInteger(user.id) || Number(user.id) <= 0) {
    throw new OAuthFailure("PROVIDER_UNAVAILABLE", "/user has no id");
  }
  const name = [user.name, user.login].find((text) => typeof text === "string" && text.trim() !== "");
  const { login } = user;
  return {
    subject: String(user.id),
    ...(typeof login === "string" && { label: login }),
    ...(typeof name === "string" && { name }),
  };
}

function readPrimaryEmail(emails: unknown): { email?: string } {
  if (!Array.isArray(emails)) throw new OAuthFailure("PROVIDER_UNAVAILABLE", "/user/emails is not a list");
  const primary: unknown = emails.find(
    (entry: unknown) => isRecord(entry) && entry.primary === true && entry.verified === true,
  );
  return isRecord(primary) && typeof primary.email === "string" ? { email: primary.email } : {};
}
