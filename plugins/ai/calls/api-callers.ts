// Identifies the callers of the AI API, on either surface, and counts their requests.
import { AppError, unauthorized } from "../../../src/kernel/errors.ts";
import { type Grant, INVALID_TOKEN_CHALLENGE } from "../../../src/kernel/http/backend/service-tokens.ts";
import { contextOf, respondWith } from "../../../src/kernel/http/request-context.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { auth, Identity } from "../../auth/index.ts";
import { parseCacheHeader } from "../cache/response-cache.ts";
import type { ApiCall } from "./api-calls.ts";

/** Who calls the AI API; without an account, `userId` is undefined. */
export interface ApiCaller {
  readonly userId: string | undefined;
  readonly isAdmin: boolean;
  /** The client's network address. */
  readonly address: string;
}

/** The action of the service token under which the web surface passes calls on; one of nobody names the user "". */
const ACTION = "ai.api";
/** A key that clients of OpenAI and Anthropic must send and that is not Berth's: such calls are those of nobody. */
const FOREIGN_BEARER = /^bearer (?!bk_)/i;
const SERVICE_TOKEN = /^bearer (st\..*)$/i;

interface Deps extends Pick<Kernel, "limits" | "backend"> {
  identities: Pick<ServiceOf<typeof auth>["identities"], "authenticateOptional">;
}

export function createApiCallers({ limits, backend, identities }: Deps) {
  /** Undefined for a caller without an account. Only calls that may cost something are counted. */
  function identify(request: Request, authorization: string | null): Promise<Identity | undefined> | undefined {
    if (request.method === "POST") {
      const decision = limits.take("ai", contextOf(request).address);
      if (!decision.allowed) throw limits.tooManyRequests(decision);
    }
    return hasForeignKey(request, authorization) ? undefined : identities.authenticateOptional(request, "chat");
  }

  /** The caller that the web surface has identified and counted. Throws 401 for a token that is none of these. */
  function callerOfGrant(request: Request, token: string): ApiCaller {
    const grant = backend.tokens.verify(token);
    if (grant?.action !== ACTION) {
      const text = "This service token is not valid for this request.";
      throw new AppError(401, "UNAUTHORIZED", text, {}, { headers: { "www-authenticate": INVALID_TOKEN_CHALLENGE } });
    }
    contextOf(request).address = grant.address;
    const { userId, isAdmin, address } = grant;
    return { userId: userId === "" ? undefined : userId, isAdmin, address };
  }

  return {
    /**
     * On the backend: identifies the caller, who may have no account. A call of a model takes from the rate limit, unless the web
     * surface has counted it. Foreign keys are ignored, since clients must send one.
     */
    async admit(request: Request): Promise<ApiCaller> {
      const authorization = request.headers.get("authorization");
      const token = authorization === null ? null : SERVICE_TOKEN.exec(authorization);
      if (token) return callerOfGrant(request, token[1] ?? "");
      const identity = await identify(request, authorization);
      const { address } = contextOf(request);
      return { userId: identity?.user.id, isAdmin: identity?.isAdmin ?? false, address };
    },

    /** Whether the web surface passes this request on, and has counted it. */
    isForwarded(request: Request): boolean {
      const token = SERVICE_TOKEN.exec(request.headers.get("authorization") ?? "")?.[1];
      return token !== undefined && backend.tokens.verify(token)?.action === ACTION;
    },

    /** On the web: the grant under which a call is passed on. Throws 401 for a caller without an account, unless `isPublic`. */
    async grantFor(request: Request, isPublic: boolean): Promise<Grant> {
      const identity = await identify(request, request.headers.get("authorization"));
      if (!identity && !isPublic) {
        throw unauthorized("Send an API key of Berth (Authorization: Bearer bk_…), or sign in first.");
      }
      const { address } = contextOf(request);
      if (!identity) return { userId: "", isAdmin: false, address, action: ACTION };
      const { user, isAdmin, credentialId } = identity;
      return { userId: user.id, isAdmin, credentialId, address, action: ACTION };
    },
  };
}

export type ApiCallers = ReturnType<typeof createApiCallers>;

/** Makes a call from its request. @param parse checks the body; throws 400 */
export function readApiCall<Body>(request: Request, userId: string | undefined, parse: () => Body): ApiCall<Body> {
  const maxAgeS = parseCacheHeader(request.headers.get("x-berth-cache"));
  const context = contextOf(request);
  return {
    text: context.bodyText ?? "",
    body: parse(),
    signal: request.signal,
    userId,
    maxAgeS,
    respond: (content, headers) => respondWith(context, content, headers),
  };
}

function hasForeignKey({ headers }: Request, authorization: string | null): boolean {
  if (authorization !== null) return FOREIGN_BEARER.test(authorization);
  const key = headers.get("x-api-key");
  return key !== null && !key.startsWith("bk_");
}
