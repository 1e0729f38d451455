// What a request for an agent with channels asks for, under whichever names it says it.

import { AppError, invalidInput } from "../../src/kernel/errors.ts";
import type { ProviderId, ProviderRegistry } from "../ai/settings.ts";
import { parseOwnerId, type SubmittedToken } from "../channels/index.ts";
import { type PLANS, type ProvisionBody, TOKEN_FIELDS, UNSUPPORTED_FIELDS } from "./model.ts";

export interface ProvisionRequest {
  /** At least one, each of another channel. */
  tokens: SubmittedToken[];
  aiProvider: ProviderId;
  apiKey: string | undefined;
  plan: (typeof PLANS)[number];
}

/**
 * Reads a body that its schema has let pass. Throws 400: `UNSUPPORTED_FIELD` naming all that are no longer taken,
 * `CHANNEL_TOKEN_REQUIRED`, and for an owner who is not named by a number.
 * @param text the body as it came: the schema leaves out what it does not know
 */
export function parseProvisionRequest(body: ProvisionBody, text: string, registry: ProviderRegistry): ProvisionRequest {
  rejectUnsupportedFields(text);
  const tokens = TOKEN_FIELDS.flatMap(({ channel, field, alias }): SubmittedToken[] => {
    const name = isGiven(body[field]) ? field : alias;
    const token = body[name];
    return isGiven(token) ? [{ channel, field: name, token, ownerId: undefined }] : [];
  });
  const first = tokens.find(({ channel }) => channel === "channel_a");
  if (first) first.ownerId = ownerIdOf(body);
  if (tokens.length === 0) throw tokenRequired();
  return {
    tokens,
    aiProvider: body.aiProvider ?? registry.default.id,
    apiKey: isGiven(body.apiKey) ? body.apiKey : undefined,
    plan: body.plan ?? "free",
  };
}

/** Forms send what was not filled in as empty text. */
const isGiven = (text: string | undefined): text is string => text !== undefined && text.trim() !== "";

function rejectUnsupportedFields(text: string): void {
  const given: unknown = text.trim() === "" ? {} : JSON.parse(text);
  if (typeof given !== "object" || given === null) return;
  const found = UNSUPPORTED_FIELDS.filter((field) => Object.hasOwn(given, field));
  if (found.length === 0) return;
  const message = "This field is no longer accepted: the platform tells it by the token. Leave it out.";
  throw invalidInput(
    found.map((path) => ({ path, message })),
    "UNSUPPORTED_FIELD",
  );
}

/** The first that is given. */
function ownerIdOf(body: ProvisionBody): string | undefined {
  return (["channelAUserId", "telegramUserId"] as const)
    .map((path) => parseOwnerId("channel_a", body[path], path))
    .find((id) => id !== undefined);
}

function tokenRequired(): AppError {
  const text = "Give the token of at least one channel.";
  const issues = TOKEN_FIELDS.map(({ field }) => ({ path: field, message: text }));
  return new AppError(400, "CHANNEL_TOKEN_REQUIRED", text, { issues });
}
