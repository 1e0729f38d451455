// The addresses of the MCP server, and of the documents by which clients find out how to sign in (RFC 9728, RFC 8414).
import { type Config, isLoopbackHost } from "../../src/kernel/config/config.ts";
import { APP_SCOPES } from "./oauth/scopes.ts";

export const MCP_PATH = "/mcp";
export const RESOURCE_METADATA_PATH = `/.well-known/oauth-protected-resource${MCP_PATH}`;

export type Addresses = ReturnType<typeof createAddresses>;

export function createAddresses({ baseUrl, corsOrigins }: Pick<Config, "baseUrl" | "corsOrigins">) {
  const base = new URL(baseUrl);
  const isLocalBase = isLoopbackHost(base.hostname);

  /** Berth's origin; on a person's own machine the one that the client uses, since it has several names. */
  function originFor(request: Request): string {
    const asked = URL.parse(request.url);
    return isLocalBase && asked && isLoopbackHost(asked.hostname) ? asked.origin : base.origin;
  }

  /**
   * Whether the Host header can't be the name of a stranger's site that points to this machine (DNS rebinding): it is
   * Berth's own, this machine's, an address, or a name of the local network.
   */
  function isKnownHost(request: Request): boolean {
    const host = URL.parse(request.url)?.hostname ?? "";
    const isAddress = host.startsWith("[") || /^[\d.]+$/.test(host);
    return host === base.hostname || isLoopbackHost(host) || isAddress || !host.includes(".");
  }

  /** Browsers name the page that causes a request. */
  function isKnownOrigin(request: Request): boolean {
    const origin = request.headers.get("origin");
    return origin === null || origin === originFor(request) || corsOrigins.includes(origin);
  }

  return {
    originFor,
    isAdmitted: (request: Request) => isKnownHost(request) && isKnownOrigin(request),
    resourceMetadata(request: Request) {
      const origin = originFor(request);
      return {
        resource: origin + MCP_PATH,
        authorization_servers: [origin],
        scopes_supported: [...APP_SCOPES],
        bearer_methods_supported: ["header"],
        resource_name: "Berth",
      };
    },
    serverMetadata(request: Request) {
      const origin = originFor(request);
      return {
        issuer: origin,
        authorization_endpoint: `${origin}/oauth/authorize`,
        token_endpoint: `${origin}/api/oauth/token`,
        registration_endpoint: `${origin}/api/oauth/register`,
        revocation_endpoint: `${origin}/api/oauth/revoke`,
        response_types_supported: ["code"],
        response_modes_supported: ["query"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
        revocation_endpoint_auth_methods_supported: ["none"],
        scopes_supported: [...APP_SCOPES],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
      };
    },
    /** The header that tells a client without a valid token how to get one (RFC 9728 §5.1). */
    challenge(request: Request, error?: "invalid_token"): string {
      const metadata = `${originFor(request)}${RESOURCE_METADATA_PATH}`;
      const parts = [`resource_metadata="${metadata}"`, `scope="${APP_SCOPES.join(" ")}"`];
      return `Bearer ${[...(error ? [`error="${error}"`] : []), ...parts].join(", ")}`;
    },
  };
}
