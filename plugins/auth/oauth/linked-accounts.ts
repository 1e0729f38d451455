// Links accounts to other ways to sign in: Google, GitHub, and Ethereum wallets.
import { and, eq } from "drizzle-orm";
import { type Database, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { linkedAccounts } from "../schema.ts";

export type LinkedProvider = (typeof linkedAccounts.provider.enumValues)[number];

export interface LinkedAccount {
  provider: LinkedProvider;
  /** The provider's permanent id of the user; for a wallet its address in lower case. */
  subject: string;
}

export interface LinkedAccounts {
  /** The id of the user that this account signs in. */
  findUserId(account: LinkedAccount): Promise<string | undefined>;
  /** Aborts its batch by the unique constraint `linked_accounts.provider` if the account is linked already. */
  linkStatement(account: LinkedAccount, userId: string): Statement;
  /** Removes all linked accounts of this user. */
  unlinkAllStatement(userId: string): Statement;
  listByUser(userId: string): Promise<LinkedAccount[]>;
  /** The addresses of the linked wallets, in lower case. */
  listWalletAddresses(userId: string): Promise<string[]>;
}

export function createLinkedAccounts({ drizzle }: Pick<Database, "drizzle">): LinkedAccounts {
  const { provider, subject, userId } = linkedAccounts;
  return {
    async findUserId(account) {
      const same = and(eq(provider, account.provider), eq(subject, account.subject));
      const [found] = await drizzle.select({ userId }).from(linkedAccounts).where(same);
      return found?.userId;
    },
    linkStatement: (account, owner) =>
      statement(
        drizzle.insert(linkedAccounts).values({
          provider: account.provider,
          subject: account.subject,
          userId: owner,
          createdAt: Date.now(),
        }),
      ),
    unlinkAllStatement: (owner) => statement(drizzle.delete(linkedAccounts).where(eq(userId, owner))),
    listByUser: (owner) => drizzle.select({ provider, subject }).from(linkedAccounts).where(eq(userId, owner)),
    async listWalletAddresses(owner) {
      const own = and(eq(userId, owner), eq(provider, "wallet"));
      return (await drizzle.select({ subject }).from(linkedAccounts).where(own)).map((wallet) => wallet.subject);
    },
  };
}
