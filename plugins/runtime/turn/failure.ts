// Why a turn failed: what the caller is told, and whether it is worth another try.
import { AppError } from "../../../src/kernel/errors.ts";

export interface Failure {
  error: AppError;
  /** A later try may succeed. */
  retryable: boolean;
  /** Milliseconds that the provider asked us to wait. */
  retryAfterMs: number | undefined;
  /** For the agent's log; may name the provider's own words, never a key. */
  reason: string;
}

/** Whatever a call of the model threw: the cause. Everything else that goes wrong in a turn is our own fault. */
export class ModelError extends Error {
  override readonly name = "ModelError";

  constructor(cause: unknown) {
    super("The call of the model failed.", { cause });
  }
}

/** What the AI SDK throws when a provider answers with an error, as far as it concerns us. */
interface ApiCallError {
  name: string;
  statusCode?: number;
  responseHeaders?: Record<string, string>;
  message: string;
}

/** Characters of a provider's own words. */
const MAX_REASON = 500;
/** Statuses with which a provider refuses this very request: the same again would be refused again. */
const REJECTED_STATUSES = new Set([400, 404, 413, 422]);
/** Statuses that concern the key or the account. */
const KEY_STATUSES = new Set([401, 402, 403]);

const unavailable = (text: string, cause?: unknown) => new AppError(502, "MODEL_UNAVAILABLE", text, {}, { cause });

/** The provider refused this very request: something in it is not to its liking. */
export const isRequestRejected = (thrown: unknown): boolean =>
  thrown instanceof ModelError && REJECTED_STATUSES.has(asCallError(thrown.cause).statusCode ?? 0);

/** Sorts whatever a turn threw. `model` names the model for people; a `key` that the provider repeats is blacked out. */
export function toFailure(thrown: unknown, model: string, key?: string): Failure {
  if (thrown instanceof ModelError) return modelFailure(thrown.cause, model, key);
  if (thrown instanceof AppError) {
    // 503: our own storage, which comes back.
    return { error: thrown, retryable: thrown.status === 503, retryAfterMs: undefined, reason: thrown.message };
  }
  if (thrown instanceof DOMException && thrown.name === "TimeoutError") {
    const error = unavailable("The reply took too long. Try again shortly.");
    return { error, retryable: true, retryAfterMs: undefined, reason: error.message };
  }
  const error = new AppError(500, "INTERNAL", "Something went wrong here.", {}, { cause: thrown });
  return { error, retryable: true, retryAfterMs: undefined, reason: error.message };
}

function modelFailure(thrown: unknown, model: string, key: string | undefined): Failure {
  const { name, statusCode, responseHeaders, message = "" } = asCallError(thrown);
  // The SDK's error holds the whole prompt, which is nobody's business in a log.
  const cause = { name, statusCode, message: redactKey(String(message), key).slice(0, MAX_REASON) };
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

const redactKey = (text: string, key: string | undefined) => (key ? text.replaceAll(key, "…") : text);

const asCallError = (thrown: unknown): Partial<ApiCallError> =>
  typeof thrown === "object" && thrown !== null ? thrown : {};

/** `Retry-After` in ms: seconds or a date (RFC 9110 §10.2.3), at most ten minutes. */
function parseRetryAfter(headers: Record<string, string> | undefined): number | undefined {
  const text = headers?.["retry-after"];
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), 600_000);
}
