// Parses the body of `POST /api/provision`, whose channel fields may have neutral names or the platforms' names.
import type { ProvisioningField } from "../../channels/definition.ts";
import { provisionedChannels } from "../../channels/registry.ts";
import { AppError, type Issue, invalidInput } from "../../src/kernel/errors.ts";
import type { ProviderId, ProviderRegistry } from "../ai/settings.ts";
import { parseOwnerId, type SubmittedToken } from "../channels/index.ts";
import type { PLANS, ProvisionBody } from "./model.ts";

type ProvisionedChannel = ReturnType<typeof provisionedChannels>[number];

export interface ProvisionRequest {
  /** At least one token, at most one per channel. */
  tokens: SubmittedToken[];
  aiProvider: ProviderId;
  apiKey: string | undefined;
  plan: (typeof PLANS)[number];
  /** Fields of the body that have no effect. */
  warnings: Issue[];
}

/**
 * Parses a body that its schema has accepted. Throws 400: `UNSUPPORTED_FIELD` with all fields that are no longer accepted,
 * `CHANNEL_TOKEN_REQUIRED`, and for an invalid id of an owner.
 * @param text the unparsed body, because the schema drops unknown fields
 */
export function parseProvisionRequest(body: ProvisionBody, text: string, registry: ProviderRegistry): ProvisionRequest {
  rejectUnsupportedFields(text);
  const tokens = provisionedChannels().flatMap((definition) => readToken(definition, body));
  if (tokens.length === 0) throw tokenRequired();
  return {
    tokens,
    aiProvider: body.aiProvider ?? registry.default.id,
    apiKey: isGiven(body.apiKey) ? body.apiKey : undefined,
    plan: body.plan ?? "free",
    warnings: [...findPlanWarning(body.plan), ...findUnusedFields(body, tokens)],
  };
}

const findPlanWarning = (plan: ProvisionBody["plan"]): Issue[] =>
  plan === undefined || plan === "free"
    ? []
    : [{ path: "plan", message: "This is kept as a hint. What the agent may use follows the plan of its owner." }];

/** Second names of fields that are given twice, and owner ids of channels without a token: they are not stored. */
const findUnusedFields = (body: Record<string, unknown>, tokens: readonly SubmittedToken[]): Issue[] =>
  provisionedChannels().flatMap(({ id, provisioning: { owner, token } }) => {
    const given = ({ field, alias }: ProvisioningField) =>
      [field, alias].filter((name) => String(idText(body[name]) ?? "").trim() !== "");
    const hasToken = tokens.some(({ channel }) => channel === id);
    const unusedOwners = hasToken || !owner ? [] : given(owner);
    const twice = [token, ...(hasToken && owner ? [owner] : [])].flatMap((one) => given(one).slice(1));
    return [
      ...unusedOwners.map((path) => ({ path, message: `This is used only together with ${token.field}.` })),
      ...twice.map((path) => ({ path, message: "The same field is given under its other name, which comes first." })),
    ];
  });

/** Forms send fields that were left empty as empty text. */
const isGiven = (text: unknown): text is string => typeof text === "string" && text.trim() !== "";

/** A channel's token, with the field it came in; none if neither field holds one. */
function readToken(definition: ProvisionedChannel, body: Record<string, unknown>): SubmittedToken[] {
  const { field, alias } = definition.provisioning.token;
  const name = isGiven(body[field]) ? field : alias;
  const token = body[name];
  return isGiven(token) ? [{ channel: definition.id, field: name, token, ownerId: readOwnerId(definition, body) }] : [];
}

/** The owner's id, from the first of its two fields that has one. */
function readOwnerId({ id, provisioning: { owner } }: ProvisionedChannel, body: Record<string, unknown>) {
  return (owner ? [owner.field, owner.alias] : [])
    .map((path) => parseOwnerId(id, idText(body[path]), path))
    .find((ownerId) => ownerId !== undefined);
}

/** The schema lets text and whole numbers pass. */
const idText = (value: unknown) => (typeof value === "string" || typeof value === "number" ? value : undefined);

function rejectUnsupportedFields(text: string): void {
  const given: unknown = text.trim() === "" ? {} : JSON.parse(text);
  if (typeof given !== "object" || given === null) return;
  // The last channel first, as clients know the order of these issues.
  const fields = provisionedChannels().toReversed();
  const found = fields
    .flatMap(({ provisioning }) => provisioning.unsupportedFields)
    .filter((field) => Object.hasOwn(given, field));
  if (found.length === 0) return;
  const message = "This field is no longer accepted: the platform gives this value for the token. Leave it out.";
  throw invalidInput(
    found.map((path) => ({ path, message })),
    "UNSUPPORTED_FIELD",
  );
}

function tokenRequired(): AppError {
  const text = "Give the token of at least one channel.";
  const issues = provisionedChannels().map(({ provisioning }) => ({ path: provisioning.token.field, message: text }));
  return new AppError(400, "CHANNEL_TOKEN_REQUIRED", text, { issues });
}
