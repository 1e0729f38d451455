// A strict authorization server for a test's MCP server: metadata (RFC 8414, 9728), dynamic registration (RFC 7591), PKCE with
// S256 (RFC 7636), resource indicators (RFC 8707), and refresh tokens that work once.

import { createHash, randomBytes } from "node:crypto";

export interface McpAuthorization {
  /** Answers its own addresses. */
  answer(request: Request): Response | Promise<Response> | undefined;
  /** The 401 for a request to the server without a valid token. */
  refusal(request: Request): Response | undefined;
  /** Ends the validity of all access tokens, so that clients must refresh them. */
  expire(): void;
  /** Refuses requests with tokens that lack this scope (RFC 6750, insufficient_scope). */
  neededScope: string | undefined;
  readonly registrations: unknown[];
  /** Refreshes that were served. */
  readonly refreshes: number;
}

interface Code {
  challenge: string;
  redirectUri: string;
  clientId: string;
  scope: string;
}

const random = () => randomBytes(24).toString("base64url");
const json = (body: object, status = 200) => Response.json(body, { status, headers: { "cache-control": "no-store" } });
const refused = (error: string) => json({ error }, 400);

export function createMcpAuthorization(origin: string): McpAuthorization {
  const clients = new Map<string, string[]>();
  const codes = new Map<string, Code>();
  /** The scopes by token. */
  const access = new Map<string, string>();
  const refresh = new Map<string, Pick<Code, "clientId" | "scope">>();
  const registrations: unknown[] = [];
  let refreshes = 0;

  function issue({ clientId, scope }: Pick<Code, "clientId" | "scope">): Response {
    const tokens = { access_token: `at-${random()}`, refresh_token: `rt-${random()}` };
    access.set(tokens.access_token, scope);
    refresh.set(tokens.refresh_token, { clientId, scope });
    return json({ ...tokens, token_type: "Bearer", expires_in: 3600, scope });
  }

  async function register(request: Request): Promise<Response> {
    const body = (await request.json()) as { redirect_uris?: string[] };
    registrations.push(body);
    if (!body.redirect_uris?.length) return refused("invalid_redirect_uri");
    const clientId = random();
    clients.set(clientId, body.redirect_uris);
    return json({ ...body, client_id: clientId }, 201);
  }

  /** The person agrees at once. */
  function authorize({ searchParams }: URL): Response {
    const [clientId = "", redirectUri = "", challenge = "", state = ""] = [
      ...["client_id", "redirect_uri", "code_challenge", "state"],
    ].map((name) => searchParams.get(name) ?? "");
    const isValid =
      clients.get(clientId)?.includes(redirectUri) === true &&
      searchParams.get("code_challenge_method") === "S256" &&
      searchParams.get("resource") === `${origin}/mcp` &&
      challenge !== "" &&
      state !== "";
    if (!isValid) return refused("invalid_request");
    const code = random();
    codes.set(code, { challenge, redirectUri, clientId, scope: searchParams.get("scope") ?? "basic" });
    const target = new URL(redirectUri);
    for (const [name, value] of Object.entries({ code, state, iss: origin })) target.searchParams.set(name, value);
    return new Response(null, { status: 302, headers: { location: target.href } });
  }

  async function token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    const clientId = form.get("client_id") ?? "";
    if (!clients.has(clientId)) return refused("invalid_client");
    if (form.get("grant_type") === "refresh_token") {
      const used = form.get("refresh_token") ?? "";
      const grant = refresh.get(used);
      if (grant?.clientId !== clientId) return refused("invalid_grant");
      refresh.delete(used);
      refreshes++;
      return issue(grant);
    }
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isValid =
      code?.challenge === challenge && code.redirectUri === form.get("redirect_uri") && code.clientId === clientId;
    return isValid ? issue(code) : refused("invalid_grant");
  }

  return {
    registrations,
    neededScope: undefined,
    get refreshes() {
      return refreshes;
    },
    answer(request) {
      const url = new URL(request.url);
      if (url.pathname.startsWith("/.well-known/oauth-protected-resource")) {
        return json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
      }
      if (url.pathname === "/.well-known/oauth-authorization-server") {
        return json({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ["code"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
          authorization_response_iss_parameter_supported: true,
        });
      }
      if (url.pathname === "/register") return register(request);
      if (url.pathname === "/authorize") return authorize(url);
      return url.pathname === "/token" ? token(request) : undefined;
    },
    refusal(request) {
      const sent = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
      const granted = access.get(sent);
      const isEnough = this.neededScope === undefined || granted?.split(" ").includes(this.neededScope);
      if (granted !== undefined && isEnough) return undefined;
      const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      if (granted !== undefined) {
        const scope = `error="insufficient_scope", scope="${this.neededScope}"`;
        return new Response("forbidden", { status: 403, headers: { "www-authenticate": `${challenge}, ${scope}` } });
      }
      return new Response("unauthorized", { status: 401, headers: { "www-authenticate": challenge } });
    },
    expire: () => access.clear(),
  };
}
