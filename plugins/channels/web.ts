// The web's routes of channels: whose agent it is is settled here, everything else where the connections live.
import { Elysia } from "elysia";
import { type BackendTransport, passOn, pathPart } from "../../src/backend.ts";
import { contextOf } from "../../src/http.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { requireChannelId } from "./adapters.ts";
import type { Hooks } from "./hooks.ts";
import {
  approveBody,
  CONNECT_ERRORS,
  channelItem,
  channelList,
  connectBody,
  connected,
  disconnected,
  paired,
  pairingList,
  posting,
  proving,
  TOO_OFTEN,
} from "./model.ts";

/** What service tokens name. */
export const LOOK = "agent.channels";
export const CONNECT = "agent.connect";

/** Of a refusal: the backend counts the tokens that were refused. */
const WHEN_AGAIN = ["retry-after", "ratelimit", "ratelimit-policy"];

interface Deps {
  backend: BackendTransport;
  identities: ServiceOf<typeof auth>["identities"];
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  hooks: Hooks;
}

export function webRoutes({ backend, identities, guards, hooks }: Deps) {
  const detail = { tags: ["Channels"] };
  const reading = { ownAgent: { scope: "read" as const, kind: "data" as const } };
  const writing = { ownAgent: { scope: "write" as const, kind: "data" as const } };

  interface Asked {
    identity: Identity;
    request: Request;
    agent: { id: string };
  }

  /** Asks the backend for the same, in the caller's name, and passes its answer on. */
  async function forward({ identity, request, agent }: Asked, path: string): Promise<Response> {
    const { method } = request;
    const grant = identities.grant(identity, request, method === "GET" ? LOOK : CONNECT, agent.id);
    const answer = await backend.fetch(grant, `/api/agents/${agent.id}/channels${path}`, {
      method,
      signal: request.signal,
      ...(method === "GET" || method === "DELETE"
        ? {}
        : { body: contextOf(request).bodyText ?? "", headers: { "content-type": "application/json" } }),
    });
    const passed = passOn(answer);
    for (const name of answer.status === 429 ? WHEN_AGAIN : []) {
      const value = answer.headers.get(name);
      if (value !== null) passed.headers.set(name, value);
    }
    return passed;
  }
  const channelPath = ({ channel }: { channel: string }, rest = "") => `/${requireChannelId(channel)}${rest}`;

  return (
    new Elysia({ name: "channels.web" })
      .use(guards)
      // No guard and no schema: what proves who posts is in the address and the headers, and the adapter reads the body.
      .post(
        "/hooks/:channel/:callbackId",
        ({ request, params }) => hooks.arrive(request, params.channel, params.callbackId),
        {
          parse: "none",
          detail: { ...detail, ...posting, summary: "Where platforms post what people write to a bot" },
        },
      )
      .get(
        "/hooks/:channel/:callbackId",
        ({ request, params }) => hooks.arrive(request, params.channel, params.callbackId),
        { detail: { ...detail, ...proving, summary: "Where a platform asks whether an address is ours" } },
      )
      .get("/api/agents/:id/channels", (asked) => forward(asked, ""), {
        ...reading,
        response: { 200: channelList },
        detail: {
          ...detail,
          summary: "An agent's channels, and how each one is",
          ...mayAnswer({ 502: "BACKEND_UNAVAILABLE" }),
        },
      })
      .get("/api/agents/:id/channels/:channel", (asked) => forward(asked, channelPath(asked.params)), {
        ...reading,
        response: { 200: channelItem },
        detail: {
          ...detail,
          summary: "One of an agent's channels, and how it is",
          ...mayAnswer({ 404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"], 502: "BACKEND_UNAVAILABLE" }),
        },
      })
      .put("/api/agents/:id/channels/:channel", (asked) => forward(asked, channelPath(asked.params)), {
        ...writing,
        body: connectBody,
        response: { 200: connected },
        detail: {
          ...detail,
          summary: "Connect a channel: the agent answers as this bot",
          description: TOO_OFTEN,
          ...mayAnswer({
            ...CONNECT_ERRORS,
            404: "CHANNEL_NOT_FOUND",
            502: ["CHANNEL_UNREACHABLE", "BACKEND_UNAVAILABLE"],
          }),
        },
      })
      .delete("/api/agents/:id/channels/:channel", (asked) => forward(asked, channelPath(asked.params)), {
        ...writing,
        response: { 200: disconnected },
        detail: {
          ...detail,
          summary: "Disconnect a channel and forget its token",
          ...mayAnswer({
            404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"],
            409: "OPERATION_IN_PROGRESS",
            502: "BACKEND_UNAVAILABLE",
          }),
        },
      })
      .get(
        "/api/agents/:id/channels/:channel/pairings",
        (asked) => forward(asked, channelPath(asked.params, "/pairings")),
        {
          ...reading,
          response: { 200: pairingList },
          detail: {
            ...detail,
            summary: "People who may talk to the agent there, and who asked to",
            ...mayAnswer({ 404: "CHANNEL_NOT_FOUND", 502: "BACKEND_UNAVAILABLE" }),
          },
        },
      )
      .post(
        "/api/agents/:id/channels/:channel/pairings",
        (asked) => forward(asked, channelPath(asked.params, "/pairings")),
        {
          ...writing,
          body: approveBody,
          response: { 200: paired },
          detail: {
            ...detail,
            summary: "Let the person talk who was told this code",
            ...mayAnswer({
              404: ["CHANNEL_NOT_FOUND", "PAIRING_NOT_FOUND"],
              409: "OPERATION_IN_PROGRESS",
              502: "BACKEND_UNAVAILABLE",
            }),
          },
        },
      )
      .delete(
        "/api/agents/:id/channels/:channel/pairings/:senderId",
        (asked) => forward(asked, channelPath(asked.params, `/pairings/${pathPart(asked.params.senderId)}`)),
        {
          ...writing,
          response: { 200: paired },
          detail: {
            ...detail,
            summary: "Take a person's permission, or request, back",
            ...mayAnswer({
              404: ["CHANNEL_NOT_FOUND", "PAIRING_NOT_FOUND"],
              409: "OPERATION_IN_PROGRESS",
              502: "BACKEND_UNAVAILABLE",
            }),
          },
        },
      )
  );
}
