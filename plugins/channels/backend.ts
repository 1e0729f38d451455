// The backend's routes of channels, where the connections live.
import { Elysia } from "elysia";
import type { ChannelId } from "../../channels/channel.ts";
import { notFound } from "../../src/errors.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { requireChannelId } from "./adapters.ts";
import type { Channels } from "./channels.ts";
import { type Hooks, RECEIVE } from "./hooks.ts";
import type { Intake } from "./intake.ts";
import type { Lines } from "./lines.ts";
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
  toConnected,
  toItem,
  toPairing,
} from "./model.ts";
import { WELCOME } from "./owner-commands.ts";
import { readOwnerId } from "./owner-id.ts";
import type { Pairings } from "./pairings.ts";
import type { Trials } from "./trials.ts";
import { CONNECT, LOOK } from "./web.ts";

interface Deps {
  identities: ServiceOf<typeof auth>["identities"];
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  channels: Channels;
  pairings: Pairings;
  lines: Lines;
  intake: Intake;
  hooks: Hooks;
  trials: Trials;
}

export function backendRoutes({ identities, guards, channels, pairings, lines, intake, hooks, trials }: Deps) {
  const detail = { tags: ["Channels"] };

  async function approve(agentId: string, channel: ChannelId, code: string) {
    const found = await pairings.approve(agentId, channel, code);
    if (!found) throw notFound("Nobody was told this code, or it is older than one hour.", "PAIRING_NOT_FOUND");
    const line = await lines.of(agentId, channel);
    if (line) await intake.say(line, found.peer, WELCOME);
    return { success: true as const, senderId: found.senderId };
  }

  return (
    new Elysia({ name: "channels.backend" })
      .use(guards)
      // As on the web surface, for a web surface in another process.
      .post(
        "/api/hooks/:channel/:callbackId",
        async ({ request, params }) => {
          await identities.authorize(request, RECEIVE);
          return hooks.receive(request, params.channel, params.callbackId);
        },
        {
          parse: "none",
          detail: {
            ...detail,
            ...posting,
            security: [{ serviceToken: [] }],
            summary: "What a platform posted, passed on by the web surface",
          },
        },
      )
      .get(
        "/api/hooks/:channel/:callbackId",
        async ({ request, params }) => {
          await identities.authorize(request, RECEIVE);
          return hooks.receive(request, params.channel, params.callbackId);
        },
        {
          detail: {
            ...detail,
            ...proving,
            security: [{ serviceToken: [] }],
            summary: "A platform asks whether an address is ours, passed on by the web surface",
          },
        },
      )
      .get(
        "/api/agents/:id/channels",
        async ({ agent }) => {
          const items = (await channels.list(agent.id)).map(toItem);
          return { channels: items, count: items.length };
        },
        {
          agentCall: LOOK,
          response: { 200: channelList },
          detail: { ...detail, summary: "An agent's channels, and how each one is" },
        },
      )
      .get(
        "/api/agents/:id/channels/:channel",
        async ({ agent, params }) => toItem(await channels.one(agent.id, requireChannelId(params.channel))),
        {
          agentCall: LOOK,
          response: { 200: channelItem },
          detail: {
            ...detail,
            summary: "One of an agent's channels, and how it is",
            ...mayAnswer({ 404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"] }),
          },
        },
      )
      .put(
        "/api/agents/:id/channels/:channel",
        async ({ agent, caller, params, body: { token, ownerId } }) => {
          const channel = requireChannelId(params.channel);
          const request = { token, ownerId: readOwnerId(channel, ownerId) };
          const connect = () => channels.connect(caller, agent.id, channel, request);
          return toConnected(await trials.attempt(caller, connect));
        },
        {
          agentCall: { action: CONNECT, changes: true },
          body: connectBody,
          response: { 200: connected },
          detail: {
            ...detail,
            summary: "Connect a channel: the agent answers as this bot",
            description: TOO_OFTEN,
            ...mayAnswer({ ...CONNECT_ERRORS, 404: "CHANNEL_NOT_FOUND" }),
          },
        },
      )
      .delete(
        "/api/agents/:id/channels/:channel",
        async ({ agent, params }) => {
          const channel = requireChannelId(params.channel);
          if (!(await channels.disconnect(agent.id, channel))) {
            throw notFound(`This agent is not connected to ${channel}.`, "CHANNEL_NOT_CONNECTED");
          }
          return { success: true as const, channel };
        },
        {
          agentCall: { action: CONNECT, changes: true },
          response: { 200: disconnected },
          detail: {
            ...detail,
            summary: "Disconnect a channel and forget its token",
            ...mayAnswer({ 404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"] }),
          },
        },
      )
      .get(
        "/api/agents/:id/channels/:channel/pairings",
        async ({ agent, params }) => {
          const items = (await pairings.list(agent.id, requireChannelId(params.channel))).map(toPairing);
          return { pairings: items, count: items.length };
        },
        {
          agentCall: LOOK,
          response: { 200: pairingList },
          detail: {
            ...detail,
            summary: "People who may talk to the agent there, and who asked to",
            ...mayAnswer({ 404: "CHANNEL_NOT_FOUND" }),
          },
        },
      )
      .post(
        "/api/agents/:id/channels/:channel/pairings",
        ({ agent, params, body }) => approve(agent.id, requireChannelId(params.channel), body.code),
        {
          agentCall: { action: CONNECT, changes: true },
          body: approveBody,
          response: { 200: paired },
          detail: {
            ...detail,
            summary: "Let the person talk who was told this code",
            ...mayAnswer({ 404: ["CHANNEL_NOT_FOUND", "PAIRING_NOT_FOUND"] }),
          },
        },
      )
      .delete(
        "/api/agents/:id/channels/:channel/pairings/:senderId",
        async ({ agent, params: { channel, senderId } }) => {
          if (!(await pairings.remove(agent.id, requireChannelId(channel), senderId))) {
            throw notFound("Nobody with this id is paired or asked to be.", "PAIRING_NOT_FOUND");
          }
          return { success: true as const, senderId };
        },
        {
          agentCall: { action: CONNECT, changes: true },
          response: { 200: paired },
          detail: {
            ...detail,
            summary: "Take a person's permission, or request, back",
            ...mayAnswer({ 404: ["CHANNEL_NOT_FOUND", "PAIRING_NOT_FOUND"] }),
          },
        },
      )
  );
}
