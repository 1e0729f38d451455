// The backend's routes of channels; the connections are held in this process.
import { Elysia } from "elysia";
import { channelDefinition } from "../../channels/registry.ts";
import { notFound } from "../../src/kernel/errors.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import { parseOwnerId } from "./access/owner-id.ts";
import { requireChannelId } from "./adapters.ts";
import type { ChannelService } from "./channel-service.ts";
import { CONNECT_ERRORS } from "./connections/connect-errors.ts";
import type { TokenAttempts } from "./connections/token-attempts.ts";
import {
  CHECK_ACTION,
  CHECK_ERRORS,
  CONNECT_ACTION,
  channelItem,
  channelList,
  checkBody,
  checkResponse,
  connectBody,
  connectResponse,
  disconnectResponse,
  READ_ACTION,
  RETRY_ERRORS,
  toChannelItem,
  toCheckAnswer,
  toConnectResponse,
} from "./model.ts";
import { ROUTE_DETAILS } from "./route-details.ts";
import { requireTokenForm, toTokenText } from "./submitted-credentials.ts";

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  channels: ChannelService;
  tokenAttempts: TokenAttempts;
}

export function backendRoutes({ guards, channels, tokenAttempts }: Deps) {
  return new Elysia({ name: "channels.backend" })
    .use(guards)
    .get(
      "/api/agents/:id/channels",
      async ({ agent }) => {
        const items = (await channels.list(agent.id)).map(toChannelItem);
        return { channels: items, count: items.length };
      },
      {
        agentCall: READ_ACTION,
        response: { 200: channelList },
        detail: {
          ...ROUTE_DETAILS.list,
        },
      },
    )
    .get(
      "/api/agents/:id/channels/:channel",
      async ({ agent, params }) => toChannelItem(await channels.get(agent.id, requireChannelId(params.channel))),
      {
        agentCall: READ_ACTION,
        response: { 200: channelItem },
        detail: {
          ...ROUTE_DETAILS.get,
          ...documentErrors({ 404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"] }),
        },
      },
    )
    .put(
      "/api/agents/:id/channels/:channel",
      async ({ agent, caller, params, body: { token, credentials, ownerId } }) => {
        const channel = requireChannelId(params.channel);
        const request = { token, credentials, ownerId: parseOwnerId(channel, ownerId) };
        const connect = () => channels.connect(caller, agent.id, channel, request);
        return toConnectResponse(await tokenAttempts.run(caller, connect));
      },
      {
        agentCall: { action: CONNECT_ACTION, changes: true },
        body: connectBody,
        response: { 200: connectResponse },
        detail: {
          ...ROUTE_DETAILS.connect,
          ...documentErrors({ ...CONNECT_ERRORS, 404: "CHANNEL_NOT_FOUND" }),
        },
      },
    )
    .delete(
      "/api/agents/:id/channels/:channel",
      async ({ agent, params }) => {
        const channel = requireChannelId(params.channel);
        if (!(await channels.disconnect(agent.id, channel))) {
          throw notFound(
            `This agent is not connected to ${channelDefinition(channel).label}.`,
            "CHANNEL_NOT_CONNECTED",
          );
        }
        return { success: true as const, channel };
      },
      {
        agentCall: { action: CONNECT_ACTION, changes: true },
        response: { 200: disconnectResponse },
        detail: {
          ...ROUTE_DETAILS.disconnect,
          ...documentErrors({ 404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"] }),
        },
      },
    )
    .post(
      "/api/agents/:id/channels/:channel/check",
      async ({ agent, caller, params, body }) => {
        const channel = requireChannelId(params.channel);
        const token = toTokenText(channel, body);
        requireTokenForm(channel, token);
        const check = () => channels.checkToken(caller.userId, agent.id, channel, token);
        return toCheckAnswer(channel, await tokenAttempts.run(caller, check));
      },
      {
        agentCall: CHECK_ACTION,
        body: checkBody,
        response: { 200: checkResponse },
        detail: {
          ...ROUTE_DETAILS.check,
          ...documentErrors({ ...CHECK_ERRORS, 404: "CHANNEL_NOT_FOUND" }),
        },
      },
    )
    .post(
      "/api/agents/:id/channels/:channel/retry",
      async ({ agent, params }) => toChannelItem(await channels.retry(agent.id, requireChannelId(params.channel))),
      {
        agentCall: { action: CONNECT_ACTION, changes: true },
        response: { 200: channelItem },
        detail: {
          ...ROUTE_DETAILS.retry,
          ...documentErrors(RETRY_ERRORS),
        },
      },
    );
}
