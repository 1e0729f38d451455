// The backend's routes that decide who may talk to an agent on a channel: the rule, its lists, and the people who asked.
import { Elysia } from "elysia";
import { channelDefinition } from "../../../channels/registry.ts";
import { invalidInput } from "../../../src/kernel/errors.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { readLimit, readOffset } from "../../../src/kernel/http/paging.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import { requireChannelId } from "../adapters.ts";
import type { ChannelService } from "../channel-service.ts";
import { CONNECT_ACTION, READ_ACTION } from "../model.ts";
import {
  ACCESS_DESCRIPTION,
  access,
  accessBody,
  approveBody,
  approveResponse,
  decideBody,
  decideResponse,
  MAX_LISTED,
  OWNER_LINK_DESCRIPTION,
  ownerLink,
  pairingList,
  pairingQuery,
  pairingResponse,
  toPairingItem,
} from "./access-model.ts";
import type { AccessSettings } from "./access-settings.ts";
import type { OwnerCodes } from "./owner-codes.ts";
import { parseOwnerId } from "./owner-id.ts";
import type { PairingApproval } from "./pairing-approval.ts";
import type { Pairings } from "./pairings.ts";

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  channels: Pick<ChannelService, "get">;
  pairings: Pairings;
  pairingApproval: PairingApproval;
  accessSettings: AccessSettings;
  ownerCodes: Pick<OwnerCodes, "create">;
}

export function accessBackendRoutes(deps: Deps) {
  const { guards, channels, pairings, pairingApproval, accessSettings, ownerCodes } = deps;
  const detail = { tags: ["Channels"] };
  const reading = { agentCall: READ_ACTION };
  const writing = { agentCall: { action: CONNECT_ACTION, changes: true } };
  const path = "/api/agents/:id/channels/:channel";

  return new Elysia({ name: "channels.access.backend" })
    .use(guards)
    .get(
      `${path}/access`,
      ({ agent, params: { channel } }) => accessSettings.read(agent.id, requireChannelId(channel)),
      {
        ...reading,
        response: { 200: access },
        detail: {
          ...detail,
          summary: "Show who may talk to the agent on a channel",
          description:
            "`access` is the rule in force, `chosen` the one of the configuration. Owners and allowed people are listed by their ids on the platform.",
          ...documentErrors({ 404: "CHANNEL_NOT_FOUND" }),
        },
      },
    )
    .put(
      `${path}/access`,
      ({ agent, params: { channel }, body }) => accessSettings.change(agent.id, requireChannelId(channel), body),
      {
        ...writing,
        body: accessBody,
        response: { 200: access },
        detail: {
          ...detail,
          summary: "Change who may talk to the agent on a channel",
          description: ACCESS_DESCRIPTION,
          ...documentErrors({ 400: "CONFIG_TOO_LARGE", 404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"] }),
        },
      },
    )
    .get(
      `${path}/pairings`,
      async ({ agent, params: { channel }, query: { limit, offset } }) => {
        const page = { limit: readLimit(limit, MAX_LISTED, MAX_LISTED), offset: readOffset(offset) };
        const found = await pairings.list(agent.id, requireChannelId(channel), page);
        return { pairings: found.pairings.map(toPairingItem), count: found.pairings.length, total: found.total };
      },
      {
        ...reading,
        query: pairingQuery,
        response: { 200: pairingList },
        detail: {
          ...detail,
          summary: "List the people who may talk to the agent on a channel, and who asked to",
          description: "A stranger who writes to the bot gets a code and waits here for an approval.",
          ...documentErrors({ 404: "CHANNEL_NOT_FOUND" }),
        },
      },
    )
    .post(
      `${path}/pairings`,
      async ({ agent, params: { channel }, body: { code, owner = false } }) => {
        const { senderId } = await pairingApproval.approveCode(agent.id, requireChannelId(channel), code, owner);
        return { success: true as const, senderId, owner };
      },
      {
        ...writing,
        body: approveBody,
        response: { 200: approveResponse },
        detail: {
          ...detail,
          summary: "Approve the person who got this code",
          description:
            "With `owner: true` the person becomes the owner of the bot on this channel, whom the agent obeys.",
          operationId: "approvePairing",
          ...documentErrors({ 404: ["CHANNEL_NOT_FOUND", "PAIRING_NOT_FOUND"], 409: "UNPROVEN_SENDER" }),
        },
      },
    )
    .put(
      `${path}/pairings/:senderId`,
      async ({ agent, params, body: { status, name, owner = false } }) => {
        const channel = requireChannelId(params.channel);
        if (status === "denied") {
          await pairingApproval.deny(agent.id, channel, params.senderId);
          return { success: true as const, senderId: params.senderId, status };
        }
        const senderId = parseOwnerId(channel, params.senderId, "senderId");
        if (senderId === undefined) throw invalidInput({ path: "senderId", message: "Give an id." });
        await pairingApproval.approvePerson(agent.id, channel, { senderId, name }, owner);
        return { success: true as const, senderId, status };
      },
      {
        ...writing,
        body: decideBody,
        response: { 200: decideResponse },
        detail: {
          ...detail,
          summary: "Approve a person by their id, or refuse one for a week",
          description: "Without a code: for people whose id on the platform is known.",
          operationId: "setPairing",
          ...documentErrors({ 404: ["CHANNEL_NOT_FOUND", "PAIRING_NOT_FOUND"], 409: "TOO_MANY_PEOPLE" }),
        },
      },
    )
    .post(
      `${path}/owner-link`,
      async ({ agent, params, set }) => {
        const channel = requireChannelId(params.channel);
        const { bot } = await channels.get(agent.id, channel);
        const { code, expiresAt } = ownerCodes.create(agent.id, channel);
        const { link } = channelDefinition(channel);
        const sending = link.withCode?.(bot, code);
        set.headers["cache-control"] = "no-store";
        return {
          code,
          link: sending ?? link.of(bot) ?? null,
          sendsCode: sending !== undefined,
          expiresAt: new Date(expiresAt).toISOString(),
        };
      },
      {
        ...writing,
        response: { 200: ownerLink },
        detail: {
          ...detail,
          summary: "Make the code by which you become the owner of a bot",
          operationId: "createOwnerLink",
          description: OWNER_LINK_DESCRIPTION,
          ...documentErrors({ 404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"] }),
        },
      },
    )
    .delete(
      `${path}/pairings/:senderId`,
      async ({ agent, params: { channel, senderId } }) => {
        await pairingApproval.remove(agent.id, requireChannelId(channel), senderId);
        return { success: true as const, senderId };
      },
      {
        ...writing,
        response: { 200: pairingResponse },
        detail: {
          ...detail,
          summary: "Remove a person's permission or request",
          description: "The person may ask again, and gets a new code.",
          operationId: "deletePairing",
          ...documentErrors({ 404: ["CHANNEL_NOT_FOUND", "PAIRING_NOT_FOUND"] }),
        },
      },
    );
}
