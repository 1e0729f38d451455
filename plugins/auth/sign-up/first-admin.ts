// Creates the first admin account through a one-time link, which Berth prints at start while there is no account.
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { PLACEHOLDER_DOMAIN } from "../email.ts";
import { invalidLink, type OneTimeLinks } from "../one-time-links.ts";
import type { AccountSummary, Users } from "../users.ts";

/** A day; a restart prints a new link. */
const LINK_LIFETIME_MS = DAY;

/** Returns a statement for the batch that creates the account, such as its entry in the audit log. */
export type OnFirstAdminCreated = (created: AccountSummary, request: Request) => Statement;

export interface FirstAdmin {
  /** A new link, which replaces older ones; undefined if an account exists. */
  createLink(): Promise<string | undefined>;
  /**
   * Consumes the link and creates the account. Throws 400 `INVALID_LINK` if the link was used, has expired or never
   * existed, and if any account exists, so that a link found in old terminal output gives nothing.
   */
  create(token: string, account: NewAdmin, request: Request): Promise<AccountSummary>;
  onCreated(listener: OnFirstAdminCreated): void;
}

interface NewAdmin {
  email: string;
  name?: string | undefined;
  passwordHash: string;
}

/**
 * For the batch that creates this account: aborts it with GuardFailed `first` if there is another (placeholders aside).
 */
const requireFirstStatements = ({ id }: AccountSummary): Statement[] => [
  {
    sql: `UPDATE users SET is_admin = 1 WHERE id = ?1
      AND NOT EXISTS (SELECT 1 FROM users WHERE id <> ?1 AND email NOT LIKE ?2)`,
    args: [id, `%${PLACEHOLDER_DOMAIN}`],
  },
  guard("first"),
];

type Deps = Pick<Kernel, "database" | "config"> & { users: Users; oneTimeLinks: OneTimeLinks };

export function createFirstAdmin({ database, config, users, oneTimeLinks }: Deps): FirstAdmin {
  const listeners: OnFirstAdminCreated[] = [];

  return {
    onCreated: (listener) => void listeners.push(listener),

    async createLink() {
      if (await users.hasAny()) return undefined;
      const { token, statements } = oneTimeLinks.issue("first-admin", { lifetimeMs: LINK_LIFETIME_MS });
      await database.write(statements);
      return `${config.baseUrl}/setup?token=${token}`;
    },

    async create(token, account, request) {
      if (await users.hasAny()) throw invalidFirstAdminLink();
      try {
        return await users.create({ ...account, emailVerified: true, isAdmin: true }, (created) => [
          ...oneTimeLinks.useStatements("first-admin", token),
          ...requireFirstStatements(created),
          ...listeners.map((listener) => listener(created, request)),
        ]);
      } catch (error) {
        throw error instanceof GuardFailed ? invalidFirstAdminLink(error) : error;
      }
    },
  };
}

const invalidFirstAdminLink = (cause?: unknown) =>
  invalidLink(
    cause,
    "This link was used already, is too old, or there is an account by now. Without an account, Berth prints a new link when it " +
      "starts. With one, run `berth user admin EMAIL` on its machine: it makes an account an admin.",
  );
