// Routes of connected apps: OAuth's endpoints for the apps, and for their owners the consent, the list and the end.
import { Elysia } from "elysia";
import { isCountedElsewhere } from "../../../src/kernel/cells/cells.ts";
import { notFound } from "../../../src/kernel/errors.ts";
import { decodeBody } from "../../../src/kernel/http/body/json-body.ts";
import {
  documentErrors,
  documentGuard,
  documentResponse,
} from "../../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import { guarded, guardedFile } from "../../../src/kernel/http/route-guards.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { auth } from "../../auth/index.ts";
import type { Addresses } from "../addresses.ts";
import type { Authorization } from "./authorization.ts";
import type { ConnectedApp, ConnectedApps } from "./connected-apps.ts";
import {
  connectedAppList,
  decided,
  decisionBody,
  disconnectedApp,
  registration,
  registrationBody,
  requestBody,
  requestedApp,
  tokens,
} from "./model.ts";
import { hostOf } from "./redirect-uris.ts";
import { APP_SCOPES } from "./scopes.ts";
import type { TokenEndpoint } from "./token-endpoint.ts";

interface Deps extends Pick<Kernel, "limits" | "cells"> {
  identities: Pick<ServiceOf<typeof auth>["identities"], "guards">;
  addresses: Pick<Addresses, "originFor">;
  authorization: Authorization;
  apps: Pick<ConnectedApps, "list" | "disconnect">;
  endpoint: TokenEndpoint;
}

const MAX_FORM_BYTES = 64 * 1024;
const tags = ["Connected apps"];
const refusals = documentErrors({
  400: ["INVALID_REQUEST", "INVALID_GRANT", "INVALID_TARGET", "UNSUPPORTED_GRANT_TYPE"],
});
const FORM = "A form (application/x-www-form-urlencoded). Errors are those of OAuth: `error` and `error_description`.";

export function oauthRoutes({ identities, limits, cells, addresses, authorization, apps, endpoint }: Deps) {
  const guards = new Elysia({ name: "mcp-server.oauth-guards" }).macro({
    /** Open to programs, limited by address; the body is read as it comes. */
    oauthForm: (_: true) => ({
      ...guardedFile(async ({ request }) => {
        const context = contextOf(request);
        context.maxBodyBytes = MAX_FORM_BYTES;
        if (!isCountedElsewhere(cells, request)) await limits.takeOrThrow("oauth-token", context.address);
      }),
      detail: documentGuard([], { 429: "RATE_LIMITED" }),
    }),
    oauthRegistration: (_: true) => ({
      ...guarded(async ({ request }) => {
        const context = contextOf(request);
        context.maxBodyBytes = MAX_FORM_BYTES;
        await limits.takeOrThrow("oauth-register", context.address);
      }),
      detail: documentGuard([], { 429: "RATE_LIMITED" }),
    }),
  });
  const formOf = (request: Request) => decodeBody(contextOf(request).bodyBytes ?? new Uint8Array());

  return new Elysia({ name: "mcp-server.oauth" })
    .use(guards)
    .use(identities.guards)
    .post("/api/oauth/token", ({ request }) => endpoint.token(formOf(request), addresses.originFor(request)), {
      oauthForm: true,
      detail: {
        tags,
        summary: "Exchange a code or a refresh token for tokens",
        operationId: "createOauthToken",
        description: `${FORM} A refresh token works once; its second use ends the connection.`,
        ...refusals,
        ...documentResponse(tokens, "The tokens"),
      },
    })
    .post("/api/oauth/revoke", ({ request }) => endpoint.revoke(formOf(request)), {
      oauthForm: true,
      detail: {
        tags,
        summary: "End a connection by one of its tokens",
        operationId: "revokeOauthToken",
        description: FORM,
        ...refusals,
        ...documentResponse(registrationBody, "Ended, or there was none"),
      },
    })
    .post("/api/oauth/register", ({ body }) => endpoint.register(body), {
      oauthRegistration: true,
      body: registrationBody,
      response: { 201: registration },
      detail: {
        tags,
        summary: "Register an app (RFC 7591)",
        operationId: "registerOauthApp",
        description: "For public clients: there is no secret, and PKCE with S256 is required.",
        ...documentErrors({ 400: ["INVALID_REDIRECT_URI", "INVALID_CLIENT_METADATA"] }),
      },
    })
    .post(
      "/api/oauth/request",
      async ({ identity, body, request }) => {
        const checked = await authorization.check(body.request, addresses.originFor(request));
        const account = identity.user.email;
        if ("back" in checked) return { back: checked.back, app: null, account };
        const { client, redirectUri, scopes } = checked.request;
        const app = { name: client.name, verifiedHost: client.verifiedHost ?? null, ...hostOf(redirectUri) };
        return { back: null, app: { ...app, scopes: inOrder(scopes) }, account };
      },
      {
        ownSession: true,
        body: requestBody,
        response: { 200: requestedApp },
        detail: {
          tags,
          summary: "What an app asks for, for the page that asks you",
          description:
            "`request` is the query string of the authorization request. `back` is set if the app has made a mistake.",
          operationId: "readOauthRequest",
          ...documentErrors({ 400: "INVALID_AUTHORIZATION" }),
        },
      },
    )
    .post(
      "/api/oauth/decision",
      async ({ identity, body: { request: query, approved, scopes, trusted = false }, request }) => {
        const origin = addresses.originFor(request);
        return {
          redirect: await authorization.decide(identity.user.id, query, origin, { approved, scopes, trusted }),
        };
      },
      {
        ownSession: true,
        body: decisionBody,
        response: { 200: decided },
        detail: {
          tags,
          summary: "Allow or refuse what an app asks for",
          description: "`redirect` is where the browser goes next: back to the app, with a code or a refusal.",
          operationId: "decideOauthRequest",
          ...documentErrors({ 400: "INVALID_AUTHORIZATION", 409: "TOO_MANY_APPS" }),
        },
      },
    )
    .get(
      "/api/connected-apps",
      async ({ identity }) => {
        const found = (await apps.list(identity.user.id)).map(toItem);
        return { apps: found, count: found.length };
      },
      {
        ownSession: true,
        response: { 200: connectedAppList },
        detail: {
          tags,
          summary: "The apps that you have connected, newest first",
          description: "Apps that act for the account with tokens, and what each may do.",
        },
      },
    )
    .delete(
      "/api/connected-apps/:id",
      async ({ identity, params: { id } }) => {
        if (await apps.disconnect(identity.user.id, id)) return { success: true as const, id };
        throw notFound("You have no connected app with this id.", "APP_NOT_FOUND");
      },
      {
        ownSession: true,
        response: { 200: disconnectedApp },
        detail: {
          tags,
          summary: "Disconnect an app, with immediate effect",
          description: "All tokens of the app stop working.",
          ...documentErrors({ 404: "APP_NOT_FOUND" }),
        },
      },
    );
}

const inOrder = (scopes: ConnectedApp["scopes"]) => APP_SCOPES.filter((scope) => scopes.has(scope));

const toItem = ({ id, name, host, scopes, trusted, createdAt, lastUsedAt }: ConnectedApp) => ({
  id,
  name,
  host,
  scopes: inOrder(scopes),
  trusted,
  createdAt: new Date(createdAt).toISOString(),
  lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
});
