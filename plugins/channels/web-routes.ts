// The web's routes of channels: they check the ownership of the agent and forward to the backend, which holds the
// connections.
import { Elysia } from "elysia";
import { channelDefinitions } from "../../channels/registry.ts";
import type { Config } from "../../src/kernel/config/config.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { type Adapters, requireChannelId } from "./adapters.ts";
import { CONNECT_ERRORS } from "./connections/connect-errors.ts";
import {
  CHECK_ACTION,
  CHECK_DESCRIPTION,
  CHECK_ERRORS,
  CONNECT_ACTION,
  catalogue,
  channelItem,
  channelList,
  checkBody,
  checkResponse,
  connectBody,
  connectResponse,
  disconnectResponse,
  READ_ACTION,
  RETRY_ERRORS,
  TOKEN_LIMIT_DESCRIPTION,
  toCatalogueItem,
} from "./model.ts";

/** Headers of a 429 that are forwarded: the backend counts refused tokens. */
const RETRY_HEADERS = ["retry-after", "ratelimit", "ratelimit-policy"];

interface Deps {
  config: Pick<Config, "baseUrl">;
  backend: BackendTransport;
  identities: ServiceOf<typeof auth>["identities"];
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  adapters: Adapters;
}

export function webRoutes({ config, backend, identities, guards, adapters }: Deps) {
  const detail = { tags: ["Channels"] };
  const reading = { ownAgent: { scope: "read" as const, kind: "data" as const } };
  const writing = { ownAgent: { scope: "write" as const, kind: "data" as const } };

  interface RouteContext {
    identity: Identity;
    request: Request;
    agent: { id: string };
  }

  /** Forwards a request to the backend in the caller's name. */
  async function forward(
    { identity, request, agent }: RouteContext,
    path: string,
    action = request.method === "GET" ? READ_ACTION : CONNECT_ACTION,
  ): Promise<Response> {
    const grant = identities.createGrant(identity, request, action, agent.id);
    return forwardToBackend(backend, grant, request, `/api/agents/${agent.id}/channels${path}`, {
      signal: request.signal,
      responseHeaders: ({ status }) => (status === 429 ? RETRY_HEADERS : []),
    });
  }
  const channelPath = ({ channel }: { channel: string }, rest = "") => `/${requireChannelId(channel)}${rest}`;

  return new Elysia({ name: "channels.web" })
    .use(identities.guards)
    .use(guards)
    .get(
      "/api/channels",
      () => {
        const items = channelDefinitions().map((definition) =>
          toCatalogueItem(definition, adapters.get(definition.id).mode, config.baseUrl),
        );
        return { channels: items, count: items.length };
      },
      {
        signedIn: "read",
        response: { 200: catalogue },
        detail: {
          ...detail,
          summary: "List the channels that agents can be connected to",
          description:
            "The messaging platforms that this service has, each with what it needs and a guide to its bots.",
        },
      },
    )
    .get("/api/agents/:id/channels", (context) => forward(context, ""), {
      ...reading,
      response: { 200: channelList },
      detail: {
        ...detail,
        summary: "List an agent's channels with their states",
        description:
          "For each connected channel: the bot, whether it is connected now, and the last error of a connection.",
        ...documentErrors({ 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .get("/api/agents/:id/channels/:channel", (context) => forward(context, channelPath(context.params)), {
      ...reading,
      response: { 200: channelItem },
      detail: {
        ...detail,
        summary: "Get one of an agent's channels with its state",
        description: "The bot, its connection, and the last error of a connection.",
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
        description: "The bot stops answering at once.",
        ...documentErrors({
          404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"],
          409: "OPERATION_IN_PROGRESS",
          502: "BACKEND_UNAVAILABLE",
        }),
      },
    })
    .post(
      "/api/agents/:id/channels/:channel/check",
      (context) => forward(context, channelPath(context.params, "/check"), CHECK_ACTION),
      {
        ...writing,
        body: checkBody,
        response: { 200: checkResponse },
        detail: {
          ...detail,
          summary: "Ask the platform which bot a token belongs to, without storing it",
          description: CHECK_DESCRIPTION,
          ...documentErrors({
            ...CHECK_ERRORS,
            404: "CHANNEL_NOT_FOUND",
            502: [CHECK_ERRORS[502], "BACKEND_UNAVAILABLE"],
          }),
        },
      },
    )
    .post(
      "/api/agents/:id/channels/:channel/retry",
      (context) => forward(context, channelPath(context.params, "/retry")),
      {
        ...writing,
        response: { 200: channelItem },
        detail: {
          ...detail,
          summary: "Try now to connect a bot that waits for its next try",
          description:
            "A bot whose connection failed is tried again with growing delays; this tries it without waiting.",
          ...documentErrors({ ...RETRY_ERRORS, 502: "BACKEND_UNAVAILABLE" }),
        },
      },
    );
}
