// Other ways into an account beside its password: Google, GitHub, a wallet.
import { and, eq } from "drizzle-orm";
import { type Database, type Statement, statement } from "../../src/kernel/database/database.ts";
import { linkedAccounts } from "./schema.ts";

export type LinkedProvider = (typeof linkedAccounts.provider.enumValues)[number];

export interface LinkedAccount {
  provider: LinkedProvider;
  /** The provider's own id of the user, which never changes; of a wallet its address in lower case. */
  subject: string;
}

export interface LinkedAccounts {
  /** The user whom this provider's account signs in. */
  findUserId(account: LinkedAccount): Promise<string | undefined>;
  /** Unique: a second user with the same account aborts the batch (`linked_accounts.provider`). */
  linkStatement(account: LinkedAccount, userId: string): Statement;
  /** Takes all of them off this user. */
  unlinkAllStatement(userId: string): Statement;
  listByUser(userId: string): Promise<LinkedAccount[]>;
  /** Addresses in lower case. */
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
