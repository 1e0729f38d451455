// Converts the credentials of a request into the text that is stored as a bot's token, and checks their form.
import type { CredentialField } from "../../channels/definition.ts";
import type { ChannelId } from "../../channels/port.ts";
import { channelDefinition } from "../../channels/registry.ts";
import {
  type CredentialValues,
  findCredentialProblems,
  findCredentialTextProblem,
  pickCredentials,
  readCredentials,
  writeCredentials,
} from "../../channels/shared/credential-text.ts";
import { AppError, type Issue, invalidInput } from "../../src/kernel/errors.ts";

export const INVALID_TOKEN_CODE = "INVALID_CHANNEL_TOKEN";
/** Characters of a credential that can be stored. */
export const MAX_TOKEN_LENGTH = 4_096;

/** One of the two; `token` of a channel with several credentials is their JSON. */
export interface SubmittedCredentials {
  token?: string | undefined;
  credentials?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The text of a bot's credentials. Throws 400 `INVALID_INPUT` if they are missing or not of this channel's kind, and
 * `INVALID_CHANNEL_TOKEN` if one of several values has the wrong form. The form of a single token is checked with
 * `requireTokenForm`.
 */
export function toTokenText(channel: ChannelId, submitted: SubmittedCredentials): string {
  const { credentials: fields, label } = channelDefinition(channel);
  if (fields) {
    const text = writeCredentials(fields, requireValues(fields, submitted));
    if (text.length <= MAX_TOKEN_LENGTH) return text;
    throw invalidInput({ path: "credentials", message: `Together these have over ${MAX_TOKEN_LENGTH} characters.` });
  }
  if (submitted.token !== undefined) return submitted.token.trim();
  if (submitted.credentials) throw invalidInput({ path: "token", message: `${label} takes one token: give it here.` });
  throw invalidInput({ path: "token", message: "Give the bot's token." });
}

/** Throws 400 `INVALID_CHANNEL_TOKEN` for a text that is no complete token of the platform. */
export function requireTokenForm(channel: ChannelId, token: string): void {
  const problem = channelDefinition(channel).findTokenProblem(token.trim());
  if (!problem) return;
  const { message, code } = problem;
  throw invalidToken(message, [{ path: "token", message }], { problem: code });
}

/** The values of a text of several credentials that must not be shown. */
export function secretValues(channel: ChannelId, token: string): string[] {
  const { credentials: fields = [] } = channelDefinition(channel);
  const values = readCredentials(fields, token) ?? {};
  return fields.flatMap(({ name, isSecret }) => (isSecret && values[name] !== undefined ? [values[name]] : []));
}

function requireValues(fields: readonly CredentialField[], { token, credentials }: SubmittedCredentials) {
  const values = credentials ? pickKnown(fields, credentials) : readToken(fields, token);
  const problems = findCredentialProblems(fields, values);
  const [first] = problems.toSorted((a, b) => Number(a.code === "missing") - Number(b.code === "missing"));
  if (!first) return values;
  const issues = problems.map(({ field, message }) => ({ path: `credentials.${field}`, message }));
  throw invalidToken(first.message, issues, {
    problem: first.code,
    problems: Object.fromEntries(problems.map(({ field, code }) => [field, code])),
  });
}

function pickKnown(fields: readonly CredentialField[], credentials: Readonly<Record<string, unknown>>) {
  const names = fields.map(({ name }) => name);
  const unknown = Object.keys(credentials).filter((name) => !names.includes(name));
  if (unknown.length === 0) return pickCredentials(fields, credentials);
  const message = `There is no such credential here. Give ${new Intl.ListFormat("en").format(names)}.`;
  throw invalidInput(unknown.map((name) => ({ path: `credentials.${name}`, message })));
}

function readToken(fields: readonly CredentialField[], token: string | undefined): CredentialValues {
  if (token === undefined) return {};
  const values = readCredentials(fields, token);
  if (values) return values;
  const message = findCredentialTextProblem(fields, token)?.message ?? "";
  throw invalidToken(message, [{ path: "token", message }], { problem: "start" });
}

const invalidToken = (message: string, issues: Issue[], extras: Readonly<Record<string, unknown>>) =>
  new AppError(400, INVALID_TOKEN_CODE, message, { issues, ...extras });
