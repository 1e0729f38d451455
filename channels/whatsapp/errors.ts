// Converts refusals of the Graph API into the port's errors, with sentences for an agent's owner.
// Codes: https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
import { ChannelError, type ChannelErrorKind } from "../port.ts";

type Scope = "bot" | "peer";

/** The fields of a refusal; missing ones have defaults. */
export interface Refusal {
  status: number;
  code: number;
  /** WhatsApp's message; may be empty. */
  message: string;
  /** Milliseconds, from the header. */
  retryAfter?: number;
}

interface Meaning {
  kind: ChannelErrorKind;
  text: string;
  scope?: Scope;
  /** Milliseconds. */
  wait?: number;
}

const refused = (text: string, scope: Scope = "peer"): Meaning => ({ kind: "refused", text, scope });
const busy = (text: string, wait: number): Meaning => ({ kind: "busy", text, wait });

const INVALID_TOKEN =
  "WhatsApp does not take this access token (any more). Make a new one and connect the channel again.";
const NO_PERMISSION =
  "WhatsApp says that this access token lacks a permission. It needs whatsapp_business_messaging and whatsapp_business_management.";
const NUMBER_LIMIT_REACHED = "This WhatsApp number has reached the limit of messages it may send.";

const URL_NOT_VERIFIED =
  "Meta could not prove the address of this agent: BASE_URL has to be reachable from the internet by https.";

const MEANINGS: Readonly<Record<number, Meaning>> = {
  0: refused(INVALID_TOKEN, "bot"),
  190: refused(INVALID_TOKEN, "bot"),
  3: refused(NO_PERMISSION, "bot"),
  10: refused(NO_PERMISSION, "bot"),
  131005: refused(NO_PERMISSION, "bot"),
  131047: refused(
    "More than 24 hours have passed since they last wrote. WhatsApp lets the agent answer again once they write.",
  ),
  131026: refused("WhatsApp can't deliver to them: they may have blocked this number, or not use WhatsApp any more."),
  131030: refused(
    "This is a test number of WhatsApp, and they are not on its list of recipients. Add their phone number there.",
  ),
  131021: refused("A WhatsApp number can't write to itself."),
  130497: refused("WhatsApp does not let this business write to people in that country."),
  131031: refused("WhatsApp has locked this business account. Look into the WhatsApp Manager."),
  131042: refused("WhatsApp wants a payment method for this business account. Look into the WhatsApp Manager."),
  133010: refused(
    "This phone number is not registered with the WhatsApp Cloud API. Register it in the WhatsApp Manager.",
  ),
  368: refused(
    "WhatsApp has blocked this business account for a while for breaking its rules. Look into the WhatsApp Manager.",
  ),
  2200: { kind: "unreachable", text: URL_NOT_VERIFIED },
  4: busy("WhatsApp asks this app to make fewer calls.", 60_000),
  80007: busy("WhatsApp asks this business account to make fewer calls.", 60_000),
  130429: busy(NUMBER_LIMIT_REACHED, 2_000),
  131048: busy(`${NUMBER_LIMIT_REACHED} People have blocked or reported it.`, 10 * 60_000),
  131056: busy("WhatsApp takes no more messages to this person for a moment.", 6_000),
  131057: busy("This WhatsApp business account is under maintenance.", 60_000),
  133016: busy("WhatsApp asks this number to wait.", 60_000),
};

/** The port's error for a refusal. 5xx and the codes of internal failures leave open whether the call took effect. */
export function toChannelError(refusal: Refusal, scope: Scope, token: string): ChannelError {
  const { status, code, retryAfter } = refusal;
  const message = refusal.message.replaceAll(token, "[token]").slice(0, 200);
  const meaning = MEANINGS[code] ?? byStatus(status, code);
  if (!meaning) {
    const isInternalFailure = status >= 500 || [1, 2, 131000, 131016].includes(code);
    const reason = message || status;
    return isInternalFailure
      ? new ChannelError("unreachable", `WhatsApp reports an internal error: ${reason}`, scope)
      : new ChannelError("refused", `WhatsApp refused: ${reason}`, scope);
  }
  const wait = meaning.kind === "busy" ? Math.max(retryAfter ?? 0, meaning.wait ?? 0) : undefined;
  // A call about the whole account fails for the whole account.
  return new ChannelError(meaning.kind, meaning.text, scope === "bot" ? scope : (meaning.scope ?? scope), wait);
}

function byStatus(status: number, code: number): Meaning | undefined {
  if (status === 401) return refused(INVALID_TOKEN, "bot");
  if (code >= 200 && code <= 299) return refused(NO_PERMISSION, "bot");
  return status === 429 ? busy(NUMBER_LIMIT_REACHED, 2_000) : undefined;
}

/** The reason why a message that WhatsApp accepted did not arrive. */
export const failureReason = (code: number, message: string, token: string): string =>
  toChannelError({ status: 400, code, message }, "peer", token).message;

/** The error for a call without a response. The cause may contain the URL, and with it the token, so it is dropped. */
export function toUnreachableError(error: unknown, scope: Scope): ChannelError {
  if (error instanceof ChannelError) return error;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  const reason = isTimeout ? " (timed out)" : typeof code === "string" && /^\w{1,40}$/.test(code) ? ` (${code})` : "";
  return new ChannelError("unreachable", `WhatsApp could not be reached${reason}.`, scope);
}
