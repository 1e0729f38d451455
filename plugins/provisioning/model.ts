// Schemas of `POST /api/provision` and of claiming; the fields of the channels come from the rows of the registry.
import { type Static, type TSchema, t } from "elysia";
import { provisionedChannels } from "../../channels/registry.ts";
import { warningsField } from "../agents/index.ts";
import type { ProviderRegistry } from "../ai/settings.ts";

/** The actions that service tokens name. */
export const PROVISION_ACTION = "provisioning.make";
export const CLAIM_ACTION = "provisioning.claim";

export const PLANS = ["free", "pro", "enterprise"] as const;

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

/** Fields that are made at run time: their names are not in the type, so handlers read them by name. */
type ChannelFields = Record<never, TSchema>;

/** The fields of all channels under their neutral names, then under the platforms' names. */
function channelBodyFields(): ChannelFields {
  const fields = provisionedChannels().flatMap(({ provisioning: { token: tokenField, owner } }) => [
    { ...tokenField, toSchema: token },
    ...(owner ? [{ ...owner, toSchema: ownerId }] : []),
  ]);
  return Object.fromEntries([
    ...fields.map(({ field, description, toSchema }) => [field, toSchema(description)] as const),
    ...fields.map(({ field, alias, toSchema }) => [alias, toSchema(sameAs(field))] as const),
  ]);
}

const sameAs = (field: string) => `The same as \`${field}\`, which comes first`;

const commonBodyFields = (providers: ProviderRegistry) => ({
  aiProvider: oneOf(providers.ids, `The provider of the agent's model; \`${providers.default.id}\` if left out`),
  apiKey: t.Optional(
    t.String({
      maxLength: 4_096,
      pattern: "^\\s*[\\x21-\\x7e]*\\s*$",
      description: "A key for that provider, kept as the agent's own",
      error: "A key is up to 4,096 printable ASCII characters without spaces.",
    }),
  ),
  plan: oneOf(PLANS, "A hint that is kept and grants nothing; `free` if left out"),
});

export const createProvisionBody = (providers: ProviderRegistry) =>
  t.Object({ ...channelBodyFields(), ...commonBodyFields(providers) });
export type ProvisionBody = Static<ReturnType<typeof createProvisionBody>>;

const nullable = (description: string) => t.Union([t.String({ description }), t.Null()]);
const masked = nullable("All but the last four characters are hidden");
const channelSwitch = t.Union([t.Literal("enabled"), t.Literal("disabled")]);

const maskedTokenFields = (): ChannelFields =>
  Object.fromEntries(provisionedChannels().map(({ provisioning }) => [provisioning.token.field, masked]));

export const createProvisionResponse = () =>
  t.Object({
    success: t.Literal(true),
    userId: t.String({
      description: "The caller, or without a session an account that holds the agent until it is claimed",
    }),
    agentId: t.String(),
    id: t.String({ description: "The same as `agentId`" }),
    ...maskedTokenFields(),
    aiProvider: t.String(),
    aiProviderConfig: t.Object({
      model: t.String({ description: "The model the agent got" }),
      baseUrl: t.String({ description: "The address of the provider" }),
      requiresKey: t.Boolean({ description: "Whether this provider needs a key" }),
    }),
    plan: t.String(),
    streamKey: nullable("A secret, for publishing; null when replayed"),
    liveStreamId: nullable("The stream's public name"),
    rtmpServer: nullable("The address to publish to, without the key"),
    playbackUrl: nullable("The page that plays the stream"),
    subdomain: t.String(),
    url: t.String({ description: "The agent's public address" }),
    hls: nullable("The playlist, for players"),
    rtmp: nullable("The address to publish to, with the key: a secret; null when replayed"),
    status: t.String({ description: "active" }),
    createdAt: t.String({ description: "ISO 8601" }),
    metadata: t.Object({
      channels: t.Object(Object.fromEntries(provisionedChannels().map(({ id }) => [id, channelSwitch]))),
      streaming: t.Object({
        provider: nullable("Null if there are no streams"),
        latency: nullable("The latency, as a word"),
      }),
      claimUrl: t.Optional(
        nullable(
          "Without a session: the link by which an account claims the agent, once, within 7 days; null when replayed",
        ),
      ),
    }),
    warnings: warningsField,
  });
export type ProvisionResponse = Static<ReturnType<typeof createProvisionResponse>>;

/** The fields that are shown only in the first answer. */
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

/** The errors of both routes, for the API document. */
export const PROVISION_ERRORS = {
  400: ["CHANNEL_TOKEN_REQUIRED", "UNSUPPORTED_FIELD", "INVALID_CHANNEL_TOKEN"],
  401: "UNAUTHORIZED",
  402: "SUBSCRIPTION_REQUIRED",
  409: ["CHANNEL_IN_USE", "AGENT_GONE", ...IDEMPOTENCY_ERRORS],
  429: ["AGENT_LIMIT_REACHED", "CHANNEL_LIMIT_REACHED"],
  502: "CHANNEL_UNREACHABLE",
};
export const CLAIM_ERRORS = {
  402: "SUBSCRIPTION_REQUIRED",
  404: "CLAIM_NOT_FOUND",
  409: IDEMPOTENCY_ERRORS,
  429: ["AGENT_LIMIT_REACHED", "CHANNEL_LIMIT_REACHED"],
  503: "ACCOUNT_MOVING",
};
