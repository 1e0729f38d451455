// Referral codes: a sign-up with a code gives credits to the new account and to the owner of the code.
import { sql } from "drizzle-orm";
import { type Database, guard, type Statement } from "../../../src/kernel/database/database.ts";
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { Mails } from "../mails/mails.ts";
import { users as userTable } from "../schema.ts";
import type { NewUser, Users } from "../users.ts";

/** Credits for each of the two accounts. */
export const REFERRAL_CREDITS = 10;

/** 1 to 20 letters, digits and dashes. */
const REFERRAL_CODE_PATTERN = /^[a-z0-9-]{1,20}$/i;

export interface Referral {
  /** Fields of the new account. */
  newUserFields: Pick<NewUser, "credits" | "referredBy">;
  /** Credits the referrer; aborts its batch with GuardFailed `referrer` if that account was deleted in the meantime. */
  statements: Statement[];
}

export interface Referrals {
  /** The effects of a code. Throws 400 `INVALID_REFERRAL_CODE` if no account has this code. */
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

/** How many accounts were made with the code of this user. Read from the index of referred accounts alone. */
export async function countReferred(database: Pick<Database, "read">, userId: string): Promise<number> {
  const { rows } = await database.read("SELECT count(*) AS joined FROM users WHERE referred_by = ?", [userId]);
  return Number(rows[0]?.joined);
}

export const unknownReferralCode = () =>
  invalidInput(
    { path: "referralCode", message: "Unknown referral code. Check it, or leave it out." },
    "INVALID_REFERRAL_CODE",
  );
