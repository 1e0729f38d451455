// Provisioning with channel tokens on the wire. Interface, "Provision with channel tokens"; contract §6.
import { type Static, t } from "elysia";
import type { ProviderRegistry } from "../ai/settings.ts";

export const PLANS = ["free", "pro", "enterprise"] as const;

/** The field each token comes and goes under, and its other name. */
export const TOKEN_FIELDS = [
  { channel: "channel_a", field: "channelAToken", alias: "telegramToken" },
  { channel: "channel_b", field: "channelBBotToken", alias: "discordBotToken" },
  { channel: "channel_c", field: "channelCToken", alias: "whatsappToken" },
] as const;

/** What the platforms tell by themselves, and is no longer taken. */
export const UNSUPPORTED_FIELDS = [
  ["channelCPhoneNumberId", "whatsappPhoneNumberId"],
  ["channelCBusinessAccountId", "whatsappBusinessAccountId"],
  ["channelBGuildId", "discordGuildId"],
  ["channelBChannelId", "discordChannelId"],
].flat();

const token = (description: string) =>
  t.Optional(t.String({ maxLength: 4_096, description, error: "This is the bot's token, as text." }));
const ownerId = (description: string) =>
  t.Optional(t.Union([t.String(), t.Integer()], { description, error: "This is your numeric id on the platform." }));
const oneOf = <const Value extends string>(values: readonly Value[], description: string) =>
  t.Optional(
    t.Union(
      values.map((value) => t.Literal(value)),
      { description, error: `One of: ${values.join(", ")}.` },
    ),
  );

export const createProvisionBody = (registry: ProviderRegistry) =>
  t.Object({
    channelAToken: token(
      "A bot's token of the first channel. At least one token is needed; an empty one counts as none",
    ),
    channelAUserId: ownerId(
      "The owner's numeric id there: who may talk to the agent, unless its configuration says more",
    ),
    channelBBotToken: token("A bot's token of the second channel"),
    channelCToken: token("A token of the third channel; numbers and accounts are found by it"),
    telegramToken: token("The same as `channelAToken`, which comes first"),
    telegramUserId: ownerId("The same as `channelAUserId`, which comes first"),
    discordBotToken: token("The same as `channelBBotToken`, which comes first"),
    whatsappToken: token("The same as `channelCToken`, which comes first"),
    aiProvider: oneOf(registry.ids, `Whose model the agent gets; \`${registry.default.id}\` where it is left out`),
    apiKey: t.Optional(
      t.String({
        maxLength: 4_096,
        pattern: "^\\s*[\\x21-\\x7e]*\\s*$",
        description: "A key for that provider, kept as the agent's own",
        error: "A key is up to 4,096 printable ASCII characters without spaces.",
      }),
    ),
    plan: oneOf(PLANS, "A hint that is kept and grants nothing; `free` where it is left out"),
  });
export type ProvisionBody = Static<ReturnType<typeof createProvisionBody>>;

const nullable = (description: string) => t.Union([t.String({ description }), t.Null()]);
const masked = nullable("All but the last four characters are hidden");
const channelSwitch = t.Union([t.Literal("enabled"), t.Literal("disabled")]);

export const provisionResponse = t.Object({
  success: t.Literal(true),
  userId: t.String({
    description: "The caller, or without a session an account that holds the agent until it is claimed",
  }),
  agentId: t.String(),
  id: t.String({ description: "The same as `agentId`" }),
  channelAToken: masked,
  channelBBotToken: masked,
  channelCToken: masked,
  aiProvider: t.String(),
  aiProviderConfig: t.Object({
    model: t.String({ description: "The model the agent got" }),
    baseUrl: t.String({ description: "Where the provider is asked" }),
    requiresKey: t.Boolean({ description: "Whether this provider asks for a key at all" }),
  }),
  plan: t.String(),
  streamKey: nullable("A secret, for publishing; null when replayed"),
  liveStreamId: nullable("The stream's public name"),
  rtmpServer: nullable("Where to publish to, without the key"),
  playbackUrl: nullable("The page on which it is watched"),
  subdomain: t.String(),
  url: t.String({ description: "The agent's public address" }),
  hls: nullable("The playlist, for players"),
  rtmp: nullable("Where to publish to, with the key: a secret; null when replayed"),
  status: t.String({ description: "active" }),
  createdAt: t.String({ description: "ISO 8601" }),
  metadata: t.Object({
    channels: t.Object({ channel_a: channelSwitch, channel_b: channelSwitch, channel_c: channelSwitch }),
    streaming: t.Object({ provider: nullable("Null where there are no streams"), latency: nullable("In a word") }),
    claimUrl: t.Optional(
      nullable("Without a session: who opens it makes the agent theirs, once, within 7 days; null when replayed"),
    ),
  }),
});
export type ProvisionResponse = Static<typeof provisionResponse>;

/** Shown this once. */
export const SHOWN_ONCE_FIELDS = ["streamKey", "rtmp", "metadata.claimUrl"];

export const claimBody = t.Object({
  token: t.String({ minLength: 1, maxLength: 200, error: "Give the token from the link." }),
});

export const claimResponse = t.Object({
  success: t.Literal(true),
  agentId: t.String(),
  id: t.String({ description: "The same as `agentId`" }),
  name: t.String(),
  url: t.String({ description: "The agent's public address" }),
});
export type ClaimResponse = Static<typeof claimResponse>;

const IDEMPOTENCY_ERRORS = ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"];

/** What each is refused with, for the documents. */
export const PROVISION_ERRORS = {
  400: ["CHANNEL_TOKEN_REQUIRED", "UNSUPPORTED_FIELD", "INVALID_CHANNEL_TOKEN"],
  402: "SUBSCRIPTION_REQUIRED",
  409: ["CHANNEL_IN_USE", "AGENT_GONE", ...IDEMPOTENCY_ERRORS],
  429: "AGENT_LIMIT_REACHED",
  502: "CHANNEL_UNREACHABLE",
};
export const CLAIM_ERRORS = {
  402: "SUBSCRIPTION_REQUIRED",
  404: "CLAIM_NOT_FOUND",
  409: IDEMPOTENCY_ERRORS,
  429: "AGENT_LIMIT_REACHED",
};
