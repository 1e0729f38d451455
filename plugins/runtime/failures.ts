// Why a turn failed: what the caller is told, and whether it is worth another try.
import { AppError } from "../../src/errors.ts";

export interface Failure {
  error: AppError;
  /** A later try may succeed. */
  again: boolean;
  /** Milliseconds that the provider asked us to wait. */
  after: number | undefined;
  /** For the agent's log; may name the provider's own words, never a key. */
  reason: string;
}

/** What the AI SDK throws when a provider answers with an error, as far as it concerns us. */
interface ApiCallError {
  statusCode?: number;
  responseHeaders?: Record<string, string>;
  message: string;
}

/** Statuses with which a provider refuses this very request: the same again would be refused again. */
const REFUSALS = new Set([400, 404, 413, 422]);
/** Statuses that concern the key or the account. */
const KEY_TROUBLE = new Set([401, 402, 403]);

const unavailable = (text: string, cause: unknown) => new AppError(502, "MODEL_UNAVAILABLE", text, {}, { cause });

/** Sorts whatever a turn threw. `model` names the model for people. */
export function failureOf(thrown: unknown, model: string): Failure {
  if (thrown instanceof AppError) return { error: thrown, again: false, after: undefined, reason: thrown.message };
  const { statusCode, responseHeaders, message } = thrown as ApiCallError;
  const said = statusCode === undefined ? "" : ` (${statusCode})`;
  if (statusCode !== undefined && REFUSALS.has(statusCode)) {
    const error = unavailable(`The model ${model} refused this request${said}.`, thrown);
    return { error, again: false, after: undefined, reason: `${error.message} ${message}` };
  }
  if (statusCode !== undefined && KEY_TROUBLE.has(statusCode)) {
    const error = unavailable(`The provider of ${model} doesn't accept the key${said}. Check the credentials.`, thrown);
    return { error, again: false, after: undefined, reason: error.message };
  }
  const error = unavailable(`The model ${model} can't be reached right now${said}. Try again shortly.`, thrown);
  return { error, again: true, after: retryAfter(responseHeaders), reason: `${error.message} ${message}` };
}

/** `Retry-After` in ms: seconds or a date (RFC 9110 §10.2.3), at most ten minutes. */
function retryAfter(headers: Record<string, string> | undefined): number | undefined {
  const text = headers?.["retry-after"];
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), 600_000);
}
