// Keeps the state of a provider sign-in in a sealed cookie, so that only the browser that started it can complete it,
// once.
import { GuardFailed } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { randomToken } from "../../../src/kernel/util/tokens.ts";
import { type CookieClaims, createSealedCookie } from "../sign-in/sealed-cookie.ts";
import type { ProviderId } from "./configured-providers.ts";
import type { Checks } from "./provider.ts";

/** How long a visitor may take at the provider before the flow expires. */
const LIFETIME_MS = 10 * MINUTE;

export interface Flow extends Checks {
  provider: ProviderId;
  /** A path within Berth. */
  callbackUrl: string;
  /** Set if the identity is to be linked to an account, by the session that asked for it. */
  linkTo?: LinkTarget | undefined;
}

/** The account that an identity is to be linked to, and the session that asked for it. */
export interface LinkTarget {
  userId: string;
  sessionId: string;
}

export interface Flows {
  /** A new flow and the `set-cookie` that holds it. It replaces an earlier flow of the same browser. */
  begin(provider: ProviderId, callbackUrl: string, linkTo?: LinkTarget): { flow: Flow; cookie: string };
  /** The flow of this browser with this provider and state; undefined if there is none or it has expired. */
  find(cookies: string | null, provider: ProviderId, state: string | null): (Flow & CookieClaims) | undefined;
  /** Marks a flow as used; false if it was used before. */
  consume(flow: CookieClaims): Promise<boolean>;
  /** The `set-cookie` value that deletes the cookie in the browser. */
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
    begin(provider, callbackUrl, linkTo) {
      const random = { state: randomToken(), nonce: randomToken(), verifier: randomToken() };
      const flow = { ...random, provider, callbackUrl, linkTo };
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
