// The schemas of the routes of channels, the actions of their service tokens, and the conversion of rows into answers.
import { t } from "elysia";
import type { ChannelDefinition, ReceiveMode } from "../../channels/definition.ts";
import type { ChannelId } from "../../channels/port.ts";
import { channelDefinition } from "../../channels/registry.ts";
import type { ChannelState } from "./channel-states.ts";
import { MAX_TOKEN_LENGTH } from "./submitted-credentials.ts";
import type { CheckedToken } from "./token-checks.ts";

/** The actions that service tokens name. */
export const READ_ACTION = "agent.channels";
export const CONNECT_ACTION = "agent.connect";
export const CHECK_ACTION = "agent.check-token";

const bot = t.Object(
  {
    id: t.String({ description: "the platform's id of the bot" }),
    username: t.String({ description: "the handle people see" }),
  },
  { title: "ChannelBot" },
);
const link = t.Union([t.String({ description: "the address that people open to reach the bot" }), t.Null()]);
const state = t.String({
  description: "connecting, connected, backing_off (waits for its next try) or failed (not retried)",
});
const iso = { description: "ISO 8601" };

/** The description of connecting, for the API document. */
export const TOKEN_LIMIT_DESCRIPTION =
  "The token is checked with its platform first. Tokens that a platform refuses are counted by the rule `provision`, for the " +
  "caller's account and address: after too many, this answers 429 `RATE_LIMITED` until `Retry-After`. Good ones are not counted.";

const token = t.Optional(
  t.String({
    minLength: 1,
    maxLength: MAX_TOKEN_LENGTH,
    description: "on channels with several credentials, their JSON",
    error: "Give the bot's token.",
  }),
);
const credentials = t.Optional(
  t.Record(t.String(), t.Union([t.String({ maxLength: 2_048 }), t.Integer(), t.Boolean()]), {
    maxProperties: 32,
    description:
      "instead of `token`, on channels that list several `credentials` in `GET /api/channels`: values by name",
    error: "Give the values by the names that GET /api/channels lists for this channel.",
  }),
);

export const connectBody = t.Object({
  token,
  credentials,
  ownerId: t.Optional(
    t.Union([t.String(), t.Integer()], {
      description:
        "your own id on the platform: a number, or on the third channel your phone number; left out, the one given before stays",
      error: "This must be your id on the platform, as text or a number.",
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

export const channelItem = t.Object(
  {
    channel: t.String(),
    label: t.String({ description: "the platform's name" }),
    bot,
    link,
    ownerId: t.Union([t.String({ description: "the platform's id of the bot's owner" }), t.Null()]),
    state,
    since: t.String(iso),
    lastError: t.Union([
      t.String({ description: "the last error, which stays after the connection works again" }),
      t.Null(),
    ]),
    problem: t.Union([t.String(), t.Null()], {
      description:
        "why it does not work: refused (by the platform, for good), conflict (another program receives with this token), busy " +
        "(the platform asks to wait), unreachable, agent_stopped or internal; null while it works",
    }),
    nextTryAt: t.Union([t.String({ ...iso, description: "ISO 8601; while it waits for its next try" }), t.Null()]),
    mode: t.String({ description: "polling, gateway or webhook" }),
  },
  { title: "AgentChannel" },
);

export const channelList = t.Object({ channels: t.Array(channelItem), count: t.Number() });

export const disconnectResponse = t.Object({ success: t.Literal(true), channel: t.String() });

export const checkBody = t.Object({ token, credentials });

export const checkResponse = t.Object({
  ok: t.Literal(true),
  bot: t.Object({
    ...bot.properties,
    name: t.Union([t.String({ description: "as its owner named it; null if the platform does not say" }), t.Null()]),
    link,
  }),
  inUseBy: t.Union(
    [
      t.Object({
        agentId: t.Union([t.String(), t.Null()]),
        name: t.Union([t.String(), t.Null()], { description: "null for an agent of another account" }),
      }),
      t.Null(),
    ],
    {
      description:
        "another agent here that this bot serves already; it can't be connected before it is disconnected there",
    },
  ),
});

export const CHECK_DESCRIPTION =
  "A token that does not look like one of the platform's is refused without asking the platform, with `problem` (spaces, " +
  "start, characters, incomplete, id, public_key, client_secret, other_field, missing or invalid), and is not counted. Of " +
  "several `credentials`, `problems` names that of each. " +
  "Tokens that the platform refuses are counted as those of connecting are: 429 `RATE_LIMITED` after too many.";

export const CHECK_ERRORS = { 400: "INVALID_CHANNEL_TOKEN", 502: "CHANNEL_UNREACHABLE" };

export const RETRY_ERRORS = {
  404: ["CHANNEL_NOT_FOUND", "CHANNEL_NOT_CONNECTED"],
  409: ["CHANNEL_FAILED", "CHANNEL_BUSY", "AGENT_STOPPED", "OPERATION_IN_PROGRESS"],
};

/** The channels there are, for pages that offer them. */
export const catalogue = t.Object({
  channels: t.Array(
    t.Object({
      channel: t.String(),
      label: t.String({ description: "the platform's name" }),
      mode: t.String({ description: "polling, gateway or webhook" }),
      hasGroups: t.Boolean({ description: "bots can be in groups" }),
      link: t.Union([t.Literal("chat"), t.Literal("invite")], {
        description: "what a bot's link does: open a conversation, or add the bot to a server first",
      }),
      needsHttps: t.Boolean({
        description: "the platform would post to this service, but its public address is not https",
      }),
      appWebhook: t.Union(
        [
          t.Object({
            url: t.String({ description: "the address to enter at the platform for the app as a whole" }),
            verifyToken: t.String({ description: "the word to enter beside it" }),
          }),
          t.Null(),
        ],
        { description: "null for platforms that want none" },
      ),
      credentials: t.Union(
        [
          t.Array(
            t.Object({
              name: t.String(),
              label: t.String(),
              isSecret: t.Boolean({ description: "never shown again" }),
              isOptional: t.Boolean(),
              example: t.Union([t.String(), t.Null()]),
            }),
          ),
          t.Null(),
        ],
        { description: "what a bot is connected with; null: one `token`" },
      ),
      guide: t.Object(
        { token: t.String(), ownerId: t.String(), receiving: t.String(), manifest: t.Optional(t.String()) },
        {
          description:
            "where to get a token, which ids people have, how messages arrive, in Markdown; and a text to paste into the " +
            "platform's form for a new app, if it has such a form",
        },
      ),
    }),
  ),
  count: t.Number(),
});

const isoOf = (time: number) => new Date(time).toISOString();
const isoOrNull = (time: number | null) => (time === null ? null : isoOf(time));
const linkOf = (channel: ChannelId, of: { id: string; username: string }) =>
  channelDefinition(channel).link.of(of) ?? null;

export const toCheckAnswer = (channel: ChannelId, { bot: { id, username, name }, inUseBy }: CheckedToken) => ({
  ok: true as const,
  bot: { id, username, name: name ?? null, link: linkOf(channel, { id, username }) },
  inUseBy,
});

export const toCatalogueItem = (definition: ChannelDefinition, mode: ReceiveMode, baseUrl: string) => ({
  channel: definition.id,
  label: definition.label,
  mode,
  hasGroups: definition.capabilities.hasGroups,
  link: definition.link.kind,
  needsHttps: mode === "webhook" && !baseUrl.startsWith("https:"),
  appWebhook: definition.appWebhook
    ? { url: `${baseUrl}/hooks/${definition.id}`, verifyToken: definition.appWebhook.verifyToken }
    : null,
  credentials:
    definition.credentials?.map(({ name, label, isSecret, isOptional = false, example = null }) => ({
      name,
      label,
      isSecret,
      isOptional,
      example,
    })) ?? null,
  guide: definition.documentation,
});

export const toConnectResponse = ({ channel, bot, state, since }: ChannelState) => ({
  success: true as const,
  channel,
  bot,
  state,
  since: isoOf(since),
});

export const toChannelItem = (found: ChannelState) => ({
  channel: found.channel,
  label: channelDefinition(found.channel).label,
  bot: found.bot,
  link: linkOf(found.channel, found.bot),
  ownerId: found.ownerId,
  state: found.state,
  since: isoOf(found.since),
  lastError: found.lastError,
  problem: found.problem,
  nextTryAt: isoOrNull(found.nextTryAt),
  mode: found.mode,
});
