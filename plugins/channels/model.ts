// The schemas of the routes of channels, the actions of their service tokens, and the conversion of rows into answers.
import { t } from "elysia";
import { documentErrors, documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { Pairing } from "./access/pairings.ts";
import type { ChannelState } from "./channel-service.ts";

/** The actions that service tokens name. */
export const READ_ACTION = "agent.channels";
export const CONNECT_ACTION = "agent.connect";

const bot = t.Object({
  id: t.String({ description: "the platform's id of the bot" }),
  username: t.String({ description: "the handle people see" }),
});
const state = t.String({
  description: "connecting, connected, backing_off (waits for its next try) or failed (not retried)",
});
const iso = { description: "ISO 8601" };

/** The errors of connecting a bot, for the API document. */
export const CONNECT_ERRORS = {
  400: "INVALID_CHANNEL_TOKEN",
  409: ["CHANNEL_IN_USE", "OPERATION_IN_PROGRESS"],
  502: "CHANNEL_UNREACHABLE",
};

/** The description of connecting, for the API document. */
export const TOKEN_LIMIT_DESCRIPTION =
  "The token is checked with its platform first. Tokens that a platform refuses are counted by the rule `provision`, for the " +
  "caller's account and address: after too many, this answers 429 `RATE_LIMITED` until `Retry-After`. Good ones are not counted.";

/** Describes the route for posts, whose form each platform defines. */
export const webhookPostDetail = {
  ...documentGuard([]),
  ...documentErrors({ 401: "UNAUTHORIZED", 404: "NOT_FOUND", 409: "AGENT_STOPPED" }),
  requestBody: { description: "The platform's own form", content: { "application/json": { schema: {} } } },
  responses: { 200: { description: "Received; the platform reads only the status" } },
};

/** Describes the route by which platforms verify an address. */
export const webhookVerificationDetail = {
  ...documentGuard([]),
  ...documentErrors({ 401: "UNAUTHORIZED", 404: "NOT_FOUND", 409: "AGENT_STOPPED" }),
  responses: { 200: { description: "The platform's challenge, as text" } },
};

export const connectBody = t.Object({
  token: t.String({ minLength: 1, maxLength: 4_096, error: "Give the bot's token." }),
  ownerId: t.Optional(
    t.Union([t.String(), t.Integer()], {
      description:
        "your own id on the platform: a number, or on the third channel your phone number; left out, the one given before stays",
      error: "This is your id on the platform, as text or a number.",
    }),
  ),
});

export const connectResponse = t.Object({
  success: t.Literal(true),
  channel: t.String(),
  bot,
  state,
  since: t.String(iso),
});

export const channelItem = t.Object({
  channel: t.String(),
  bot,
  state,
  since: t.String(iso),
  lastError: t.Union([
    t.String({ description: "the last error, which stays after the connection works again" }),
    t.Null(),
  ]),
  nextTryAt: t.Union([t.String({ ...iso, description: "ISO 8601; while it waits for its next try" }), t.Null()]),
  mode: t.String({ description: "polling, gateway or webhook" }),
});

export const channelList = t.Object({ channels: t.Array(channelItem), count: t.Number() });

export const disconnectResponse = t.Object({ success: t.Literal(true), channel: t.String() });

export const approveBody = t.Object({
  code: t.String({ minLength: 1, maxLength: 32, error: "Give the code that the person got." }),
  owner: t.Optional(
    t.Boolean({
      description: "true if the person is you: they become the owner of the bot, in place of an earlier one",
      error: "Give true if the person is you, otherwise false.",
    }),
  ),
});

export const approveResponse = t.Object({
  success: t.Literal(true),
  senderId: t.String(),
  owner: t.Boolean({ description: "whether the person is the owner of the bot now" }),
});

export const pairingResponse = t.Object({ success: t.Literal(true), senderId: t.String() });

export const pairingList = t.Object({
  pairings: t.Array(
    t.Object({
      senderId: t.String({ description: "the platform's id of the person" }),
      name: t.String({ description: "as the person chose it; anyone can choose any name" }),
      status: t.Union([t.Literal("pending"), t.Literal("approved"), t.Literal("denied")], {
        description: "a denied person may ask again after a week, or once removed here",
      }),
      code: t.Union([t.String(), t.Null()]),
      expiresAt: t.Union([t.String(iso), t.Null()]),
      approvedAt: t.Union([t.String(iso), t.Null()]),
    }),
  ),
  count: t.Number(),
});

const isoOf = (time: number) => new Date(time).toISOString();
const isoOrNull = (time: number | null) => (time === null ? null : isoOf(time));

export const toConnectResponse = ({ channel, bot, state, since }: ChannelState) => ({
  success: true as const,
  channel,
  bot,
  state,
  since: isoOf(since),
});

export const toChannelItem = ({ channel, bot, state, since, lastError, nextTryAt, mode }: ChannelState) => ({
  channel,
  bot,
  state,
  since: isoOf(since),
  lastError,
  nextTryAt: isoOrNull(nextTryAt),
  mode,
});

function statusOf({ code, approvedAt }: Pick<Pairing, "code" | "approvedAt">) {
  if (approvedAt !== null) return "approved" as const;
  return code === null ? ("denied" as const) : ("pending" as const);
}

export const toPairingItem = ({ senderId, senderName, code, expiresAt, approvedAt }: Pairing) => ({
  senderId,
  name: senderName,
  status: statusOf({ code, approvedAt }),
  code,
  expiresAt: isoOrNull(expiresAt),
  approvedAt: isoOrNull(approvedAt),
});
