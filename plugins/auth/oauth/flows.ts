// A sign-in under way: what the browser that began it has to bring back from the provider, once.
import { GuardFailed } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { randomToken } from "../../../src/kernel/util/tokens.ts";
import { type CookieClaims, createSealedCookie } from "../sign-in/sealed-cookie.ts";
import type { Checks, ProviderName } from "./provider.ts";

/** How long a visitor may take at the provider. */
const LIFETIME_MS = 10 * MINUTE;

export interface Flow extends Checks {
  provider: ProviderName;
  /** A path of our own. */
  callbackUrl: string;
}

export interface Flows {
  /** A new flow, and the `set-cookie` that holds it. A browser has one at a time: the newest. */
  begin(provider: ProviderName, callbackUrl: string): { flow: Flow; cookie: string };
  /** The flow that this browser began with this provider and state; undefined when there is none, or it is too old. */
  find(cookies: string | null, provider: ProviderName, state: string | null): (Flow & CookieClaims) | undefined;
  /** Uses a flow up; false when that was done before. */
  consume(flow: CookieClaims): Promise<boolean>;
  /** Empties the cookie in the browser. */
  readonly clearCookie: string;
}

export function createFlows(kernel: Pick<Kernel, "config" | "vault" | "database">): Flows {
  const cookie = createSealedCookie<Flow>(kernel, {
    name: "berth_oauth",
    path: "/api/auth/callback",
    lifetimeMs: LIFETIME_MS,
    purpose: "oauth-state",
  });

  return {
    begin(provider, callbackUrl) {
      const flow = { state: randomToken(), nonce: randomToken(), verifier: randomToken(), provider, callbackUrl };
      return { flow, cookie: cookie.issue(flow) };
    },

    find(cookies, provider, state) {
      const flow = cookie.find(cookies);
      return flow?.provider === provider && flow.state === state ? flow : undefined;
    },

    async consume(flow) {
      try {
        await kernel.database.write(cookie.useStatements(flow));
        return true;
      } catch (error) {
        if (error instanceof GuardFailed) return false;
        throw error;
      }
    },

    clearCookie: cookie.clearCookie,
  };
}
