// Showing once more that it is the owner, before something that a stolen session must not be able to do.
import { forbidden, invalidInput } from "../../../src/kernel/errors.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { SessionIdentity } from "../identity.ts";
import type { SignIn } from "./sign-in.ts";

/** How long after a sign-in an account without a password counts as just confirmed. Contract §3. */
const RECENT_SIGN_IN_MS = 10 * MINUTE;

interface ReauthenticateOptions {
  /** What the password is called in the body. Default: `password`. */
  field?: string;
  /** A session younger than 10 minutes will do, without the password there is. */
  allowRecentSignIn?: boolean;
}

/**
 * Passes for the right password of an account that has one (else 401 `BAD_CREDENTIALS`, counted like a failed sign-in),
 * and for an account without one from a session younger than 10 minutes (else 403 `RECENT_SIGN_IN_REQUIRED`).
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
      throw forbidden("RECENT_SIGN_IN_REQUIRED", "Sign in again first: this needs a sign-in of the last ten minutes.");
    }
  };
}
