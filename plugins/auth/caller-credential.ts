// Aborts a batch if the session or API key of its caller has ended. Routes that call a platform first write long after
// they authenticated the request.
import { GuardFailed, guard, type Statement } from "../../src/kernel/database/database.ts";
import { unauthorized } from "../../src/kernel/errors.ts";

/** The account and the credential of a caller, both of which can end while the request is handled. */
export interface CallerCredential {
  /** Empty for a caller without an account: then there is nothing to check. */
  userId: string;
  /**
   * The id of the session or API key. Left out if another service vouches for the caller: then only the account is
   * checked.
   */
  credentialId?: string | undefined;
}

const GUARD = "credential";

/** Assigns a column to itself: only the number of matched rows matters, which the guard checks. */
const TOUCH_IF_STILL_VALID = `UPDATE users SET locale = locale WHERE id = ?1 AND disabled_at IS NULL AND frozen_at IS NULL AND (?2 IS NULL
  OR EXISTS (SELECT 1 FROM auth_sessions WHERE id = ?2 AND user_id = ?1 AND expires_at > ?3)
  OR EXISTS (SELECT 1 FROM api_keys WHERE id = ?2 AND user_id = ?1 AND coalesce(expires_at > ?3, 1)))`;

/**
 * Statements for the head of a batch. They abort it if, since the request was authenticated, the session or key ended
 * (by sign-out, revocation or account reclaim), or the account was disabled, frozen or deleted. Pass the error to
 * `toUnauthorized`.
 */
export function credentialStillValidStatements({ userId, credentialId }: CallerCredential): Statement[] {
  return userId === ""
    ? []
    : [{ sql: TOUCH_IF_STILL_VALID, args: [userId, credentialId ?? null, Date.now()] }, guard(GUARD)];
}

/** A 401 if the batch was aborted by `credentialStillValidStatements`, else the error itself. */
export function toUnauthorized(error: unknown): unknown {
  if (!(error instanceof GuardFailed && error.guard === GUARD)) return error;
  return unauthorized(
    "Nothing was changed: you were signed out in the meantime, or your key was revoked. Sign in again.",
  );
}
