// The web's routes that decide who may talk to an agent on a channel; they forward to the backend.
import { Elysia } from "elysia";
import { encodePathSegment } from "../../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../../src/kernel/http/backend/forward-to-backend.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { auth, Identity } from "../../auth/index.ts";
import { requireChannelId } from "../adapters.ts";
import { CONNECT_ACTION, READ_ACTION } from "../model.ts";
import {
  ACCESS_DESCRIPTION,
  access,
  accessBody,
  approveBody,
  approveResponse,
  decideBody,
  decideResponse,
  OWNER_LINK_DESCRIPTION,
  ownerLink,
  pairingList,
  pairingQuery,
  pairingResponse,
} from "./access-model.ts";

interface Deps {
  backend: BackendTransport;
  identities: ServiceOf<typeof auth>["identities"];
  guards: ServiceOf<typeof agentsPlugin>["guards"];
}

export function accessWebRoutes({ backend, identities, guards }: Deps) {
  const detail = { tags: ["Channels"] };
  const reading = { ownAgent: { scope: "read" as const, kind: "data" as const } };
  const writing = { ownAgent: { scope: "write" as const, kind: "data" as const } };
  const path = "/api/agents/:id/channels/:channel";

  interface RouteContext {
    identity: Identity;
    request: Request;
    agent: { id: string };
    params: { channel: string };
  }

  /** Forwards a request to the backend in the caller's name. */
  async function forward({ identity, request, agent, params }: RouteContext, rest: string): Promise<Response> {
    const isRead = request.method === "GET";
    const grant = identities.createGrant(identity, request, isRead ? READ_ACTION : CONNECT_ACTION, agent.id);
    const target = `/api/agents/${agent.id}/channels/${requireChannelId(params.channel)}${rest}`;
    return forwardToBackend(backend, grant, request, target, isRead ? { signal: request.signal } : {});
  }
  const personPath = ({ senderId }: { senderId: string }) => `/pairings/${encodePathSegment(senderId)}`;

  return new Elysia({ name: "channels.access.web" })
    .use(guards)
    .get(`${path}/access`, (context) => forward(context, "/access"), {
      ...reading,
      response: { 200: access },
      detail: {
        ...detail,
        summary: "Show who may talk to the agent on a channel",
        description:
          "`access` is the rule in force, `chosen` the one of the configuration. Owners and allowed people are listed by their ids on the platform.",
        ...documentErrors({ 404: "CHANNEL_NOT_FOUND", 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .put(`${path}/access`, (context) => forward(context, "/access"), {
      ...writing,
      body: accessBody,
      response: { 200: access },
      detail: {
        ...detail,
        summary: "Change who may talk to the agent on a channel",
        description: ACCESS_DESCRIPTION,
        ...documentErrors({
          400: "CONFIG_TOO_LARGE",
          404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"],
          409: "OPERATION_IN_PROGRESS",
          502: "BACKEND_UNAVAILABLE",
        }),
      },
    })
    .get(`${path}/pairings`, (context) => forward(context, `/pairings${new URL(context.request.url).search}`), {
      ...reading,
      query: pairingQuery,
      response: { 200: pairingList },
      detail: {
        ...detail,
        summary: "List the people who may talk to the agent on a channel, and who asked to",
        description: "A stranger who writes to the bot gets a code and waits here for an approval.",
        ...documentErrors({ 404: "CHANNEL_NOT_FOUND", 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .post(`${path}/pairings`, (context) => forward(context, "/pairings"), {
      ...writing,
      body: approveBody,
      response: { 200: approveResponse },
      detail: {
        ...detail,
        summary: "Approve the person who got this code",
        description:
          "With `owner: true` the person becomes the owner of the bot on this channel, whom the agent obeys.",
        operationId: "approvePairing",
        ...documentErrors({
          404: ["CHANNEL_NOT_FOUND", "PAIRING_NOT_FOUND"],
          409: ["UNPROVEN_SENDER", "OPERATION_IN_PROGRESS"],
          502: "BACKEND_UNAVAILABLE",
        }),
      },
    })
    .put(`${path}/pairings/:senderId`, (context) => forward(context, personPath(context.params)), {
      ...writing,
      body: decideBody,
      response: { 200: decideResponse },
      detail: {
        ...detail,
        summary: "Approve a person by their id, or refuse one for a week",
        description: "Without a code: for people whose id on the platform is known.",
        operationId: "setPairing",
        ...documentErrors({
          404: ["CHANNEL_NOT_FOUND", "PAIRING_NOT_FOUND"],
          409: ["TOO_MANY_PEOPLE", "OPERATION_IN_PROGRESS"],
          502: "BACKEND_UNAVAILABLE",
        }),
      },
    })
    .post(`${path}/owner-link`, (context) => forward(context, "/owner-link"), {
      ...writing,
      response: { 200: ownerLink },
      detail: {
        ...detail,
        summary: "Make the code by which you become the owner of a bot",
        operationId: "createOwnerLink",
        description: OWNER_LINK_DESCRIPTION,
        ...documentErrors({
          404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"],
          409: "OPERATION_IN_PROGRESS",
          502: "BACKEND_UNAVAILABLE",
        }),
      },
    })
    .delete(`${path}/pairings/:senderId`, (context) => forward(context, personPath(context.params)), {
      ...writing,
      response: { 200: pairingResponse },
      detail: {
        ...detail,
        summary: "Remove a person's permission or request",
        description: "The person may ask again, and gets a new code.",
        operationId: "deletePairing",
        ...documentErrors({
          404: ["CHANNEL_NOT_FOUND", "PAIRING_NOT_FOUND"],
          409: "OPERATION_IN_PROGRESS",
          502: "BACKEND_UNAVAILABLE",
        }),
      },
    });
}
