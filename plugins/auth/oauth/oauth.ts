// Sign-in with Google and GitHub: out to the provider, and back with somebody it vouches for, who may have to show a code yet.
import { notFound } from "../../../src/errors.ts";
import type { AuthParts } from "../parts.ts";
import type { Grounds } from "../sessions.ts";
import { safeCallback } from "../sign-in/callback-url.ts";
import { createAccounts } from "./accounts.ts";
import { OAuthFailure } from "./failure.ts";
import { createFlows } from "./flows.ts";
import { createGithub } from "./github.ts";
import { createGoogle } from "./google.ts";
import type { Provider, ProviderName } from "./provider.ts";
import { createSecondStep, type SecondStep } from "./second-step.ts";

/** It travels in a cookie, and browsers drop one of 4 KiB. */
const MAX_PATH = 2048;

/** A browser that comes back. */
export interface Return {
  /** Where it is. */
  address: string;
  cookies: string | null;
  /** The query that the provider sent it with. */
  search: string;
  /** The language of mails to a new account. */
  locale: string;
}

/** Where the browser goes on to; and who is signed in by it, if anybody is yet. */
export interface Finished {
  location: string;
  entered?: { userId: string; grounds: Grounds };
}

export interface OAuth {
  /** Where a browser is sent to sign in, and the cookie it takes along. Throws OAuthFailure; 404 as `finish` does. */
  start(provider: string, callbackUrl: string | undefined): Promise<{ location: string; cookie: string }>;
  /**
   * Who came back, and the path to go on to; where nobody is signed in yet, the page there asks for a code.
   * `cookies` is told what to set, and keeps it when this throws: OAuthFailure; 404 `PROVIDER_NOT_CONFIGURED`, and
   * `NOT_FOUND` for an unknown provider; 429 past the rate of failures of one address, or of new accounts.
   */
  finish(provider: string, back: Return, cookies: { push(cookie: string): unknown }): Promise<Finished>;
  readonly secondStep: SecondStep;
}

/** Where the code is asked for. */
const CODE_PAGE = "/login?step=code";

export function createOAuth(parts: AuthParts): OAuth {
  const { config, limits } = parts.kernel;
  const flows = createFlows(parts.kernel);
  const accounts = createAccounts(parts);
  const secondStep = createSecondStep({ ...parts, accounts });
  /** From the configuration alone: a Host header can name anybody. */
  const redirectUri = (name: ProviderName) => `${config.baseUrl}/api/auth/callback/${name}`;
  const providers: Record<ProviderName, Provider | undefined> = {
    google: configured("google", createGoogle),
    github: configured("github", createGithub),
  };

  function configured<Name extends ProviderName>(
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

  function providerOf(name: string): { name: ProviderName; provider: Provider } {
    if (name !== "google" && name !== "github") throw notFound("There is no such provider: google or github.");
    const provider = providers[name];
    if (!provider) throw notFound("Sign-in with this provider is not set up here.", "PROVIDER_NOT_CONFIGURED");
    return { name, provider };
  }

  return {
    async start(wanted, callbackUrl) {
      const { name, provider } = providerOf(wanted);
      const path = safeCallback(config, callbackUrl);
      const { flow, cookie } = flows.begin(name, path.length > MAX_PATH ? "/" : path);
      return { location: (await provider.authorize(flow)).href, cookie };
    },

    secondStep,

    async finish(wanted, back, cookies) {
      const { name, provider } = providerOf(wanted);
      const answer = new URL(redirectUri(name) + back.search);
      const flow = flows.find(back.cookies, name, answer.searchParams.get("state"));
      // A stranger's answer must not end what the visitor has under way: only the right one takes the cookie away.
      if (!flow) throw new OAuthFailure("STATE_INVALID");
      // Each asks the provider and writes something: taken before, and given back to who comes in.
      await limits.require("sign-in-ip", back.address);
      cookies.push(flows.endCookie);
      if (!(await flows.use(flow))) throw new OAuthFailure("STATE_INVALID", "the state was used before");
      const identity = await provider.identify(answer, flow);
      const { callbackUrl } = flow;
      const { userId, codeTo } = await accounts.enter(identity, back);
      limits.refund("sign-in-ip", back.address);
      const { subject } = identity;
      const grounds = { linked: { provider: name, subject }, twoFactor: false };
      if (!codeTo) return { location: callbackUrl, entered: { userId, grounds } };
      cookies.push(await secondStep.begin({ userId, identity, toLink: codeTo === "link", callbackUrl }));
      return { location: CODE_PAGE };
    },
  };
}
