// Sign-up: creates the account, its referral credits and its verification mail in one batch.
import { placeNewAccount, requireHere, requireNameHere } from "../../../src/kernel/cells/cells.ts";
import type { Forwarding } from "../../../src/kernel/cells/forwarding.ts";
import { GuardFailed, type Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { AccountAudit } from "../administration/account-audit.ts";
import { cellOfBrought, emailName } from "../cells/account-names.ts";
import { requireEmail } from "../email.ts";
import { type Passwords, requirePassword } from "../password/passwords.ts";
import type { AccountSummary, Users } from "../users.ts";
import type { EmailVerification } from "./email-verification.ts";
import { type Referrals, unknownReferralCode } from "./referrals.ts";
import { invitationUsed, type SignUpPolicy } from "./sign-up-policy.ts";

export interface Registration {
  email: string;
  password: string;
  name?: string | undefined;
  /** A blank code counts as none. */
  referralCode?: string | undefined;
  /** The token of an invitation's link. */
  invitation?: string | undefined;
  /** Two letters: the language of mails. */
  locale: string;
  /** What another cell has sent along with the request. */
  forwarding?: Forwarding | undefined;
}

/**
 * Creates the account; `extraStatements` join its batch. Throws 400 `INVALID_EMAIL`, `INVALID_PASSWORD`,
 * `PASSWORD_TOO_COMMON` or `INVALID_REFERRAL_CODE`, 403 `SIGN_UP_CLOSED`, 409 `USER_EXISTS`, and `Elsewhere` for the cell where the
 * account is to be.
 */
export type SignUp = (
  registration: Registration,
  extraStatements?: (created: AccountSummary) => Statement[],
) => Promise<AccountSummary>;

interface Deps {
  kernel: Pick<Kernel, "cells">;
  users: Users;
  passwords: Passwords;
  referrals: Referrals;
  verification: EmailVerification;
  signUpPolicy: Pick<SignUpPolicy, "admit">;
  auditStatement: AccountAudit;
}

export function createSignUp({
  kernel: { cells },
  users,
  passwords,
  referrals,
  verification,
  signUpPolicy,
  auditStatement,
}: Deps): SignUp {
  return async (
    { email: text, password, name, referralCode, invitation, locale, forwarding },
    extraStatements = () => [],
  ) => {
    const email = requireEmail(text);
    const isPlaced = await requireNameHere(cells, emailName(email));
    if (!isPlaced) await placeNewAccount(cells, forwarding, cellOfBrought({ invitation, referralCode }));
    // Its account may have left the cell that has made it.
    if (!isPlaced && referralCode)
      requireHere(cells, await cells?.movedTo([referralCode.trim().toLowerCase()]), { isPlaced: true });
    const admission = await signUpPolicy.admit(email, { invitation });
    await requirePassword(password, { email });
    const code = referralCode?.trim();
    const referral = code ? await referrals.prepareRedemption(code) : undefined;
    const passwordHash = await passwords.hash(password);
    try {
      return await users.create({ email, name, passwordHash, locale, ...referral?.newUserFields }, (created) => [
        ...verification.sendLinkStatements({ ...created, locale, notifications: {}, emailVerified: false }),
        ...(referral?.statements ?? []),
        ...admission,
        auditStatement(created, "sign-up", { by: "password" }),
        ...extraStatements(created),
      ]);
    } catch (error) {
      if (error instanceof GuardFailed && error.guard === "referrer") throw unknownReferralCode();
      if (error instanceof GuardFailed && error.guard === "link") throw invitationUsed();
      throw error;
    }
  };
}
