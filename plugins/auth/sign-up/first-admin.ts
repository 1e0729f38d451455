// The one-use link that makes the first admin account, printed while there is no account at all.
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { PLACEHOLDER_DOMAIN } from "../email.ts";
import { invalidLink, type OneTimeLinks } from "../one-time-links.ts";
import type { AccountSummary, Users } from "../users.ts";

/** A day: long enough to come back to the terminal. A new start prints a new one. */
const LINK_LIFETIME_MS = DAY;

/** Gives what keeps, in the same write, that this account was made, and by which request. */
export type OnFirstAdminCreated = (made: AccountSummary, request: Request) => Statement;

export interface FirstAdmin {
  /** A new link, replacing older ones; undefined when there are accounts already. */
  createLink(): Promise<string | undefined>;
  /**
   * Uses the link up. 400 `INVALID_LINK` when it was used, is too old or was never given out, and as soon as there is any
   * account: whoever finds it later in a terminal's history is no first admin.
   */
  create(token: string, account: NewAdmin, request: Request): Promise<AccountSummary>;
  onCreated(listener: OnFirstAdminCreated): void;
}

interface NewAdmin {
  email: string;
  name?: string | undefined;
  passwordHash: string;
}

/** For the batch that makes this account: aborts it with GuardFailed `first` where there is another. */
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
        return await users.create({ ...account, emailVerified: true, isAdmin: true }, (made) => [
          ...oneTimeLinks.useStatements("first-admin", token),
          ...requireFirstStatements(made),
          ...listeners.map((listener) => listener(made, request)),
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
    "This link was used already, is too old, or there is an account by now. Restart Berth: without an account it prints a new link.",
  );
