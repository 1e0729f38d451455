// Classifies the error of a turn: the error for the caller, the reason for the agent's log, and whether to try again.
import { AppError } from "../../../src/kernel/errors.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { MODEL_UNUSABLE } from "../../ai/index.ts";

export interface Failure {
  error: AppError;
  /** A later try may succeed. */
  retryable: boolean;
  /** Milliseconds from the provider's Retry-After header. */
  retryAfterMs: number | undefined;
  /** For the agent's log; may quote the provider if its key is the agent's or its owner's, and never a key. */
  reason: string;
  /** For the service's log: why the operator's key, account or provider failed, which the agent's owner is not told. */
  operatorCause?: { message: string; isKeyRefused: boolean };
}

/** Marks the error of a call of the model, which is its cause. All other errors of a turn are Berth's own. */
export class ModelError extends Error {
  override readonly name = "ModelError";

  constructor(cause: unknown) {
    super("The call of the model failed.", { cause });
  }
}

/** The fields that are used here of the AI SDK's APICallError. */
interface ApiCallError {
  name: string;
  statusCode?: number;
  responseHeaders?: Record<string, string>;
  message: string;
}

/** Characters quoted of a provider's message. */
const MAX_REASON = 500;
/** Statuses by which a provider rejects the request itself: the same request would be rejected again. */
const REJECTED_STATUSES = new Set([400, 404, 413, 422]);
/** Statuses by which a provider rejects the key or the account. */
const KEY_STATUSES = new Set([401, 402, 403]);

const unavailable = (text: string, cause?: unknown) => new AppError(502, "MODEL_UNAVAILABLE", text, {}, { cause });

/** Whether the provider rejected the request itself, for example a file in it. */
export const isRequestRejected = (thrown: unknown): boolean =>
  thrown instanceof ModelError && REJECTED_STATUSES.has(asCallError(thrown.cause).statusCode ?? 0);

/**
 * Classifies any error of a turn.
 * @param model the model's name for people
 * @param redactKeys removes keys that the provider's message repeats
 * @param hidesCause the key is the operator's, whose account and provider are not the owner's business
 */
export function toFailure(
  thrown: unknown,
  model: string,
  redactKeys = (text: string) => text,
  hidesCause = false,
): Failure {
  if (thrown instanceof ModelError) {
    const failure = modelFailure(thrown.cause, model, redactKeys);
    return hidesCause ? hideCause(failure, asCallError(thrown.cause)) : failure;
  }
  if (thrown instanceof AppError) {
    // 503 is an outage of our own storage, which passes, as does the end of a cell that was asked.
    const retryable = thrown.status === 503 || thrown.code === "RELAY_BROKEN";
    return { error: thrown, retryable, retryAfterMs: undefined, reason: thrown.message };
  }
  if (thrown instanceof DOMException && thrown.name === "TimeoutError") {
    const error = unavailable("The reply took too long. Try again shortly.");
    return { error, retryable: true, retryAfterMs: undefined, reason: error.message };
  }
  const error = new AppError(500, "INTERNAL", "Something went wrong here.", {}, { cause: thrown });
  return { error, retryable: true, retryAfterMs: undefined, reason: error.message };
}

function modelFailure(thrown: unknown, model: string, redactKeys: (text: string) => string): Failure {
  const { name, statusCode, responseHeaders, message = "" } = asCallError(thrown);
  // The SDK's error contains the whole prompt, which must not get into a log.
  const cause = { name, statusCode, message: redactKeys(String(message)).slice(0, MAX_REASON) };
  const statusText = statusCode === undefined ? "" : ` (${statusCode})`;
  if (statusCode !== undefined && REJECTED_STATUSES.has(statusCode)) {
    const error = unavailable(`The model ${model} refused this request${statusText}.`, cause);
    return { error, retryable: false, retryAfterMs: undefined, reason: `${error.message} ${cause.message}` };
  }
  if (statusCode !== undefined && KEY_STATUSES.has(statusCode)) {
    const error = unavailable(
      `The provider of ${model} doesn't accept the key${statusText}. Check the credentials.`,
      cause,
    );
    return { error, retryable: false, retryAfterMs: undefined, reason: error.message };
  }
  const error = unavailable(`The model ${model} can't be reached right now${statusText}. Try again shortly.`, cause);
  return {
    error,
    retryable: true,
    retryAfterMs: parseRetryAfter(responseHeaders),
    reason: `${error.message} ${cause.message}`.trim(),
  };
}

/** The same failure for an owner who may not learn about the operator's key, account and provider. */
function hideCause({ error, reason, ...failure }: Failure, { statusCode = 0 }: Partial<ApiCallError>): Failure {
  const isKeyRefused = KEY_STATUSES.has(statusCode);
  const shown = isKeyRefused ? unavailable(MODEL_UNUSABLE, error.cause) : error;
  return { ...failure, error: shown, reason: shown.message, operatorCause: { message: reason, isKeyRefused } };
}

const asCallError = (thrown: unknown): Partial<ApiCallError> =>
  typeof thrown === "object" && thrown !== null ? thrown : {};

/** `Retry-After` in ms: seconds or a date (RFC 9110 §10.2.3), at most ten minutes. */
function parseRetryAfter(headers: Record<string, string> | undefined): number | undefined {
  const text = headers?.["retry-after"];
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * SECOND : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), 10 * MINUTE);
}
