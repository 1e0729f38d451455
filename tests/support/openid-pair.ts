// Starts a service with two OpenID providers of the operator's, `oidc` and `oidc_2`, and opens browsers for it.

import { type Client, createClient } from "./client.ts";
import { type Oidc, type OidcOptions, startOidc } from "./oidc.ts";
import { openServer, type TestServer } from "./server.ts";

const BASE_URL = "http://berth.example";

export interface OpenidPair extends AsyncDisposable {
  readonly first: Oidc;
  readonly second: Oidc;
  readonly env: Record<string, string>;
  readonly server: TestServer;
  browser(): Client;
}

export interface OpenidPairOptions {
  first?: OidcOptions;
  second?: OidcOptions;
  /** Added to the settings of both providers. */
  env?: Record<string, string>;
}

/** The settings of a provider under this prefix. */
export const oidcEnv = (prefix: string, { issuer, clientId, clientSecret }: Oidc, name: string) => ({
  [`${prefix}_ISSUER`]: issuer,
  [`${prefix}_CLIENT_ID`]: clientId,
  [`${prefix}_CLIENT_SECRET`]: clientSecret,
  [`${prefix}_NAME`]: name,
});

export async function openOpenidPair({
  first = {},
  second = {},
  env = {},
}: OpenidPairOptions = {}): Promise<OpenidPair> {
  const callbackOf = (id: string) => [`${BASE_URL}/api/auth/callback/${id}`];
  const one = await startOidc(callbackOf("oidc"), first);
  const two = await startOidc(callbackOf("oidc_2"), second);
  const all = { BASE_URL, ...oidcEnv("OIDC", one, "Harbour ID"), ...oidcEnv("OIDC_2", two, "Marina"), ...env };
  const server = await openServer({ env: all });
  return {
    first: one,
    second: two,
    env: all,
    server,
    browser: () => createClient(server.web),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await one[Symbol.asyncDispose]();
      await two[Symbol.asyncDispose]();
    },
  };
}
