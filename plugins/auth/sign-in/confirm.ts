// Showing once more that it is the owner, before something that a stolen session must not be able to do.
import { forbidden, invalid } from "../../../src/errors.ts";
import type { OwnSession } from "../identity.ts";
import type { SignIn } from "./sign-in.ts";

/** How long after a sign-in an account without a password counts as just confirmed. Contract §3. */
const FRESH = 10 * 60_000;

interface ConfirmOptions {
  /** What the password is called in the body. Default: `password`. */
  field?: string;
  /** A session younger than 10 minutes will do, without the password there is. */
  orRecent?: boolean;
}

/**
 * Passes for the right password of an account that has one (else 401 `BAD_CREDENTIALS`, counted like a failed sign-in),
 * and for an account without one from a session younger than 10 minutes (else 403 `RECENT_SIGN_IN_REQUIRED`).
 */
export type Confirm = (
  identity: OwnSession,
  password: string | undefined,
  address: string,
  options?: ConfirmOptions,
) => Promise<void>;

export function createConfirm(signIn: Pick<SignIn, "checkPassword">): Confirm {
  return async ({ user, session }, password, address, { field = "password", orRecent = false } = {}) => {
    if (user.passwordHash !== null && (password || !orRecent)) {
      if (!password) throw invalid({ path: field, message: "Give your current password." });
      await signIn.checkPassword(user.email, user, password, address);
    } else if (Date.now() - session.createdAt > FRESH) {
      throw forbidden("RECENT_SIGN_IN_REQUIRED", "Sign in again first: this needs a sign-in of the last ten minutes.");
    }
  };
}
