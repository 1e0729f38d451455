// Converts Slack's refusals into the port's errors, with sentences for an agent's owner.
// Codes: https://docs.slack.dev/reference/methods/chat.postMessage#errors
import { ChannelError } from "../port.ts";

type Scope = "bot" | "peer";

/** Slack answered `ok: false`. */
export class SlackRefusal extends Error {
  override readonly name = "SlackRefusal";

  constructor(
    readonly method: string,
    /** Such as `channel_not_found`. */
    readonly code: string,
    /** The scope that the token lacks, with `missing_scope`. */
    readonly needed?: string,
  ) {
    super(code);
  }
}

/** Slack asked to wait, or Berth still waits for an earlier such answer. */
export class SlackBusy extends Error {
  override readonly name = "SlackBusy";

  constructor(
    /** Milliseconds. */
    readonly retryAfter: number,
  ) {
    super("ratelimited");
  }
}

/** The token is of no use any more. */
const TOKEN_CODES = new Set([
  ...["invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type"],
  ...["org_login_required", "team_access_not_granted", "app_not_installed"],
]);
/** It is open whether the call took effect. */
const INTERNAL_CODES = new Set([
  ...["internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org", "rollup_error"],
]);
const THREAD_CODES = new Set(["thread_not_found", "cannot_reply_to_message", "invalid_thread_ts", "message_not_found"]);
const MESSAGE_GONE_CODES = new Set(["message_not_found", "cant_update_message", "edit_window_closed"]);
/** The bot can't write in this conversation at all. */
const PLACE_SENTENCES: Readonly<Record<string, string>> = {
  channel_not_found: "Slack does not know this conversation (any more), or the bot is not in it.",
  not_in_channel: "The bot is not in this channel any more. Invite it with /invite.",
  is_archived: "This channel is archived.",
  user_disabled: "This person's account is deactivated.",
  messages_tab_disabled: "The app takes no direct messages: switch on its Messages Tab in Slack's settings of the app.",
  restricted_action: "The workspace does not let the bot write in this channel.",
  restricted_action_read_only_channel: "Only some people may write in this channel.",
  restricted_action_thread_only_channel: "This channel takes messages in threads only.",
  restricted_action_thread_locked: "This thread is locked.",
  ekm_access_denied: "The administrators of the workspace do not let the bot write for now.",
};

export const TOKEN_REFUSED =
  "Slack does not take this app's tokens (any more): the app was uninstalled, or the tokens were replaced.";

export const hasCode = (error: unknown, ...codes: readonly string[]) =>
  error instanceof SlackRefusal && codes.includes(error.code);
export const isMessageGone = (error: unknown) => error instanceof SlackRefusal && MESSAGE_GONE_CODES.has(error.code);
export const isThreadGone = (error: unknown) => error instanceof SlackRefusal && THREAD_CODES.has(error.code);
/** Slack does not take a file; a text may still be sent. */
export const isFileRefusal = (error: unknown) =>
  error instanceof SlackRefusal &&
  !TOKEN_CODES.has(error.code) &&
  !INTERNAL_CODES.has(error.code) &&
  PLACE_SENTENCES[error.code] === undefined;

/** Converts any error of a call into a `ChannelError`; a `ChannelError` stays as it is. */
export function toChannelError(error: unknown, scope: Scope): ChannelError {
  if (error instanceof ChannelError) return error;
  if (error instanceof SlackBusy) {
    const seconds = Math.ceil(error.retryAfter / 1000);
    return new ChannelError("busy", `Slack asks to wait ${seconds} s.`, scope, error.retryAfter);
  }
  if (error instanceof SlackRefusal) return fromRefusal(error, scope);
  return new ChannelError("unreachable", `Slack could not be reached${reasonOf(error)}.`, scope);
}

function fromRefusal({ code, needed }: SlackRefusal, scope: Scope): ChannelError {
  if (TOKEN_CODES.has(code)) return new ChannelError("refused", TOKEN_REFUSED, "bot");
  if (INTERNAL_CODES.has(code)) {
    return new ChannelError("unreachable", `Slack reports an internal error (${code}).`, scope);
  }
  if (code === "missing_scope") {
    const name = needed !== undefined && /^[\w:.,]{1,200}$/.test(needed) ? needed : "a scope";
    return new ChannelError("refused", `The Slack app lacks ${name}: add it and install the app again.`, scope);
  }
  const sentence = PLACE_SENTENCES[code];
  if (sentence !== undefined) return new ChannelError("refused", sentence, scope);
  return new ChannelError("refused", `Slack refused: ${/^\w{1,80}$/.test(code) ? code : "without a reason"}.`, scope);
}

/** The cause may contain addresses with secrets, so only its kind is told. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const code = "code" in error ? error.code : undefined;
  if (typeof code === "string" && /^\w{1,40}$/.test(code)) return ` (${code})`;
  return error.name === "AbortError" || error.name === "TimeoutError" ? " (timed out)" : "";
}

/** Runs one step of a verb and converts every error into a `ChannelError`. */
export async function withChannelErrors<T>(scope: Scope, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw toChannelError(error, scope);
  }
}
