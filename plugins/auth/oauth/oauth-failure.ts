// Why a sign-in with a provider ends at the sign-in page instead: a few codes of ours, never the provider's own words.

/** The codes of `/login?error=CODE`, with what each means for whoever reads the documentation. */
export const FAILURE_DESCRIPTIONS = {
  ACCESS_DENIED: "the visitor declined at the provider",
  STATE_INVALID: "the answer belongs to no sign-in that this browser has under way: begin again",
  EMAIL_NOT_VERIFIED: "the provider has no verified email address of this person",
  ACCOUNT_DISABLED: "an admin has blocked the account",
  RATE_LIMITED: "too many failures, or new accounts, from this address: later again",
  PROVIDER_UNAVAILABLE: "the provider can't be reached, is slow, or answers what it must not",
  SIGN_IN_FAILED: "what the provider answered does not prove who this is",
} as const;

export type FailureCode = keyof typeof FAILURE_DESCRIPTIONS;

/** `reason` is for the log: it must hold nothing that a provider or a visitor sent. */
export class OAuthFailure extends Error {
  override readonly name = "OAuthFailure";

  constructor(
    readonly code: FailureCode,
    readonly reason: string = FAILURE_DESCRIPTIONS[code],
  ) {
    super(`${code}: ${reason}`);
  }
}
