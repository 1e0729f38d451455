// Verifies email addresses by a mailed one-time link: opening it proves access to the mailbox.

import { type Database, GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import { forbidden } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import type { ApiKeys } from "../api-keys/api-keys.ts";
import { isInternalEmail } from "../email.ts";
import type { MailRecipient, Mails } from "../mails/mails.ts";
import type { LinkedAccounts } from "../oauth/linked-accounts.ts";
import { invalidLink, type OneTimeLinks } from "../one-time-links.ts";
import { adminSettings } from "../settings.ts";
import type { TwoFactor } from "../two-factor/two-factor.ts";
import type { Users } from "../users.ts";

/** A week; the link can be long-lived, since it only marks the address as verified. */
const LINK_LIFETIME_MS = 7 * DAY;

export interface EmailVerification {
  /**
   * For the batch that creates the account or changes its address: mails a link to that address. Earlier links end. No
   * statements for an internal address (see `isInternalEmail`), which receives no mail.
   */
  sendLinkStatements(user: MailRecipient & { id: string }): Statement[];
  /**
   * Consumes the link and marks the address as verified; `signedInAs` is the account of the request's session. Throws
   * 400 `INVALID_LINK`, also if the account has another address in the meantime.
   *
   * Throws 403 `SIGN_IN_FIRST` without a session of this account if a stranger could profit from the click, having
   * created the account with the owner's address: for an address in ADMIN_EMAILS, which would make the stranger an
   * admin; and for an account with linked accounts, API keys or a second factor, which may be the stranger's and would
   * stay. An owner who can't sign in resets the password instead, which reclaims the unverified account.
   */
  verify(token: string, signedInAs: string | undefined): Promise<{ email: string }>;
}

interface Deps {
  linkedAccounts: Pick<LinkedAccounts, "listByUser">;
  keys: Pick<ApiKeys, "listByUser">;
  twoFactor: Pick<TwoFactor, "enabledSince">;
  database: Pick<Database, "write">;
  config: Pick<Kernel["config"], "baseUrl" | "of">;
  users: Users;
  oneTimeLinks: OneTimeLinks;
  mails: Mails;
}

export function createEmailVerification(deps: Deps): EmailVerification {
  const { database, config, users, oneTimeLinks, mails, linkedAccounts, keys, twoFactor } = deps;
  const { emails: adminEmails } = config.of(adminSettings);

  /** Whether the account has linked accounts, API keys or a second factor besides the password. */
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
      if (signedInAs !== userId && (adminEmails.includes(email) || (await hasOtherSignInMethods(userId)))) {
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
