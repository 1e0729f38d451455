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
  CHECK_DESCRIPTION,
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
  TOKEN_LIMIT_DESCRIPTION,
  toChannelItem,
  toCheckAnswer,
  toConnectResponse,
} from "./model.ts";
import { requireTokenForm, toTokenText } from "./submitted-credentials.ts";

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  channels: ChannelService;
  tokenAttempts: TokenAttempts;
}

export function backendRoutes({ guards, channels, tokenAttempts }: Deps) {
  const detail = { tags: ["Channels"] };

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
          ...detail,
          summary: "List an agent's channels with their states",
          description:
            "For each connected channel: the bot, whether it is connected now, and the last error of a connection.",
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
          ...detail,
          summary: "Get one of an agent's channels with its state",
          description: "The bot, its connection, and the last error of a connection.",
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
          ...detail,
          summary: "Connect a channel: the agent answers as this bot",
          description: TOKEN_LIMIT_DESCRIPTION,
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
          ...detail,
          summary: "Disconnect a channel and forget its token",
          description: "The bot stops answering at once.",
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
          ...detail,
          summary: "Ask the platform which bot a token belongs to, without storing it",
          description: CHECK_DESCRIPTION,
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
          ...detail,
          summary: "Try now to connect a bot that waits for its next try",
          description:
            "A bot whose connection failed is tried again with growing delays; this tries it without waiting.",
          ...documentErrors(RETRY_ERRORS),
        },
      },
    );
}
