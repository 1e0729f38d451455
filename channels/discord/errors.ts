// Converts Discord's refusals into the port's four kinds of errors, without tokens or messages in their texts.
import { MINUTE } from "../../src/kernel/util/time.ts";
import { ChannelError } from "../port.ts";

/** A refusal by Discord. Recognised by its fields, because the library's class is loaded lazily. */
export interface Refusal extends Error {
  status: number;
  /** Discord's code; 0 if it gives none. */
  code: number;
}

/** https://discord.com/developers/docs/topics/opcodes-and-status-codes#json */
const CODES = {
  unknownChannel: 10003,
  unknownMessage: 10008,
  acknowledged: 40060,
  missingAccess: 50001,
  anothersMessage: 50005,
  cannotWriteToUser: 50007,
  missingPermissions: 50013,
} as const;

/** A refusal without a code comes from Discord's edge network and says nothing about the bot. */
const EDGE_BLOCK_WAIT_MS = MINUTE;

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && "rawError" in error && "status" in error && typeof error.status === "number";
}

const hasCode = (error: unknown, ...codes: number[]) => isRefusal(error) && codes.includes(error.code);

/** The message to edit was deleted, or is not the bot's. */
export const isMessageGone = (error: unknown) => hasCode(error, CODES.unknownMessage, CODES.anothersMessage);
export const isAcknowledged = (error: unknown) => hasCode(error, CODES.acknowledged);
/** The bot may not write in this channel, although it may answer commands there. */
export const lacksWriteAccess = (error: unknown) => hasCode(error, CODES.missingAccess, CODES.missingPermissions);

interface RateLimited extends Error {
  /** Milliseconds. */
  retryAfter: number;
  timeToReset: number;
}

const isRateLimited = (error: unknown): error is RateLimited =>
  error instanceof Error && "timeToReset" in error && "retryAfter" in error;

/** Discord does not take a file here; a text may still be sent. */
export const isFileRefusal = (error: unknown) =>
  isRefusal(error) && ([400, 413].includes(error.status) || lacksWriteAccess(error));

const SENTENCES: Record<number, string> = {
  [CODES.unknownChannel]: "Discord does not know this channel (any more).",
  [CODES.missingAccess]: "Discord does not let the bot into this channel.",
  [CODES.cannotWriteToUser]: "Discord does not let the bot write to this person: they take no direct messages from it.",
  [CODES.missingPermissions]: "The bot has no permission to write in this channel.",
};

/** Converts any error of a call into a `ChannelError`; a `ChannelError` stays as it is. */
export function toChannelError(error: unknown, scope: "bot" | "peer"): ChannelError {
  if (error instanceof ChannelError) return error;
  if (isRateLimited(error)) {
    const ms = Math.ceil(Math.max(error.retryAfter, error.timeToReset, 1));
    return new ChannelError("busy", `Discord asks to wait ${Math.ceil(ms / 1000)} s.`, scope, ms);
  }
  if (isRefusal(error)) return fromRefusal(error, scope);
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (typeof status === "number")
    return new ChannelError("unreachable", `Discord reports an internal error (${status}).`, scope);
  return new ChannelError("unreachable", `Discord could not be reached${reason(error)}.`, scope);
}

function fromRefusal(error: Refusal, scope: "bot" | "peer"): ChannelError {
  const { status, code } = error;
  if (status === 401) return tokenRefused();
  if (status >= 500 || status === 408)
    return new ChannelError("unreachable", `Discord reports an internal error (${status}).`, scope);
  if (status === 403 && !code)
    return new ChannelError("busy", "Discord turns this host away for now.", scope, EDGE_BLOCK_WAIT_MS);
  const sentence = SENTENCES[code] ?? `Discord refused: ${refusalText(error)}`;
  return new ChannelError("refused", sentence, scope);
}

export const tokenRefused = () =>
  new ChannelError("refused", "Discord does not know this bot token (any more).", "bot");

/** Discord's message, without the details about the payload. */
function refusalText(error: Refusal): string {
  const raw = "rawError" in error ? error.rawError : undefined;
  const message = typeof raw === "object" && raw !== null && "message" in raw ? raw.message : undefined;
  return typeof message === "string" ? message.slice(0, 200) : `status ${error.status}`;
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const code = "code" in error ? error.code : undefined;
  if (typeof code === "string" && /^[A-Z_]+$/.test(code)) return ` (${code})`;
  return error.name === "AbortError" || error.name === "TimeoutError" ? " (timed out)" : "";
}

/** Runs one step of a verb and converts every error into a `ChannelError`. */
export async function withChannelErrors<T>(scope: "bot" | "peer", step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw toChannelError(error, scope);
  }
}
