// Checks authorization requests (OAuth 2.1 §4.1.1), and turns the account holder's decision into an address to go back to.
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import type { Scope } from "../../auth/index.ts";
import type { Clients, OAuthClient } from "./clients.ts";
import type { ConnectedApps } from "./connected-apps.ts";
import { OAuthFailure } from "./failure.ts";
import { hostOf, isNamed } from "./redirect-uris.ts";
import { APP_SCOPES, readScopes } from "./scopes.ts";

/** A request that can be decided about. */
export interface AuthorizationRequest {
  client: OAuthClient;
  redirectUri: string;
  challenge: string;
  scopes: ReadonlySet<Scope>;
  state: string | null;
}

/** `back`: the client made a mistake, and learns about it at this address. */
export type CheckedRequest = { request: AuthorizationRequest } | { back: string };

export interface Decision {
  approved: boolean;
  scopes: readonly string[];
  trusted: boolean;
}

const MAX_STATE = 4_000;

interface Deps {
  clients: Pick<Clients, "find" | "usedStatement">;
  apps: Pick<ConnectedApps, "allow">;
}

export function createAuthorization({ clients, apps }: Deps) {
  /** Throws 400 if the browser can't be sent back, because the client or its address is not known. */
  async function check(query: string, origin: string): Promise<CheckedRequest> {
    const parameters = new URLSearchParams(query);
    const client = await findClient(parameters.get("client_id") ?? "");
    const redirectUri = parameters.get("redirect_uri") ?? onlyOne(client.redirectUris);
    if (!isNamed(redirectUri, client.redirectUris)) {
      throw invalidRequest("This program wants to be called back at an address that it has not named before.");
    }
    const state = parameters.get("state");
    const problem = problemOf(parameters, origin);
    if (problem) {
      const { code, message } = problem;
      return { back: backTo({ redirectUri, state, origin }, { error: code, error_description: message }) };
    }
    const asked = readScopes((parameters.get("scope") ?? "").split(" "));
    const request = {
      client,
      redirectUri,
      challenge: parameters.get("code_challenge") ?? "",
      scopes: asked.size > 0 ? asked : new Set(APP_SCOPES),
      state,
    };
    return { request };
  }

  async function findClient(id: string): Promise<OAuthClient> {
    try {
      return await clients.find(id);
    } catch (error) {
      if (error instanceof OAuthFailure) throw invalidRequest(error.message);
      throw error;
    }
  }

  return {
    check,

    /** Resolves with the address to which the browser goes. */
    async decide(userId: string, query: string, origin: string, decision: Decision): Promise<string> {
      const checked = await check(query, origin);
      if ("back" in checked) return checked.back;
      const { client, redirectUri, challenge, scopes, state } = checked.request;
      const target = { redirectUri, state, origin };
      const granted = readScopes(decision.scopes.filter((scope) => readScopes([...scopes]).has(scope as Scope)));
      if (!decision.approved) {
        return backTo(target, { error: "access_denied", error_description: "The account holder has refused." });
      }
      if (granted.size === 0) throw invalidInput({ path: "scopes", message: "Allow one thing at least." });
      const { host } = hostOf(redirectUri);
      const app = {
        userId,
        clientId: client.id,
        name: client.name,
        host: client.verifiedHost ?? host,
        scopes: granted,
        trusted: decision.trusted,
      };
      const code = await apps.allow(app, { challenge, redirectUri }, [clients.usedStatement(client)]);
      return backTo(target, { code });
    },
  };
}

export type Authorization = ReturnType<typeof createAuthorization>;

const invalidRequest = (message: string) => new AppError(400, "INVALID_AUTHORIZATION", message);
const onlyOne = ([first = "", ...others]: readonly string[]) => (others.length === 0 ? first : "");

function problemOf(parameters: URLSearchParams, origin: string): OAuthFailure | undefined {
  const repeated = [...parameters.keys()].find((name) => name !== "resource" && parameters.getAll(name).length > 1);
  if (repeated !== undefined) return new OAuthFailure("invalid_request", `Send ${repeated} once.`);
  if (parameters.get("response_type") !== "code") {
    return new OAuthFailure("unsupported_response_type", "response_type is code.");
  }
  if (
    parameters.get("code_challenge_method") !== "S256" ||
    !/^[\w-]{43}$/.test(parameters.get("code_challenge") ?? "")
  ) {
    return new OAuthFailure("invalid_request", "Send a code_challenge with the code_challenge_method S256 (RFC 7636).");
  }
  if ((parameters.get("state") ?? "").length > MAX_STATE) {
    return new OAuthFailure("invalid_request", `state has at most ${MAX_STATE} characters.`);
  }
  return resourceProblem(parameters, origin);
}

/** Tokens work at `/mcp` alone: a client that wants them for something else is told so (RFC 8707). */
export function resourceProblem(parameters: URLSearchParams, origin: string): OAuthFailure | undefined {
  const isOurs = (resource: string) => [`${origin}/mcp`, `${origin}/mcp/`, origin, `${origin}/`].includes(resource);
  return parameters.getAll("resource").every(isOurs)
    ? undefined
    : new OAuthFailure("invalid_target", `The only resource is ${origin}/mcp.`);
}

function backTo(
  { redirectUri, state, origin }: { redirectUri: string; state: string | null; origin: string },
  result: Record<string, string>,
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(result)) url.searchParams.set(name, value);
  if (state !== null) url.searchParams.set("state", state);
  // Tells the client which server has answered (RFC 9207).
  url.searchParams.set("iss", origin);
  return url.href;
}
