// Sign-in with Google and GitHub: out to the provider, and back with somebody it vouches for, who may have to show a code yet.
import { notFound } from "../../../src/kernel/errors.ts";
import type { AuthServices } from "../auth-services.ts";
import type { SignInEvidence } from "../sessions.ts";
import { safeCallbackPath } from "../sign-in/callback-url.ts";
import { createFlows } from "./flows.ts";
import { createGithub } from "./github.ts";
import { createGoogle } from "./google.ts";
import { OAuthFailure } from "./oauth-failure.ts";
import type { Provider, ProviderName } from "./provider.ts";
import { createProviderAccounts } from "./provider-accounts.ts";
import { createSecondStep, type SecondStep } from "./second-step.ts";

/** It travels in a cookie, and browsers drop one of 4 KiB. */
const MAX_PATH = 2048;

/** A browser that comes back. */
export interface CallbackRequest {
  /** Where it is. */
  address: string;
  cookies: string | null;
  /** The query that the provider sent it with. */
  search: string;
  /** The language of mails to a new account. */
  locale: string;
}

/** Where the browser goes on to; and who is signed in by it, if anybody is yet. */
export interface CallbackResult {
  location: string;
  signedIn?: { userId: string; evidence: SignInEvidence };
}

export interface OAuth {
  /** Where a browser is sent to sign in, and the cookie it takes along. Throws OAuthFailure; 404 as `finish` does. */
  start(provider: string, callbackUrl: string | undefined): Promise<{ location: string; cookie: string }>;
  /**
   * Who came back, and the path to go on to; where nobody is signed in yet, the page there asks for a code.
   * `cookies` is told what to set, and keeps it when this throws: OAuthFailure; 404 `PROVIDER_NOT_CONFIGURED`, and
   * `NOT_FOUND` for an unknown provider; 429 past the rate of failures of one address, or of new accounts.
   */
  finish(
    provider: string,
    callback: CallbackRequest,
    cookies: { push(cookie: string): unknown },
  ): Promise<CallbackResult>;
  readonly secondStep: SecondStep;
}

/** Where the code is asked for. */
const CODE_PAGE = "/login?step=code";

export function createOAuth(services: AuthServices): OAuth {
  const { config, limits } = services.kernel;
  const flows = createFlows(services.kernel);
  const accounts = createProviderAccounts(services);
  const secondStep = createSecondStep({ ...services, accounts });
  /** From the configuration alone: a Host header can name anybody. */
  const redirectUri = (name: ProviderName) => `${config.baseUrl}/api/auth/callback/${name}`;
  const providers: Record<ProviderName, Provider | undefined> = {
    google: createConfigured("google", createGoogle),
    github: createConfigured("github", createGithub),
  };

  function createConfigured<Name extends ProviderName>(
    name: Name,
    create: (
      settings: (typeof config.oauth)[Name] & { clientId: string; clientSecret: string; redirectUri: string },
    ) => Provider,
  ): Provider | undefined {
    const settings = config.oauth[name];
    const { clientId, clientSecret } = settings;
    if (!clientId || !clientSecret) return undefined;
    return create({ ...settings, clientId, clientSecret, redirectUri: redirectUri(name) });
  }

  function requireProvider(name: string): { name: ProviderName; provider: Provider } {
    if (name !== "google" && name !== "github") throw notFound("There is no such provider: google or github.");
    const provider = providers[name];
    if (!provider) throw notFound("Sign-in with this provider is not set up here.", "PROVIDER_NOT_CONFIGURED");
    return { name, provider };
  }

  return {
    async start(providerName, callbackUrl) {
      const { name, provider } = requireProvider(providerName);
      const path = safeCallbackPath(config, callbackUrl);
      const { flow, cookie } = flows.begin(name, path.length > MAX_PATH ? "/" : path);
      return { location: (await provider.createAuthorizationUrl(flow)).href, cookie };
    },

    secondStep,

    async finish(providerName, callback, cookies) {
      const { name, provider } = requireProvider(providerName);
      const responseUrl = new URL(redirectUri(name) + callback.search);
      const flow = flows.find(callback.cookies, name, responseUrl.searchParams.get("state"));
      // A stranger's answer must not end what the visitor has under way: only the right one takes the cookie away.
      if (!flow) throw new OAuthFailure("STATE_INVALID");
      // Each asks the provider and writes something: taken before, and given back to who comes in.
      await limits.takeOrThrow("sign-in-ip", callback.address);
      cookies.push(flows.clearCookie);
      if (!(await flows.consume(flow))) throw new OAuthFailure("STATE_INVALID", "the state was used before");
      const identity = await provider.identify(responseUrl, flow);
      const { callbackUrl } = flow;
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
