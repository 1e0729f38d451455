// The error codes with which a provider sign-in returns to the sign-in page. They never contain the provider's own
// text.

/** The codes of `/login?error=CODE`, with their meaning in the API description. */
export const FAILURE_DESCRIPTIONS = {
  ACCESS_DENIED: "the visitor declined at the provider",
  STATE_INVALID: "the response belongs to no open sign-in of this browser: start again",
  EMAIL_NOT_VERIFIED: "the provider has no verified email address of this person",
  ACCOUNT_DISABLED: "an admin has blocked the account",
  SIGN_UP_CLOSED: "the service takes no new accounts, or none without an invitation",
  RATE_LIMITED: "too many failures or new accounts from this address: try again later",
  PROVIDER_MISCONFIGURED:
    "the provider refuses the client id or secret of this service: its operator has to correct them",
  PROVIDER_UNAVAILABLE: "the provider can't be reached, is slow, or violates the protocol",
  SIGN_IN_FAILED: "the provider's response does not prove who the visitor is",
} as const;

/** The further codes of `/account/sign-ins?error=CODE`, when the identity was to be linked. */
export const LINK_FAILURE_DESCRIPTIONS = {
  ALREADY_LINKED: "this identity signs in another account",
  TOO_MANY_SIGN_INS: "the account has as many linked sign-ins as it can have",
  SIGN_IN_AGAIN: "the session that asked for it has ended",
} as const;

const ALL_DESCRIPTIONS = { ...FAILURE_DESCRIPTIONS, ...LINK_FAILURE_DESCRIPTIONS };

export type FailureCode = keyof typeof ALL_DESCRIPTIONS;

/** `reason` is logged: it must not contain text that a provider or visitor sent. */
export class OAuthFailure extends Error {
  override readonly name = "OAuthFailure";

  constructor(
    readonly code: FailureCode,
    readonly reason: string = ALL_DESCRIPTIONS[code],
  ) {
    super(`${code}: ${reason}`);
  }
}
