// Fakes GitHub's OAuth sign-in and the user part of its API, and checks requests strictly, since GitHub can't run in a test.
// After https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps and …/rest/users.

import { createHash, randomBytes } from "node:crypto";

export interface GithubPerson {
  id: unknown;
  login: string;
  name: string | null;
  emails: unknown;
}

export interface Github extends AsyncDisposable {
  readonly baseUrl: string;
  readonly apiUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The person who signs in next; undefined: the sign-in is declined. */
  person: GithubPerson | undefined;
  /** The `iss` parameter of its redirects (RFC 9207); undefined: none, as before 2026. */
  issuer: string | undefined;
  /** Responses in place of its own, by path. */
  readonly trouble: Map<string, () => Response | Promise<Response>>;
  /** The access tokens that it issued. */
  readonly tokens: string[];
}

interface Code {
  challenge: string;
  redirectUri: string;
  scopes: string[];
  person: GithubPerson;
}

const text = (status: number, body: string) => new Response(body, { status });
const refused = (error: string) =>
  Response.json({ error, error_description: "canary-description-of-github", error_uri: "https://docs.github.com" });

/** Starts the server; `redirectUri` is the address that the OAuth app is registered with. */
export function startGithub(redirectUri: string): Github {
  const codes = new Map<string, Code>();
  const tokens = new Map<string, Code>();

  function authorize({ searchParams: params }: URL): Response {
    const param = (name: string) => params.get(name) ?? "";
    if (param("client_id") !== github.clientId) return text(404, "No such app.");
    if (param("redirect_uri") !== redirectUri) return text(400, "The redirect_uri is not associated with this app.");
    const good = param("state").length >= 20 && param("code_challenge").length === 43 && params.get("nonce") === null;
    if (!good || param("code_challenge_method") !== "S256") return text(400, "No state, or no PKCE.");
    const back = new URL(redirectUri);
    back.searchParams.set("state", param("state"));
    if (github.issuer) back.searchParams.set("iss", github.issuer);
    if (github.person) {
      const code = randomBytes(10).toString("hex");
      const scopes = param("scope").split(" ");
      codes.set(code, { challenge: param("code_challenge"), redirectUri, scopes, person: github.person });
      back.searchParams.set("code", code);
    } else {
      back.searchParams.set("error", "access_denied");
      back.searchParams.set("error_description", "canary-description-of-github");
    }
    return new Response(null, { status: 302, headers: { location: back.href } });
  }

  async function exchange(request: Request): Promise<Response> {
    if (
      request.method !== "POST" ||
      !request.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded")
    )
      return text(404, "");
    const params = new URLSearchParams(await request.text());
    // GitHub sends its refusals with status 200, too.
    if (params.get("client_id") !== github.clientId || params.get("client_secret") !== github.clientSecret) {
      return refused("incorrect_client_credentials");
    }
    const code = codes.get(params.get("code") ?? "");
    codes.delete(params.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(params.get("code_verifier") ?? "")
      .digest("base64url");
    if (!code || challenge !== code.challenge) return refused("bad_verification_code");
    if (params.get("redirect_uri") !== code.redirectUri) return refused("redirect_uri_mismatch");
    const token = `gho_canary${randomBytes(18).toString("hex")}`;
    tokens.set(token, code);
    github.tokens.push(token);
    const body = { access_token: token, scope: code.scopes.join(","), token_type: "bearer" };
    if (request.headers.get("accept")?.includes("application/json")) return Response.json(body);
    return new Response(new URLSearchParams(body), {
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
  }

  function api(path: string, { headers }: Request): Response {
    if (!headers.get("user-agent")) return text(403, "Request forbidden by administrative rules.");
    const bearer = /^(?:bearer|token) (\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
    const session = tokens.get(bearer);
    if (!session) return Response.json({ message: "Bad credentials" }, { status: 401 });
    const { id, login, name, emails } = session.person;
    if (path === "/user") return Response.json({ id, login, name, email: null, type: "User" });
    if (path === "/user/emails" && session.scopes.includes("user:email")) return Response.json(emails);
    return Response.json({ message: "Not Found" }, { status: 404 });
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      const url = new URL(request.url);
      const trouble = github.trouble.get(url.pathname);
      if (trouble) return trouble();
      if (url.pathname === "/login/oauth/authorize") return authorize(url);
      if (url.pathname === "/login/oauth/access_token") return exchange(request);
      // The API has the path of an Enterprise Server.
      return url.pathname.startsWith("/api/v3/") ? api(url.pathname.slice("/api/v3".length), request) : text(404, "");
    },
  });
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const github: Github = {
    baseUrl,
    apiUrl: `${baseUrl}/api/v3`,
    clientId: "Iv1.berth",
    clientSecret: "canary-github-secret-of-the-app",
    person: undefined,
    issuer: `${baseUrl}/login/oauth`,
    trouble: new Map(),
    tokens: [],
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return github;
}
