// The web's routes of channels: they check the ownership of the agent and forward to the backend, which holds the
// connections.
import { Elysia } from "elysia";
import { encodePathSegment } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { requireChannelId } from "./adapters.ts";
import type { IncomingWebhooks } from "./connections/incoming-webhooks.ts";
import {
  approveBody,
  approveResponse,
  CONNECT_ACTION,
  CONNECT_ERRORS,
  channelItem,
  channelList,
  connectBody,
  connectResponse,
  disconnectResponse,
  pairingList,
  pairingResponse,
  READ_ACTION,
  TOKEN_LIMIT_DESCRIPTION,
  webhookPostDetail,
  webhookVerificationDetail,
} from "./model.ts";

/** Headers of a 429 that are forwarded: the backend counts refused tokens. */
const RETRY_HEADERS = ["retry-after", "ratelimit", "ratelimit-policy"];

interface Deps {
  backend: BackendTransport;
  identities: ServiceOf<typeof auth>["identities"];
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  incomingWebhooks: IncomingWebhooks;
}

export function webRoutes({ backend, identities, guards, incomingWebhooks }: Deps) {
  const detail = { tags: ["Channels"] };
  const reading = { ownAgent: { scope: "read" as const, kind: "data" as const } };
  const writing = { ownAgent: { scope: "write" as const, kind: "data" as const } };

  interface RouteContext {
    identity: Identity;
    request: Request;
    agent: { id: string };
  }

  /** Forwards a request to the backend in the caller's name. */
  async function forward({ identity, request, agent }: RouteContext, path: string): Promise<Response> {
    const action = request.method === "GET" ? READ_ACTION : CONNECT_ACTION;
    const grant = identities.createGrant(identity, request, action, agent.id);
    return forwardToBackend(backend, grant, request, `/api/agents/${agent.id}/channels${path}`, {
      signal: request.signal,
      responseHeaders: ({ status }) => (status === 429 ? RETRY_HEADERS : []),
    });
  }
  const channelPath = ({ channel }: { channel: string }, rest = "") => `/${requireChannelId(channel)}${rest}`;

  return (
    new Elysia({ name: "channels.web" })
      .use(guards)
      // No guard and no schema: the address and the headers prove the sender, and the adapter parses the body.
      .post(
        "/hooks/:channel/:callbackId",
        ({ request, params }) => incomingWebhooks.receiveOrForward(request, params.channel, params.callbackId),
        {
          parse: "none",
          detail: { ...detail, ...webhookPostDetail, summary: "Receive a platform's post for a bot" },
        },
      )
      .get(
        "/hooks/:channel/:callbackId",
        ({ request, params }) => incomingWebhooks.receiveOrForward(request, params.channel, params.callbackId),
        {
          detail: {
            ...detail,
            ...webhookVerificationDetail,
            summary: "Answer a platform's verification of an address",
          },
        },
      )
      .get("/api/agents/:id/channels", (context) => forward(context, ""), {
        ...reading,
        response: { 200: channelList },
        detail: {
          ...detail,
          summary: "List an agent's channels with their states",
          ...documentErrors({ 502: "BACKEND_UNAVAILABLE" }),
        },
      })
      .get("/api/agents/:id/channels/:channel", (context) => forward(context, channelPath(context.params)), {
        ...reading,
        response: { 200: channelItem },
        detail: {
          ...detail,
          summary: "Get one of an agent's channels with its state",
          ...documentErrors({ 404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"], 502: "BACKEND_UNAVAILABLE" }),
        },
      })
      .put("/api/agents/:id/channels/:channel", (context) => forward(context, channelPath(context.params)), {
        ...writing,
        body: connectBody,
        response: { 200: connectResponse },
        detail: {
          ...detail,
          summary: "Connect a channel: the agent answers as this bot",
          description: TOKEN_LIMIT_DESCRIPTION,
          ...documentErrors({
            ...CONNECT_ERRORS,
            404: "CHANNEL_NOT_FOUND",
            502: ["CHANNEL_UNREACHABLE", "BACKEND_UNAVAILABLE"],
          }),
        },
      })
      .delete("/api/agents/:id/channels/:channel", (context) => forward(context, channelPath(context.params)), {
        ...writing,
        response: { 200: disconnectResponse },
        detail: {
          ...detail,
          summary: "Disconnect a channel and forget its token",
          ...documentErrors({
            404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"],
            409: "OPERATION_IN_PROGRESS",
            502: "BACKEND_UNAVAILABLE",
          }),
        },
      })
      .get(
        "/api/agents/:id/channels/:channel/pairings",
        (context) => forward(context, channelPath(context.params, "/pairings")),
        {
          ...reading,
          response: { 200: pairingList },
          detail: {
            ...detail,
            summary: "List the people who may talk to the agent on a channel, and who asked to",
            ...documentErrors({ 404: "CHANNEL_NOT_FOUND", 502: "BACKEND_UNAVAILABLE" }),
          },
        },
      )
      .post(
        "/api/agents/:id/channels/:channel/pairings",
        (context) => forward(context, channelPath(context.params, "/pairings")),
        {
          ...writing,
          body: approveBody,
          response: { 200: approveResponse },
          detail: {
            ...detail,
            summary: "Approve the person who got this code",
            ...documentErrors({
              404: ["CHANNEL_NOT_FOUND", "PAIRING_NOT_FOUND"],
              409: "OPERATION_IN_PROGRESS",
              502: "BACKEND_UNAVAILABLE",
            }),
          },
        },
      )
      .delete(
        "/api/agents/:id/channels/:channel/pairings/:senderId",
        (context) =>
          forward(context, channelPath(context.params, `/pairings/${encodePathSegment(context.params.senderId)}`)),
        {
          ...writing,
          response: { 200: pairingResponse },
          detail: {
            ...detail,
            summary: "Remove a person's permission or request",
            ...documentErrors({
              404: ["CHANNEL_NOT_FOUND", "PAIRING_NOT_FOUND"],
              409: "OPERATION_IN_PROGRESS",
              502: "BACKEND_UNAVAILABLE",
            }),
          },
        },
      )
  );
}
