// What a request for an agent with channels asks for, under whichever names it says it.
import { AppError, invalid } from "../../src/errors.ts";
import { type GivenToken, readOwnerId } from "../channels/index.ts";
import { type PLANS, type PROVIDERS, type ProvisionBody, TOKEN_FIELDS, UNSUPPORTED } from "./model.ts";

export interface Wanted {
  /** At least one, each of another channel. */
  tokens: GivenToken[];
  aiProvider: (typeof PROVIDERS)[number];
  apiKey: string | undefined;
  plan: (typeof PLANS)[number];
}

/**
 * Reads a body that its schema has let pass. Throws 400: `UNSUPPORTED_FIELD` naming all that are no longer taken,
 * `CHANNEL_TOKEN_REQUIRED`, and for an owner who is not named by a number.
 * @param text the body as it came: the schema leaves out what it does not know
 */
export function readRequest(body: ProvisionBody, text: string): Wanted {
  requireSupported(text);
  const tokens = TOKEN_FIELDS.flatMap(({ channel, field, alias }): GivenToken[] => {
    const name = isGiven(body[field]) ? field : alias;
    const token = body[name];
    return isGiven(token) ? [{ channel, field: name, token, ownerId: undefined }] : [];
  });
  const first = tokens.find(({ channel }) => channel === "channel_a");
  if (first) first.ownerId = ownerOf(body);
  if (tokens.length === 0) throw noToken();
  return {
    tokens,
    aiProvider: body.aiProvider ?? "provider_1",
    apiKey: isGiven(body.apiKey) ? body.apiKey : undefined,
    plan: body.plan ?? "free",
  };
}

/** Forms send what was not filled in as empty text. */
const isGiven = (text: string | undefined): text is string => text !== undefined && text.trim() !== "";

function requireSupported(text: string): void {
  const given: unknown = text.trim() === "" ? {} : JSON.parse(text);
  if (typeof given !== "object" || given === null) return;
  const found = UNSUPPORTED.filter((field) => Object.hasOwn(given, field));
  if (found.length === 0) return;
  const message = "This field is no longer accepted: the platform tells it by the token. Leave it out.";
  throw invalid(
    found.map((path) => ({ path, message })),
    "UNSUPPORTED_FIELD",
  );
}

/** The first that is given. */
function ownerOf(body: ProvisionBody): string | undefined {
  return (["channelAUserId", "telegramUserId"] as const)
    .map((path) => readOwnerId("channel_a", body[path], path))
    .find((id) => id !== undefined);
}

function noToken(): AppError {
  const text = "Give the token of at least one channel.";
  const issues = TOKEN_FIELDS.map(({ field }) => ({ path: field, message: text }));
  return new AppError(400, "CHANNEL_TOKEN_REQUIRED", text, { issues });
}
