// Sign-in with providers: redirects to the provider, then signs in the identity it returns, or links it to the account
// of the session that asked for it. With two-factor on, a sign-in requires a code first (see second-step.ts).

import { notFound } from "../../../src/kernel/errors.ts";
import type { AuthServices } from "../auth-services.ts";
import type { SignInEvidence } from "../sessions.ts";
import { signInSettings } from "../settings.ts";
import { safeCallbackPath } from "../sign-in/callback-url.ts";
import { isConfigured, isProviderName } from "./configured-providers.ts";
import { createFlows, type LinkTarget } from "./flows.ts";
import { createGithub } from "./github.ts";
import { createIdentityLinking } from "./identity-linking.ts";
import { OAuthFailure } from "./oauth-failure.ts";
import { createOpenid } from "./openid.ts";
import type { Provider, ProviderName, ProviderSettings } from "./provider.ts";
import { createProviderAccounts } from "./provider-accounts.ts";
import { createSecondStep, type SecondStep } from "./second-step.ts";

/** The callback path is part of the flow cookie, and browsers drop cookies beyond 4 KiB. */
const MAX_PATH = 2048;

/** The request with which a browser returns from the provider. */
export interface CallbackRequest {
  /** The client's address. */
  address: string;
  cookies: string | null;
  /** The query string, which holds the provider's response. */
  search: string;
  /** Two letters: the language of mails if an account is created. */
  locale: string;
  /** The session of the browser, if it has one. */
  session?: LinkTarget | undefined;
}

/**
 * The path to redirect to, and the user to sign in; without `signedIn` a code of the second factor is still required.
 */
export interface CallbackResult {
  location: string;
  signedIn?: { userId: string; evidence: SignInEvidence };
}

export interface OAuth {
  /**
   * The address of the provider, and the flow cookie to set. With `linkTo`, the identity will be linked instead of
   * signed in. Throws OAuthFailure, and 404 as `finish` does.
   */
  start(
    provider: string,
    callbackUrl: string | undefined,
    linkTo?: LinkTarget,
  ): Promise<{ location: string; cookie: string }>;
  /** The page that explains a failed flow. */
  failurePage(provider: string, callback: Pick<CallbackRequest, "cookies" | "search">): string;
  /**
   * Completes a flow. Pushes `set-cookie` values to `cookies`, which are valid also if it throws. Throws OAuthFailure;
   * 404 `PROVIDER_NOT_CONFIGURED`, or `NOT_FOUND` for an unknown provider; 429 past the rate of failures of one
   * address, or of new accounts.
   */
  finish(
    provider: string,
    callback: CallbackRequest,
    cookies: { push(cookie: string): unknown },
  ): Promise<CallbackResult>;
  readonly secondStep: SecondStep;
}

const SIGN_IN_PAGE = "/login";
/** The page that asks for the code. */
const CODE_PAGE = "/login?step=code";
/** The page with the linked sign-ins of the account. */
const LINKS_PAGE = "/account/sign-ins";

export function createOAuth(services: AuthServices): OAuth {
  const { config, limits } = services.kernel;
  const { oauth } = config.of(signInSettings);
  const flows = createFlows(services.kernel);
  const accounts = createProviderAccounts(services);
  const secondStep = createSecondStep({ ...services, accounts });
  const identityLinking = createIdentityLinking({ ...services, accounts });
  /** Built from the configuration alone, since a client chooses the Host header. */
  const redirectUri = (name: ProviderName) => `${config.baseUrl}/api/auth/callback/${name}`;
  const providers: Record<ProviderName, Provider | undefined> = {
    google: createConfigured("google", (settings) => createOpenid("google", settings)),
    github: createConfigured("github", createGithub),
    oidc: createConfigured("oidc", (settings) => createOpenid("oidc", settings)),
  };

  function createConfigured<Name extends ProviderName>(
    name: Name,
    create: (settings: (typeof oauth)[Name] & ProviderSettings) => Provider,
  ): Provider | undefined {
    const settings = oauth[name];
    const { clientId, clientSecret } = settings;
    if (!clientId || !clientSecret || !isConfigured(oauth, name)) return undefined;
    return create({ ...settings, clientId, clientSecret, redirectUri: redirectUri(name) });
  }

  function requireProvider(name: string): { name: ProviderName; provider: Provider } {
    if (!isProviderName(name)) throw notFound("There is no such provider: google, github or oidc.");
    const provider = providers[name];
    if (!provider) throw notFound("Sign-in with this provider is not set up here.", "PROVIDER_NOT_CONFIGURED");
    return { name, provider };
  }

  return {
    async start(providerName, callbackUrl, linkTo) {
      const { name, provider } = requireProvider(providerName);
      const path = safeCallbackPath(config, callbackUrl);
      const { flow, cookie } = flows.begin(name, path.length > MAX_PATH ? "/" : path, linkTo);
      return { location: (await provider.createAuthorizationUrl(flow)).href, cookie };
    },

    secondStep,

    failurePage(provider, { cookies, search }) {
      const state = new URLSearchParams(search).get("state");
      const flow = isProviderName(provider) ? flows.find(cookies, provider, state) : undefined;
      return flow?.linkTo ? LINKS_PAGE : SIGN_IN_PAGE;
    },

    async finish(providerName, callback, cookies) {
      const { name, provider } = requireProvider(providerName);
      const responseUrl = new URL(redirectUri(name) + callback.search);
      const flow = flows.find(callback.cookies, name, responseUrl.searchParams.get("state"));
      // A forged response must not end an open flow: the cookie is cleared only when the state matches.
      if (!flow) throw new OAuthFailure("STATE_INVALID");
      // Each attempt calls the provider and writes: count it before, and refund it after a success.
      await limits.takeOrThrow("sign-in-ip", callback.address);
      cookies.push(flows.clearCookie);
      if (!(await flows.consume(flow))) throw new OAuthFailure("STATE_INVALID", "the state was used before");
      const identity = await provider.identify(responseUrl, flow);
      const { callbackUrl, linkTo } = flow;
      if (linkTo) {
        await identityLinking.link(identity, linkTo, callback.session);
        limits.refund("sign-in-ip", callback.address);
        return { location: `${LINKS_PAGE}?linked=${name}` };
      }
      const { userId, codeRequiredTo } = await accounts.resolve(identity, callback);
      limits.refund("sign-in-ip", callback.address);
      const { subject } = identity;
      const evidence = { linkedAccount: { provider: name, subject }, twoFactor: false };
      if (!codeRequiredTo) return { location: callbackUrl, signedIn: { userId, evidence } };
      cookies.push(await secondStep.begin({ userId, identity, mustLink: codeRequiredTo === "link", callbackUrl }));
      return { location: CODE_PAGE };
    },
  };
}
