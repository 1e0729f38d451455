// Links accounts to other ways to sign in: providers and Ethereum wallets.
import { and, eq, sql } from "drizzle-orm";
import { type Database, guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { linkedAccounts } from "../schema.ts";

/** More than anybody needs, so that lists stay short. */
export const MAX_LINKED_ACCOUNTS = 20;

export type LinkedProvider = (typeof linkedAccounts.provider.enumValues)[number];

export interface LinkedAccount {
  provider: LinkedProvider;
  /** The provider's permanent id of the user; for a wallet its address in lower case. */
  subject: string;
  /** The address or name of the account at the provider, by which its owner recognises it. Unchecked. */
  label?: string | null;
}

/** A linked account with what its owner sees of it. */
export interface LinkedAccountItem {
  provider: LinkedProvider;
  subject: string;
  label: string | null;
  /** Epoch ms. */
  createdAt: number;
}

export interface LinkedAccounts {
  /** The id of the user that this account signs in. */
  findUserId(account: LinkedAccount): Promise<string | undefined>;
  /** Aborts its batch by the unique constraint `linked_accounts.provider` if the account is linked already. */
  linkStatement(account: LinkedAccount, userId: string): Statement;
  /** For the batch of a link: aborts it with GuardFailed `room` if this user has as many as an account can have. */
  requireRoomStatements(userId: string): Statement[];
  /** Removes all linked accounts of this user. */
  unlinkAllStatement(userId: string): Statement;
  /** Removes one linked account of this user, unless it is the last way in: then it changes no row. */
  unlinkStatement(account: LinkedAccount, userId: string): Statement;
  /** The linked accounts of a user, oldest first. */
  listByUser(userId: string): Promise<LinkedAccountItem[]>;
  /** The addresses of the linked wallets, in lower case. */
  listWalletAddresses(userId: string): Promise<string[]>;
}

export function createLinkedAccounts({
  database: { drizzle },
  cells,
}: Pick<Kernel, "cells"> & { database: Pick<Database, "drizzle"> }): LinkedAccounts {
  const { provider, subject, userId, label, createdAt } = linkedAccounts;
  cells?.registerNames("sign-in", async (name) => {
    const [kind, ...rest] = name.split(" ");
    const same = and(sql`${provider} = ${kind}`, eq(subject, rest.join(" ")));
    return (await drizzle.select({ userId }).from(linkedAccounts).where(same).limit(1)).length > 0;
  });
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
          label: toSingleLine(account.label ?? undefined) || null,
        }),
      ),
    requireRoomStatements: (owner) => [
      {
        sql: `UPDATE users SET locale = locale WHERE id = ?1
          AND (SELECT count(*) FROM linked_accounts WHERE user_id = ?1) < ?2`,
        args: [owner, MAX_LINKED_ACCOUNTS],
      },
      guard("room"),
    ],
    unlinkAllStatement: (owner) => statement(drizzle.delete(linkedAccounts).where(eq(userId, owner))),
    unlinkStatement: ({ provider, subject }, owner) => ({
      sql: `DELETE FROM linked_accounts WHERE provider = ?1 AND subject = ?2 AND user_id = ?3 AND (
        EXISTS (SELECT 1 FROM users WHERE id = ?3 AND password_hash IS NOT NULL)
        OR EXISTS (SELECT 1 FROM linked_accounts WHERE user_id = ?3 AND NOT (provider = ?1 AND subject = ?2)))`,
      args: [provider, subject, owner],
    }),
    listByUser: (owner) =>
      drizzle
        .select({ provider, subject, label, createdAt })
        .from(linkedAccounts)
        .where(eq(userId, owner))
        .orderBy(createdAt, provider, subject),
    async listWalletAddresses(owner) {
      const own = and(eq(userId, owner), eq(provider, "wallet"));
      return (await drizzle.select({ subject }).from(linkedAccounts).where(own)).map((wallet) => wallet.subject);
    },
  };
}

/** Turns the name of a profile into one that sign-up accepts: one line of at most 200 characters. */
export const toSingleLine = (name: string | undefined) =>
  name
    ?.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .toWellFormed()
    .slice(0, 200)
    .trim();
