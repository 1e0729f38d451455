// The names of an account that must be unique in the whole service, and which the directory of cells knows.
import type { Name } from "../../../src/kernel/cells/cells.ts";
import { cellOfLabel, cellOfToken, REFERRAL_CODE_LENGTH } from "../../../src/kernel/cells/marks.ts";
import { WALLET_EMAIL_DOMAIN } from "../email.ts";
import type { LinkedAccount } from "../oauth/linked-accounts.ts";

/** `email` in the form in which it is stored. */
export const emailName = (email: string): Name => ({ kind: "email", name: email });

export const signInName = ({ provider, subject }: LinkedAccount): Name => ({
  kind: "sign-in",
  name: `${provider} ${subject}`,
});

/** A wallet signs in the account that it is linked to, else the one whose internal address is made of it. */
export const namesOfWallet = (wallet: LinkedAccount & { provider: "wallet" }): [Name, Name] => [
  signInName(wallet),
  emailName(wallet.subject + WALLET_EMAIL_DOMAIN),
];

/** The cell that a new account must be in, since what it brings is there: an invitation, or the account whose code it has. */
export function cellOfBrought(brought: { invitation?: string | undefined; referralCode?: string | undefined }) {
  if (brought.invitation) return cellOfToken(brought.invitation);
  const code = brought.referralCode?.trim().toLowerCase();
  return code ? cellOfLabel(code, REFERRAL_CODE_LENGTH) : undefined;
}
