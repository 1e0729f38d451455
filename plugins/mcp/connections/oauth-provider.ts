// Keeps the state of OAuth between Berth and one MCP server in its sealed row (Model Context Protocol, Authorization).
import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { randomToken } from "../../../src/kernel/util/tokens.ts";
import type { SignIn } from "./sign-in-store.ts";

/** How long the address of a sign-in is valid. */
export const SIGN_IN_MS = 10 * MINUTE;

export interface OAuthAddresses {
  /** Where authorization servers send the owner's browser back to. */
  redirect: string;
  /** The document that describes this client, for authorization servers that read it instead of registering clients. */
  clientMetadata: string;
}

export const clientMetadata = ({ redirect }: OAuthAddresses) => ({
  client_name: "Berth",
  redirect_uris: [redirect],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  // PKCE protects the code; a secret that anybody can register for proves nothing.
  token_endpoint_auth_method: "none",
});

/**
 * The provider for the library's transport.
 * @param signIn as loaded; it is changed and given to `save` at each step
 */
export function createOAuthProvider(
  addresses: OAuthAddresses,
  signIn: SignIn,
  save: (signIn: SignIn) => Promise<void>,
): OAuthClientProvider {
  const change = (changes: { [Key in keyof SignIn]: SignIn[Key] | undefined }) => {
    Object.assign(signIn, changes);
    return save(signIn);
  };
  const PENDING = { verifier: undefined, state: undefined, authorizeUrl: undefined, startedAt: undefined };
  return {
    redirectUrl: addresses.redirect,
    // Authorization servers fetch it, which works only over https.
    ...(addresses.clientMetadata.startsWith("https:") && { clientMetadataUrl: addresses.clientMetadata }),
    clientMetadata: clientMetadata(addresses),
    state() {
      signIn.state = randomToken();
      return signIn.state;
    },
    clientInformation: () => signIn.client,
    saveClientInformation: (client) => change({ client }),
    tokens: () => signIn.tokens,
    saveTokens: (tokens) => change({ tokens, ...PENDING }),
    redirectToAuthorization(url) {
      if (url.protocol !== "https:" && url.protocol !== "http:")
        throw new Error("The sign-in page has no web address.");
      return change({ authorizeUrl: url.href, startedAt: Date.now() });
    },
    saveCodeVerifier: (verifier) => change({ verifier }),
    codeVerifier() {
      if (signIn.verifier === undefined) throw new Error("No sign-in is under way.");
      return signIn.verifier;
    },
    discoveryState: () => signIn.discovery,
    saveDiscoveryState: (discovery) => change({ discovery }),
    invalidateCredentials(scope) {
      if (scope === "all") return change({ client: undefined, tokens: undefined, discovery: undefined, ...PENDING });
      if (scope === "client") return change({ client: undefined });
      if (scope === "tokens") return change({ tokens: undefined });
      return change(scope === "discovery" ? { discovery: undefined } : { verifier: undefined });
    },
  };
}
