// Sign-up: creates the account, its referral credits and its verification mail in one batch.
import { GuardFailed, type Statement } from "../../../src/kernel/database/database.ts";
import { requireEmail } from "../email.ts";
import { type Passwords, requirePassword } from "../password/passwords.ts";
import type { AccountSummary, Users } from "../users.ts";
import type { EmailVerification } from "./email-verification.ts";
import { type Referrals, unknownReferralCode } from "./referrals.ts";

export interface Registration {
  email: string;
  password: string;
  name?: string | undefined;
  /** A blank code counts as none. */
  referralCode?: string | undefined;
  /** Two letters: the language of mails. */
  locale: string;
}

/**
 * Creates the account; `extraStatements` join its batch. Throws 400 `INVALID_EMAIL`, `INVALID_PASSWORD` or
 * `INVALID_REFERRAL_CODE`, and 409 `USER_EXISTS`.
 */
export type SignUp = (
  registration: Registration,
  extraStatements?: (created: AccountSummary) => Statement[],
) => Promise<AccountSummary>;

interface Deps {
  users: Users;
  passwords: Passwords;
  referrals: Referrals;
  verification: EmailVerification;
}

export function createSignUp({ users, passwords, referrals, verification }: Deps): SignUp {
  return async ({ email: text, password, name, referralCode, locale }, extraStatements = () => []) => {
    const email = requireEmail(text);
    requirePassword(password);
    const code = referralCode?.trim();
    const referral = code ? await referrals.prepareRedemption(code) : undefined;
    const passwordHash = await passwords.hash(password);
    try {
      return await users.create({ email, name, passwordHash, locale, ...referral?.newUserFields }, (created) => [
        ...verification.sendLinkStatements({ ...created, locale, notifications: {}, emailVerified: false }),
        ...(referral?.statements ?? []),
        ...extraStatements(created),
      ]);
    } catch (error) {
      if (error instanceof GuardFailed && error.guard === "referrer") throw unknownReferralCode();
      throw error;
    }
  };
}
