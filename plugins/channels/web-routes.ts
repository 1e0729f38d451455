// The web's routes of channels: whose agent it is is settled here, everything else where the connections live.
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
  CONNECT_ERRORS,
  channelItem,
  channelList,
  connectBody,
  connectResponse,
  disconnectResponse,
  pairingList,
  pairingResponse,
  TOKEN_LIMIT_DESCRIPTION,
  webhookPostDetail,
  webhookVerificationDetail,
} from "./model.ts";

/** What service tokens name. */
export const READ_ACTION = "agent.channels";
export const CONNECT_ACTION = "agent.connect";

/** Of a refusal: the backend counts the tokens that were refused. */
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

  /** Asks the backend for the same, in the caller's name, and passes its answer on. */
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
      // No guard and no schema: what proves who posts is in the address and the headers, and the adapter reads the body.
      .post(
        "/hooks/:channel/:callbackId",
        ({ request, params }) => incomingWebhooks.receiveOrForward(request, params.channel, params.callbackId),
        {
          parse: "none",
          detail: { ...detail, ...webhookPostDetail, summary: "Where platforms post what people write to a bot" },
        },
      )
      .get(
        "/hooks/:channel/:callbackId",
        ({ request, params }) => incomingWebhooks.receiveOrForward(request, params.channel, params.callbackId),
        {
          detail: {
            ...detail,
            ...webhookVerificationDetail,
            summary: "Where a platform asks whether an address is ours",
          },
        },
      )
      .get("/api/agents/:id/channels", (context) => forward(context, ""), {
        ...reading,
        response: { 200: channelList },
        detail: {
          ...detail,
          summary: "An agent's channels, and how each one is",
          ...documentErrors({ 502: "BACKEND_UNAVAILABLE" }),
        },
      })
      .get("/api/agents/:id/channels/:channel", (context) => forward(context, channelPath(context.params)), {
        ...reading,
        response: { 200: channelItem },
        detail: {
          ...detail,
          summary: "One of an agent's channels, and how it is",
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
            summary: "People who may talk to the agent there, and who asked to",
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
          response: { 200: pairingResponse },
          detail: {
            ...detail,
            summary: "Let the person talk who was told this code",
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
            summary: "Take a person's permission, or request, back",
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
