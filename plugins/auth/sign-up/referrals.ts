// Referral codes: who brings somebody gets credits, and so does who comes. Contract §3.
import { sql } from "drizzle-orm";
import { guard, type Statement } from "../../../src/kernel/database/database.ts";
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { Mails } from "../mails/mails.ts";
import { users as userTable } from "../schema.ts";
import type { NewUser, Users } from "../users.ts";

/** For each side, once. */
export const REFERRAL_CREDITS = 10;

/** Interface, "Limits". */
const REFERRAL_CODE_PATTERN = /^[a-z0-9-]{1,20}$/i;

export interface Referral {
  /** What the new account begins with. */
  newUserFields: Pick<NewUser, "credits" | "referredBy">;
  /** Credits the referrer; aborts its batch with GuardFailed `referrer` when that account has gone. */
  statements: Statement[];
}

export interface Referrals {
  /** What this code brings. 400 `INVALID_REFERRAL_CODE` when it is none, or nobody's. */
  prepareRedemption(code: string): Promise<Referral>;
}

export function createReferrals({ users, mails }: { users: Users; mails: Mails }): Referrals {
  const credits = sql`${userTable.credits} + ${REFERRAL_CREDITS}`;
  return {
    async prepareRedemption(code) {
      const referrer = REFERRAL_CODE_PATTERN.test(code) ? await users.byReferralCode(code) : undefined;
      if (!referrer) throw unknownReferralCode();
      return {
        newUserFields: { credits: REFERRAL_CREDITS, referredBy: referrer.id },
        statements: [
          users.updateStatement(referrer.id, { credits }),
          guard("referrer"),
          ...mails.referralCreditedStatements(referrer, REFERRAL_CREDITS),
        ],
      };
    },
  };
}

export const unknownReferralCode = () =>
  invalidInput({ path: "referralCode", message: "Nobody has this referral code." }, "INVALID_REFERRAL_CODE");
