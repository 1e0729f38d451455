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
  toCatalogueItem,
} from "./model.ts";
import { ROUTE_DETAILS } from "./route-details.ts";

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
          tags: ["Channels"],
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
        ...ROUTE_DETAILS.list,
        ...documentErrors({ 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .get("/api/agents/:id/channels/:channel", (context) => forward(context, channelPath(context.params)), {
      ...reading,
      response: { 200: channelItem },
      detail: {
        ...ROUTE_DETAILS.get,
        ...documentErrors({ 404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"], 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .put("/api/agents/:id/channels/:channel", (context) => forward(context, channelPath(context.params)), {
      ...writing,
      body: connectBody,
      response: { 200: connectResponse },
      detail: {
        ...ROUTE_DETAILS.connect,
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
        ...ROUTE_DETAILS.disconnect,
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
          ...ROUTE_DETAILS.check,
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
          ...ROUTE_DETAILS.retry,
          ...documentErrors({ ...RETRY_ERRORS, 502: "BACKEND_UNAVAILABLE" }),
        },
      },
    );
}
