// Email verification: a link to an address shows that whoever opens it reads what is sent there.
import { type Database, GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import { forbidden } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import type { ApiKeys } from "../api-keys/api-keys.ts";
import { isInternalEmail } from "../email.ts";
import type { LinkedAccounts } from "../linked-accounts.ts";
import type { MailRecipient, Mails } from "../mails/mails.ts";
import { invalidLink, type OneTimeLinks } from "../one-time-links.ts";
import type { TwoFactor } from "../two-factor/two-factor.ts";
import type { Users } from "../users.ts";

/** A week: it gives nothing but the word that the address is right. */
const LINK_LIFETIME_MS = 7 * DAY;

export interface EmailVerification {
  /**
   * For the batch that makes the account or gives it another address: mails a link for that address. Links sent before
   * die. Nothing for the address of a wallet.
   */
  sendLinkStatements(user: MailRecipient & { id: string }): Statement[];
  /**
   * Uses the link up; `signedInAs` is the account of the session it is opened with. 400 `INVALID_LINK` also when the
   * account has another address by now.
   *
   * Throws 403 `SIGN_IN_FIRST` without a session of just this account where somebody else may have made it, or moved it to
   * this address, and would have more of its being verified than the address's owner who opens the link: for an address in
   * ADMIN_EMAILS, whose account becomes an admin's; and for an account with a wallet or a provider, API keys or a second factor,
   * all of which the owner's new password would leave to a stranger. Whoever can't sign in chooses that password first: it
   * ends everything of the stranger's, as long as the address is not verified.
   */
  verify(token: string, signedInAs: string | undefined): Promise<{ email: string }>;
}

interface Deps {
  linkedAccounts: Pick<LinkedAccounts, "listByUser">;
  keys: Pick<ApiKeys, "listByUser">;
  twoFactor: Pick<TwoFactor, "enabledSince">;
  database: Pick<Database, "write">;
  config: Pick<Kernel["config"], "baseUrl" | "adminEmails">;
  users: Users;
  oneTimeLinks: OneTimeLinks;
  mails: Mails;
}

export function createEmailVerification(deps: Deps): EmailVerification {
  const { database, config, users, oneTimeLinks, mails, linkedAccounts, keys, twoFactor } = deps;

  /** Whether it could be entered by other means than the password. */
  async function hasOtherSignInMethods(userId: string): Promise<boolean> {
    const [others, own, second] = await Promise.all([
      linkedAccounts.listByUser(userId),
      keys.listByUser(userId),
      twoFactor.enabledSince(userId),
    ]);
    return others.length > 0 || own.length > 0 || second !== undefined;
  }

  return {
    sendLinkStatements(user) {
      if (isInternalEmail(user.email)) return [];
      const issued = oneTimeLinks.issue("verify-email", {
        userId: user.id,
        email: user.email,
        lifetimeMs: LINK_LIFETIME_MS,
      });
      const link = `${config.baseUrl}/verify-email?token=${issued.token}`;
      return [...issued.statements, ...mails.verifyEmailStatements(user, link, Date.now() + LINK_LIFETIME_MS)];
    },

    async verify(token, signedInAs) {
      const { userId, email } = (await oneTimeLinks.find("verify-email", token)) ?? {};
      if (!userId || !email) throw invalidLink();
      if (signedInAs !== userId && (config.adminEmails.includes(email) || (await hasOtherSignInMethods(userId)))) {
        throw forbidden("SIGN_IN_FIRST", "Sign in to this account first, then open the link again.");
      }
      try {
        const verified = users.updateStatement(userId, { emailVerified: true }, { email });
        await database.write([...oneTimeLinks.useStatements("verify-email", token), verified, guard("user")]);
      } catch (error) {
        throw error instanceof GuardFailed ? invalidLink(error) : error;
      }
      return { email };
    },
  };
}
