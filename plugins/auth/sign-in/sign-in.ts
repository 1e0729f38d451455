// Sign-in with email and password. A wrong password and an unknown address get the same response, and guesses are
// limited.
import { requireNameHere } from "../../../src/kernel/cells/cells.ts";
import { AppError, forbidden } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { RateLimiter } from "../../../src/kernel/security/rate-limits/rate-limiter.ts";
import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import { createAccountAudit } from "../administration/account-audit.ts";
import { emailName } from "../cells/account-names.ts";
import { isInternalEmail, normalizeEmail } from "../email.ts";
import type { Passwords } from "../password/passwords.ts";
import type { SignInEvidence } from "../sessions.ts";
import { signUpSettings } from "../settings.ts";
import { isTotpRequired, type TwoFactor } from "../two-factor/two-factor.ts";
import type { User, Users } from "../users.ts";

export interface Credentials {
  email: string;
  password: string;
  /** A code of the authenticator app, or a recovery code. */
  totp?: string | undefined;
}

export interface SignIn {
  /**
   * The user of these credentials, and the evidence for a session. Throws as `checkPassword`; with the correct password
   * also 403 `ACCOUNT_DISABLED`, with a list of domains in SIGN_UP 403 `EMAIL_NOT_VERIFIED`, and, if two-factor is on, 401 `TOTP_REQUIRED` without a code and 401 `INVALID_TOTP` for
   * a wrong one, which counts as a failure like a wrong password;
   * `Elsewhere` if another cell has the address.
   */
  withPassword(credentials: Credentials, address: string): Promise<{ user: User; evidence: SignInEvidence }>;
  /**
   * Throws 401 `BAD_CREDENTIALS`, with the same body and duration for an unknown email (`user` undefined). Throws 429
   * after too many failures of this email from this address (an attacker elsewhere can't lock the owner out), after
   * too many failures of this address, or when one address has too many passwords checked, correct ones included.
   */
  checkPassword(email: string, user: User | undefined, password: string, address: string): Promise<User>;
}

/** Units of the rule `default` (600 a minute) that one password check takes: 300 checks a minute per address. */
const PASSWORD_CHECK_COST = 2;
/** Failures in a row after which the audit log has an entry. */
const RECORDED_FAILURES = 5;
const MAX_COUNTED = 10_000;

interface Deps extends Pick<Kernel, "audit" | "cells" | "config" | "database"> {
  users: Users;
  passwords: Passwords;
  twoFactor: Pick<TwoFactor, "verifyIfEnabled">;
  limits: RateLimiter;
}

export function createSignIn({ audit, cells, config, database, users, passwords, twoFactor, limits }: Deps): SignIn {
  const { mode } = config.of(signUpSettings);

  /** Failures of an account from an address, since the last one was recorded. */
  const failures = createBoundedMap<number>(MAX_COUNTED);

  /** Records every fifth failure of an account from one address: a mistyped password is none of the audit log's business. */
  async function noteFailure({ id, email }: User, attemptKey: string): Promise<void> {
    const count = (failures.get(attemptKey) ?? 0) + 1;
    failures.set(attemptKey, count);
    if (count % RECORDED_FAILURES !== 0) return;
    await database.write([createAccountAudit(audit)({ id, email }, "sign-in-failed", { failures: count })]);
  }

  /** Counts the attempt as a failure; `refundAttempt` undoes that. */
  async function attempt(email: string, user: User | undefined, password: string, address: string) {
    const attemptKey = `${email}|${address}`;
    const refuseWhenLimited = () => {
      limits.throwIfExhausted("sign-in", attemptKey);
      limits.throwIfExhausted("sign-in-ip", address);
    };
    refuseWhenLimited();
    // Separate from the failures: a correct password costs the CPU time of a hash as well.
    await limits.takeOrThrow("default", `sign-in|${address}`, PASSWORD_CHECK_COST);
    // Counted when the hash is about to run and refunded for a correct password: else concurrent guesses would all
    // pass.
    const isCorrect = await passwords.verify(password, user?.passwordHash ?? null, async () => {
      refuseWhenLimited();
      await Promise.all([limits.takeOrThrow("sign-in", attemptKey), limits.takeOrThrow("sign-in-ip", address)]);
    });
    if (!isCorrect || !user) {
      if (user) await noteFailure(user, attemptKey);
      throw new AppError(401, "BAD_CREDENTIALS", "Email or password is wrong.");
    }
    const refundAttempt = () => {
      failures.delete(attemptKey);
      limits.refund("sign-in", attemptKey);
      limits.refund("sign-in-ip", address);
    };
    return { user, refundAttempt };
  }

  return {
    async checkPassword(email, user, password, address) {
      const attempted = await attempt(email, user, password, address);
      attempted.refundAttempt();
      return attempted.user;
    },

    async withPassword({ email: emailText, password, totp }, address) {
      const email = normalizeEmail(emailText);
      const found = await users.byEmail(email);
      if (!found) await requireNameHere(cells, emailName(email));
      const { user, refundAttempt } = await attempt(email, found, password, address);
      // Read after the password check, during which two-factor may have been turned on.
      const hasTwoFactor = await twoFactor
        .verifyIfEnabled(user.id, { code: totp, from: address })
        .catch((error: unknown) => {
          // The password was correct and no code was tried, so this is no failed attempt.
          if (isTotpRequired(error)) refundAttempt();
          throw error;
        });
      refundAttempt();
      if (user.disabledAt !== null) throw forbidden("ACCOUNT_DISABLED", "This account was disabled. Ask the operator.");
      // Anybody can sign up with any address: that it is of a domain of SIGN_UP counts once its owner has opened the link.
      if (mode === "domains" && !user.emailVerified && !isInternalEmail(email)) throw emailNotVerified();
      return { user, evidence: { passwordHash: user.passwordHash, twoFactor: hasTwoFactor } };
    },
  };
}

const emailNotVerified = () =>
  forbidden(
    "EMAIL_NOT_VERIFIED",
    'Open the link in the mail to this address first. If it did not come, choose "Forgot your password?": that mail proves the address, too.',
  );
