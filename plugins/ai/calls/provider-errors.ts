// Maps failures of providers to Berth's errors. A provider's own message is passed on only if it is about the caller's request,
// and without keys.

import { AppError } from "../../../src/kernel/errors.ts";
import type { Upstream } from "../providers/providers.ts";
import type { ProviderRegistry } from "../providers/registry.ts";

/** Statuses about the caller's request, which are passed on to the caller. */
const CALLER_ERROR_STATUSES = new Set([400, 404, 413, 422, 429]);
/** Bytes of an error body that are read. */
const MAX_ERROR_BODY_BYTES = 64 * 1024;
/** Characters of a provider's message that are passed on. */
const MAX_MESSAGE_CHARACTERS = 500;

/** For everybody but the operator, whose key or account is the cause: it is in the service's log. */
export const MODEL_UNUSABLE =
  "The model can't be used right now. The operator has been told; try again later or choose another model.";

/** Whether the provider failed, so that another may succeed: a server error, or a timeout of the request (408). */
export const isProviderFailure = (status: number) => status >= 500 || status === 408;

/** Errors after which another provider of the same model is tried. */
const RETRYABLE_CODES = new Set(["PROVIDER_FAILED", "PROVIDER_TIMEOUT", "PROVIDER_UNREACHABLE", "PROVIDER_RESTING"]);
export const isRetryable = (error: unknown): error is AppError =>
  error instanceof AppError && RETRYABLE_CODES.has(error.code);

/** Whether the same call may succeed later. */
export const isProviderAway = ({ code }: AppError) => RETRYABLE_CODES.has(code) || code === "PROVIDER_RATE_LIMITED";

/** Whether the provider may have processed, and may charge for, the call that ended with this error. */
export const mayHaveBeenBilled = (error: unknown) =>
  error instanceof AppError && (error.code === "CLIENT_GONE" || error.code === "PROVIDER_TIMEOUT");

export const timeoutError = ({ label }: Upstream, cause?: unknown) =>
  new AppError(502, "PROVIDER_TIMEOUT", `${label} did not answer in time.`, {}, { cause });
export const unreachableError = ({ label }: Upstream, cause?: unknown) =>
  new AppError(502, "PROVIDER_UNREACHABLE", `${label} could not be reached.`, {}, { cause });
/** The circuit breaker is open, so the provider was not called. */
export const circuitOpenError = ({ label }: Upstream, retryAfterMs: number) =>
  new AppError(
    502,
    "PROVIDER_RESTING",
    `${label} has failed repeatedly and is temporarily not called.`,
    {},
    { headers: { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) } },
  );
export const noProviderError = () => new AppError(404, "NO_MODELS", "No configured provider serves this model.");
export const clientClosedError = () => new AppError(499, "CLIENT_GONE", "The client went away before the answer.");

/** The error for a response that another provider may be asked after. Drops its body. */
export async function failureFromResponse(response: Response, { label }: Pick<Upstream, "label">): Promise<AppError> {
  await response.body?.cancel();
  return new AppError(502, "PROVIDER_FAILED", `${label} failed to answer.`, {}, statusCause(response, label));
}

const statusCause = ({ status }: Response, label: string) => ({ cause: new Error(`${label} answered ${status}.`) });

/** The error for an error response. Reads the start of its body, and rejects if that breaks off. */
export async function errorFromResponse(
  response: Response,
  { label, apiKey }: Upstream,
  keyPattern: RegExp,
): Promise<AppError> {
  const { status } = response;
  if (isProviderFailure(status)) return failureFromResponse(response, { label });
  const cause = statusCause(response, label);
  if (!CALLER_ERROR_STATUSES.has(status)) {
    await response.body?.cancel();
    return new AppError(502, "PROVIDER_MISCONFIGURED", MODEL_UNUSABLE, {}, cause);
  }
  const providerText = readErrorMessage(await readStart(response), apiKey, keyPattern);
  const message = `${label} refused the request${providerText ? `: ${providerText}` : "."}`;
  const isRateLimited = status === 429;
  const code = isRateLimited ? "PROVIDER_RATE_LIMITED" : "PROVIDER_REFUSED";
  return new AppError(status, code, message, {}, { ...cause, headers: isRateLimited ? retryAfter(response) : {} });
}

/** The header `Retry-After`, if it looks like seconds or a date (RFC 9110 §10.2.3). */
function retryAfter({ headers }: Response): Record<string, string> {
  const text = headers.get("retry-after");
  return text && /^[\w ,:]{1,40}$/.test(text) ? { "retry-after": text } : {};
}

async function readStart(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= MAX_ERROR_BODY_BYTES) break;
  }
  return Buffer.concat(chunks).toString("utf8", 0, MAX_ERROR_BODY_BYTES);
}

/** The message in an error body of a usual form, without any text that looks like a key. */
export function readErrorMessage(text: string, apiKey: string | undefined, keyPattern: RegExp): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Not JSON, such as the page of a proxy.
    return undefined;
  }
  const error = findErrorMessage(Array.isArray(parsed) ? parsed[0] : parsed);
  return error && redactKeys(error, apiKey, keyPattern).slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed();
}

/** Key prefixes of others whose errors a provider may relay, and a common one. */
const OTHER_KEY_PREFIXES = ["xai", "key"];

/** Matches the keys of every registered provider, masked ones too. */
export function createKeyPattern({ all }: Pick<ProviderRegistry, "all">): RegExp {
  const names = all.map(({ credential }) => RegExp.escape(credential.prefix.replace(/[-_]$/, "")));
  const prefixes = new Set([...names, ...OTHER_KEY_PREFIXES]);
  return new RegExp(`\\b(?:${[...prefixes].join("|")})[-_]?[\\w*.-]{8,}`, "g");
}

/**
 * Matches the keys of every registered provider in log lines. Without a separator a prefix may begin a word, so that more
 * characters must follow.
 */
export const createLogPatterns = ({ all }: Pick<ProviderRegistry, "all">): RegExp[] =>
  [...new Set(all.map(({ credential }) => credential.prefix))].map((prefix) => {
    const least = /[-_]$/.test(prefix) ? 6 : 24;
    return new RegExp(`(?<![A-Za-z0-9])${RegExp.escape(prefix)}[\\w+/=-]{${least},}`, "g");
  });

/** A provider's message without the key it was called with, and without any text that looks like a key. */
const redactKeys = (text: string, apiKey: string | undefined, keyPattern: RegExp) =>
  (apiKey ? text.replaceAll(apiKey, "***") : text).replace(keyPattern, "***");

function findErrorMessage(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const { error, message } = body as { error?: unknown; message?: unknown };
  if (typeof error === "string") return error;
  if (typeof error === "object" && error !== null) {
    return findErrorMessage({ message: (error as { message?: unknown }).message });
  }
  return typeof message === "string" ? message : undefined;
}
