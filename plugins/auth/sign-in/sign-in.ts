// Sign-in with email and password: one answer for a wrong password and an unknown address, and a limit on guessing.
import { AppError, forbidden } from "../../../src/kernel/errors.ts";
import type { RateLimiter } from "../../../src/kernel/security/rate-limits/rate-limiter.ts";
import { normalizeEmail } from "../email.ts";
import type { Passwords } from "../password/passwords.ts";
import type { SignInEvidence } from "../sessions.ts";
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
   * Whose email and password these are, and what a session for them rests on; see `checkPassword` for what it throws. With the right password also: where
   * two-factor is on, 401 `TOTP_REQUIRED` without a code and 401 `INVALID_TOTP` for a wrong one, which is a failure like
   * a wrong password; 403 `ACCOUNT_DISABLED`.
   */
  withPassword(credentials: Credentials, address: string): Promise<{ user: User; evidence: SignInEvidence }>;
  /**
   * Throws 401 `BAD_CREDENTIALS`, the same in body and time for an unknown address, and 429 after too many failures of
   * this account from this address (a stranger elsewhere can't lock the owner out), or where one address has passwords
   * checked all the time, good ones too. Contract §3.
   */
  checkPassword(email: string, user: User | undefined, password: string, address: string): Promise<User>;
}

/** What checking a password costs of the rule for all requests, which so allows 300 a minute from one address. */
const PASSWORD_CHECK_COST = 2;

interface Deps {
  users: Users;
  passwords: Passwords;
  twoFactor: Pick<TwoFactor, "verifyIfEnabled">;
  limits: RateLimiter;
}

export function createSignIn({ users, passwords, twoFactor, limits }: Deps): SignIn {
  /** `forgive` takes the attempt out of the count of failures again. */
  async function attempt(email: string, user: User | undefined, password: string, address: string) {
    const attemptKey = `${email}|${address}`;
    const refuseWhenLimited = () => {
      limits.throwIfExhausted("sign-in", attemptKey);
      limits.throwIfExhausted("sign-in-ip", address);
    };
    refuseWhenLimited();
    // A good one is no guess, but takes the time of a hash as well.
    await limits.takeOrThrow("default", `sign-in|${address}`, PASSWORD_CHECK_COST);
    // Taken when it is this one's turn, or a crowd of guesses at once would all pass; given back for a good one.
    const isCorrect = await passwords.verify(password, user?.passwordHash ?? null, async () => {
      refuseWhenLimited();
      await Promise.all([limits.takeOrThrow("sign-in", attemptKey), limits.takeOrThrow("sign-in-ip", address)]);
    });
    if (!isCorrect || !user) throw new AppError(401, "BAD_CREDENTIALS", "Email or password is wrong.");
    const refundAttempt = () => {
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
      const { user, refundAttempt } = await attempt(email, await users.byEmail(email), password, address);
      // Asked for now: it may have been turned on while the password was being checked.
      const hasTwoFactor = await twoFactor
        .verifyIfEnabled(user.id, { code: totp, from: address })
        .catch((error: unknown) => {
          // The password was right, and nothing was guessed.
          if (isTotpRequired(error)) refundAttempt();
          throw error;
        });
      refundAttempt();
      if (user.disabledAt !== null) throw forbidden("ACCOUNT_DISABLED", "This account was disabled. Ask the operator.");
      return { user, evidence: { passwordHash: user.passwordHash, twoFactor: hasTwoFactor } };
    },
  };
}
