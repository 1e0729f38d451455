// Converts Telegram's refusals into the port's four kinds of errors, without tokens or messages in their texts.
import type { GrammyError } from "grammy";
import { ChannelError } from "../port.ts";

/** A refusal by Telegram, as grammY throws it. */
type Refusal = Error & Pick<GrammyError, "error_code" | "description" | "parameters">;

/** Whether an error is a refusal by Telegram. Checked by name, because grammY's class is loaded lazily. */
export const isRefusal = (error: unknown): error is Refusal =>
  error instanceof Error &&
  error.name === "GrammyError" &&
  "error_code" in error &&
  typeof error.error_code === "number" &&
  "description" in error &&
  typeof error.description === "string";

/**
 * The refusal in a parsed response; undefined if the call succeeded. Throws TypeError if it is no response of Telegram.
 */
export function parseRefusal(answer: unknown): Refusal | undefined {
  if (typeof answer !== "object" || answer === null || !("ok" in answer))
    throw new TypeError("This is not a response of Telegram.");
  if (answer.ok === true && "result" in answer) return undefined;
  const fields = { parameters: {}, ...answer };
  const refusal = Object.assign(new Error("Telegram refused."), fields, { name: "GrammyError" });
  if (!isRefusal(refusal)) throw new TypeError("This is not a response of Telegram.");
  return refusal as Refusal;
}

const matchesRefusal = (error: unknown, code: number, pattern: RegExp) =>
  isRefusal(error) && error.error_code === code && pattern.test(error.description);

/** An edit was refused because the message already has this text. */
export const isUnchanged = (error: unknown) => matchesRefusal(error, 400, /message is not modified/i);

/** The message to edit was deleted, or is too old to be edited. */
export const isMessageGone = (error: unknown) =>
  matchesRefusal(error, 400, /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i);

/** The new id of a group that became a supergroup: https://core.telegram.org/bots/api#responseparameters */
export const migratedChatId = (error: unknown): number | undefined =>
  isRefusal(error) ? error.parameters.migrate_to_chat_id : undefined;

/** Telegram can't parse the markup that was sent. */
export const isMarkupError = (error: unknown) => matchesRefusal(error, 400, /can't parse entities/i);

/** Telegram does not take a file in this way; a group that became a supergroup is another matter. */
export const isFileRefusal = (error: unknown) =>
  isRefusal(error) && [400, 413].includes(error.error_code) && migratedChatId(error) === undefined;

/** getUpdates was refused because the bot's updates go to a webhook. */
export const isWebhookActive = (error: unknown) => matchesRefusal(error, 409, /webhook is active/i);

/** Telegram does not support this call for the bot; the chat itself may be fine. */
export const isUnsupported = (error: unknown) =>
  isRefusal(error) &&
  (error.error_code === 404 || error.error_code === 400) &&
  !/chat not found/i.test(error.description);

/**
 * Converts any error of a call into a `ChannelError`; a `ChannelError` stays as it is. grammY's errors contain the
 * request's URL, with the token in it, and its payload: both are dropped.
 * Codes: https://core.telegram.org/api/errors and https://core.telegram.org/bots/api#making-requests
 */
export function toChannelError(error: unknown, scope: "bot" | "peer", token: string): ChannelError {
  if (error instanceof ChannelError) return error;
  if (!isRefusal(error))
    return new ChannelError("unreachable", `Telegram could not be reached${reason(error)}.`, scope);
  const { error_code: code, parameters } = error;
  const description = error.description.replaceAll(token, "[token]").slice(0, 200);
  if (code === 401 || code === 404)
    return new ChannelError("refused", "Telegram does not know this bot token (any more).", "bot");
  if (code === 409) return new ChannelError("conflict", `Something else receives with this bot: ${description}`, "bot");
  if (code === 429) {
    const seconds = parameters.retry_after ?? 1;
    return new ChannelError("busy", `Telegram asks to wait ${seconds} s.`, scope, seconds * 1000);
  }
  if (code >= 500) return new ChannelError("unreachable", `Telegram reports an internal error: ${description}`, scope);
  return new ChannelError("refused", `Telegram refused: ${description}`, scope);
}

function reason(error: unknown): string {
  const inner = error instanceof Error && "error" in error ? error.error : error;
  const code = inner instanceof Error && "code" in inner ? inner.code : undefined;
  if (typeof code === "string" && /^[A-Za-z_]+$/.test(code)) return ` (${code})`;
  return inner instanceof Error && /timed out/.test(inner.message) ? " (timed out)" : "";
}
