// What somebody was let in with still holds: for work that asks others first, and writes long after its caller came in.
import { GuardFailed, guard, type Statement } from "../../src/kernel/database/database.ts";
import { unauthorized } from "../../src/kernel/errors.ts";

/** Of a caller, what can end while their request is worked on. */
export interface CallerCredential {
  /** Empty: nobody is signed in, and nothing can end. */
  userId: string;
  /** The id of the session or API key they came with. Left out where another service vouches for them. */
  credentialId?: string | undefined;
}

const GUARD = "credential";

/** Changes nothing; what counts is whether it finds its row. */
const TOUCH_IF_STILL_VALID = `UPDATE users SET locale = locale WHERE id = ?1 AND disabled_at IS NULL AND (?2 IS NULL
  OR EXISTS (SELECT 1 FROM auth_sessions WHERE id = ?2 AND user_id = ?1 AND expires_at > ?3)
  OR EXISTS (SELECT 1 FROM api_keys WHERE id = ?2 AND user_id = ?1 AND coalesce(expires_at > ?3, 1)))`;

/**
 * For the head of a batch: undoes it where the session or key was ended, by a sign-out, a revocation or a takeover (which
 * ends all of an account), or the account disabled or deleted, since its caller was let in. What it fails with goes to
 * `orSignedOut`.
 */
export function credentialStillValidStatements({ userId, credentialId }: CallerCredential): Statement[] {
  return userId === ""
    ? []
    : [{ sql: TOUCH_IF_STILL_VALID, args: [userId, credentialId ?? null, Date.now()] }, guard(GUARD)];
}

/** 401 where a batch failed because of `standing`, else the error itself. */
export function toUnauthorized(error: unknown): unknown {
  if (!(error instanceof GuardFailed && error.guard === GUARD)) return error;
  return unauthorized("Nothing was changed: you were signed out meanwhile, or your key was revoked. Sign in again.");
}
