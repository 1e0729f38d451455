// Confirms the identity of a signed-in user again before changes that a stolen session must not allow.
import { forbidden, invalidInput } from "../../../src/kernel/errors.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { SessionIdentity } from "../identity.ts";
import type { SignIn } from "./sign-in.ts";

/** Sessions younger than this count as a recent sign-in. */
const RECENT_SIGN_IN_MS = 10 * MINUTE;

interface ReauthenticateOptions {
  /** The field of the body that holds the password, for error messages. Default: `password`. */
  field?: string;
  /** Accept a session younger than 10 minutes in place of the password. */
  allowRecentSignIn?: boolean;
}

/**
 * Resolves for the correct password of an account that has one (else 401 `BAD_CREDENTIALS`, counted like a failed
 * sign-in; 400 if it is missing), and for an account without one if the session is younger than 10 minutes (else 403
 * `RECENT_SIGN_IN_REQUIRED`).
 */
export type Reauthenticate = (
  identity: SessionIdentity,
  password: string | undefined,
  address: string,
  options?: ReauthenticateOptions,
) => Promise<void>;

export function createReauthenticate(signIn: Pick<SignIn, "checkPassword">): Reauthenticate {
  return async ({ user, session }, password, address, { field = "password", allowRecentSignIn = false } = {}) => {
    if (user.passwordHash !== null && (password || !allowRecentSignIn)) {
      if (!password) throw invalidInput({ path: field, message: "Give your current password." });
      await signIn.checkPassword(user.email, user, password, address);
    } else if (Date.now() - session.createdAt > RECENT_SIGN_IN_MS) {
      throw forbidden(
        "RECENT_SIGN_IN_REQUIRED",
        "Sign in again first: this needs a sign-in within the last ten minutes.",
      );
    }
  };
}
