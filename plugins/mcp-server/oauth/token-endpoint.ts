// Answers requests at the token, revocation and registration endpoints (OAuth 2.1 §3.2, RFC 7009, RFC 7591).
import { SECOND } from "../../../src/kernel/util/time.ts";
import { resourceProblem } from "./authorization.ts";
import type { Clients } from "./clients.ts";
import type { ConnectedApps, TokenPair } from "./connected-apps.ts";
import { OAuthFailure, oauthResponse } from "./failure.ts";

interface Deps {
  clients: Pick<Clients, "register">;
  apps: Pick<ConnectedApps, "exchangeCode" | "refresh" | "revoke">;
}

export function createTokenEndpoint({ clients, apps }: Deps) {
  async function issue(form: URLSearchParams): Promise<TokenPair> {
    const clientId = required(form, "client_id");
    const grant = required(form, "grant_type");
    if (grant === "refresh_token") return apps.refresh({ token: required(form, "refresh_token"), clientId });
    if (grant !== "authorization_code") {
      throw new OAuthFailure("unsupported_grant_type", "grant_type is authorization_code or refresh_token.");
    }
    return apps.exchangeCode({
      code: required(form, "code"),
      clientId,
      redirectUri: form.get("redirect_uri") ?? undefined,
      verifier: required(form, "code_verifier"),
    });
  }

  return {
    token: (body: string, origin: string) =>
      oauthResponse(async () => {
        const form = readForm(body);
        const problem = resourceProblem(form, origin);
        if (problem) throw problem;
        const { accessToken, refreshToken, expiresInSeconds, scopes } = await issue(form);
        return {
          status: 200,
          body: {
            access_token: accessToken,
            token_type: "Bearer",
            expires_in: expiresInSeconds,
            refresh_token: refreshToken,
            scope: [...scopes].join(" "),
          },
        };
      }),

    revoke: (body: string) =>
      oauthResponse(async () => {
        const form = readForm(body);
        await apps.revoke(required(form, "token"), required(form, "client_id"));
        return { status: 200, body: {} };
      }),

    register: (metadata: Readonly<Record<string, unknown>>) =>
      oauthResponse(async () => {
        const { id, name, redirectUris } = await clients.register(metadata);
        return {
          status: 201,
          body: {
            client_id: id,
            client_id_issued_at: Math.floor(Date.now() / SECOND),
            client_name: name,
            redirect_uris: redirectUris,
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: "none",
          },
        };
      }),
  };
}

export type TokenEndpoint = ReturnType<typeof createTokenEndpoint>;

/** A parameter that comes twice is an error (RFC 6749 §3.2). */
function readForm(body: string): URLSearchParams {
  const form = new URLSearchParams(body);
  for (const name of new Set(form.keys())) {
    if (name !== "resource" && form.getAll(name).length > 1) {
      throw new OAuthFailure("invalid_request", `Send ${name} once.`);
    }
  }
  return form;
}

function required(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (value) return value;
  throw new OAuthFailure("invalid_request", `Send ${name}, in a form (application/x-www-form-urlencoded).`);
}
