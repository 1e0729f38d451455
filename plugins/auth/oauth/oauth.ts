// Sign-in with providers: redirects to the provider, then signs in the identity it returns, or links it to the account
// of the session that asked for it. With two-factor on, a sign-in requires a code first (see second-step.ts).

import { Elsewhere } from "../../../src/kernel/cells/cells.ts";
import type { Forwarding } from "../../../src/kernel/cells/forwarding.ts";
import { notFound } from "../../../src/kernel/errors.ts";
import type { AuthServices } from "../auth-services.ts";
import type { SignInEvidence } from "../sessions.ts";
import { safeCallbackPath } from "../sign-in/callback-url.ts";
import type { AdminGroups, SignInRequest } from "./admin-groups.ts";
import { configuredProviders, isProviderId, type ProviderId } from "./configured-providers.ts";
import { createFlows, type LinkTarget } from "./flows.ts";
import { createGithub } from "./github.ts";
import { createIdentityLinking } from "./identity-linking.ts";
import { OAuthFailure } from "./oauth-failure.ts";
import { createOpenid } from "./openid.ts";
import type { Provider, ProviderIdentity } from "./provider.ts";
import { createProviderAccounts } from "./provider-accounts.ts";
import { createReachability, type Reachability } from "./reachability.ts";
import { createSecondStep, type SecondStep } from "./second-step.ts";

/** The callback path is part of the flow cookie, and browsers drop cookies beyond 4 KiB. */
const MAX_PATH = 2048;

/** The request with which a browser returns from the provider. */
export interface CallbackRequest extends SignInRequest {
  cookies: string | null;
  /** The query string, which holds the provider's response. */
  search: string;
  /** Two letters: the language of mails if an account is created. */
  locale: string;
  /** The session of the browser, if it has one. */
  session?: LinkTarget | undefined;
  /** What another cell has sent along with the request. */
  forwarding?: Forwarding | undefined;
}

/** What a cell sends to the one that has the account: the provider answers a code only once. */
interface LearnedIdentity {
  identity: ProviderIdentity;
  callbackUrl: string;
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
   * address, or of new accounts; `Elsewhere` for the cell that has the account.
   */
  finish(
    provider: string,
    callback: CallbackRequest,
    cookies: { push(cookie: string): unknown },
  ): Promise<CallbackResult>;
  readonly secondStep: SecondStep;
  readonly reachability: Reachability;
}

const SIGN_IN_PAGE = "/login";
/** The page that asks for the code. */
const CODE_PAGE = "/login?step=code";
/** The page with the linked sign-ins of the account. */
const LINKS_PAGE = "/account/sign-ins";

export function createOAuth(services: AuthServices, adminGroups: AdminGroups): OAuth {
  const { config, limits, log } = services.kernel;
  const flows = createFlows(services.kernel);
  const accounts = createProviderAccounts(services);
  const secondStep = createSecondStep({ ...services, accounts, adminGroups });
  const identityLinking = createIdentityLinking({ ...services, accounts });
  /** Built from the configuration alone, since a client chooses the Host header. */
  const redirectUri = (id: ProviderId) => `${config.baseUrl}/api/auth/callback/${id}`;
  const providers = new Map<ProviderId, Provider>(
    configuredProviders(config).map((settings) => {
      const registered = { redirectUri: redirectUri(settings.id) };
      return [
        settings.id,
        settings.kind === "github"
          ? createGithub({ ...settings, ...registered })
          : createOpenid({ ...settings, ...registered }),
      ];
    }),
  );

  function requireProvider(id: string): { id: ProviderId; provider: Provider } {
    if (!isProviderId(id)) throw notFound("There is no such provider: google, github, oidc, or oidc_2 to oidc_9.");
    const provider = providers.get(id);
    if (!provider) throw notFound("Sign-in with this provider is not set up here.", "PROVIDER_NOT_CONFIGURED");
    return { id, provider };
  }

  /** Signs in an identity that the provider has proven. */
  async function signIn(
    { identity, callbackUrl }: LearnedIdentity,
    callback: CallbackRequest,
    cookies: { push(cookie: string): unknown },
  ): Promise<CallbackResult> {
    const { userId, codeRequiredTo } = await accounts.resolve(identity, callback);
    if (!codeRequiredTo) {
      await adminGroups.record(identity, userId, callback);
      const { provider: kind, subject } = identity;
      const evidence = { linkedAccount: { provider: kind, subject }, twoFactor: false };
      return { location: callbackUrl, signedIn: { userId, evidence } };
    }
    cookies.push(await secondStep.begin({ userId, identity, mustLink: codeRequiredTo === "link", callbackUrl }));
    return { location: CODE_PAGE };
  }

  return {
    async start(providerId, callbackUrl, linkTo) {
      const { id, provider } = requireProvider(providerId);
      const path = safeCallbackPath(config, callbackUrl);
      const { flow, cookie } = flows.begin(id, path.length > MAX_PATH ? "/" : path, linkTo);
      return { location: (await provider.createAuthorizationUrl(flow)).href, cookie };
    },

    secondStep,
    reachability: createReachability(providers, log),

    failurePage(provider, { cookies, search }) {
      const state = new URLSearchParams(search).get("state");
      const flow = isProviderId(provider) ? flows.find(cookies, provider, state) : undefined;
      return flow?.linkTo ? LINKS_PAGE : SIGN_IN_PAGE;
    },

    async finish(providerId, callback, cookies) {
      const { id, provider } = requireProvider(providerId);
      const learned = callback.forwarding?.learned as LearnedIdentity | undefined;
      if (learned) {
        cookies.push(flows.clearCookie);
        return signIn(learned, callback, cookies);
      }
      const responseUrl = new URL(redirectUri(id) + callback.search);
      const flow = flows.find(callback.cookies, id, responseUrl.searchParams.get("state"));
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
        await adminGroups.record(identity, linkTo.userId, callback);
        limits.refund("sign-in-ip", callback.address);
        return { location: `${LINKS_PAGE}?linked=${id}` };
      }
      try {
        const result = await signIn({ identity, callbackUrl }, callback, cookies);
        limits.refund("sign-in-ip", callback.address);
        return result;
      } catch (error) {
        if (!(error instanceof Elsewhere)) throw error;
        limits.refund("sign-in-ip", callback.address);
        throw new Elsewhere(error.cell, { ...error.forwarding, learned: { identity, callbackUrl } });
      }
    },
  };
}
