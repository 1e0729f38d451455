// Sign-in with email and password: one answer for a wrong password and an unknown address, and a limit on guessing.
import { AppError, forbidden } from "../../../src/errors.ts";
import type { Limits } from "../../../src/limits.ts";
import { normalizeEmail } from "../email.ts";
import type { Passwords } from "../password/passwords.ts";
import type { Grounds } from "../sessions.ts";
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
  withPassword(credentials: Credentials, address: string): Promise<{ user: User; grounds: Grounds }>;
  /**
   * Throws 401 `BAD_CREDENTIALS`, the same in body and time for an unknown address, and 429 after too many failures of
   * this account from this address (a stranger elsewhere can't lock the owner out), or where one address has passwords
   * checked all the time, good ones too. Contract §3.
   */
  checkPassword(email: string, user: User | undefined, password: string, address: string): Promise<User>;
}

/** What checking a password costs of the rule for all requests, which so allows 300 a minute from one address. */
const HASH_COST = 2;

interface Deps {
  users: Users;
  passwords: Passwords;
  twoFactor: Pick<TwoFactor, "admit">;
  limits: Limits;
}

export function createSignIn({ users, passwords, twoFactor, limits }: Deps): SignIn {
  /** `forgive` takes the attempt out of the count of failures again. */
  async function attempt(email: string, user: User | undefined, password: string, address: string) {
    const guesses = `${email}|${address}`;
    const check = () => {
      limits.refuseWhenSpent("sign-in", guesses);
      limits.refuseWhenSpent("sign-in-ip", address);
    };
    check();
    // A good one is no guess, but takes the time of a hash as well.
    await limits.require("default", `sign-in|${address}`, HASH_COST);
    // Taken when it is this one's turn, or a crowd of guesses at once would all pass; given back for a good one.
    const good = await passwords.verify(password, user?.passwordHash ?? null, async () => {
      check();
      await Promise.all([limits.require("sign-in", guesses), limits.require("sign-in-ip", address)]);
    });
    if (!good || !user) throw new AppError(401, "BAD_CREDENTIALS", "Email or password is wrong.");
    const forgive = () => {
      limits.refund("sign-in", guesses);
      limits.refund("sign-in-ip", address);
    };
    return { user, forgive };
  }

  return {
    async checkPassword(email, user, password, address) {
      const good = await attempt(email, user, password, address);
      good.forgive();
      return good.user;
    },

    async withPassword({ email: emailText, password, totp }, address) {
      const email = normalizeEmail(emailText);
      const { user, forgive } = await attempt(email, await users.byEmail(email), password, address);
      // Asked for now: it may have been turned on while the password was being checked.
      const on = await twoFactor.admit(user.id, { code: totp, from: address }).catch((error: unknown) => {
        // The password was right, and nothing was guessed.
        if (isTotpRequired(error)) forgive();
        throw error;
      });
      forgive();
      if (user.disabledAt !== null) throw forbidden("ACCOUNT_DISABLED", "This account was disabled. Ask the operator.");
      return { user, grounds: { passwordHash: user.passwordHash, twoFactor: on } };
    },
  };
}
