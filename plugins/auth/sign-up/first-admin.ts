// The one-use link that makes the first admin account, printed while there is no account at all.
import { GuardFailed, guard, type Statement } from "../../../src/database.ts";
import { AppError } from "../../../src/errors.ts";
import type { Kernel } from "../../../src/plugin.ts";
import { HOLDER_DOMAIN } from "../email.ts";
import type { Links } from "../links.ts";
import type { Account, Users } from "../users.ts";

/** A day: long enough to come back to the terminal. A new start prints a new one. */
const LIFETIME = 86_400_000;

/** Gives what keeps, in the same write, that this account was made, and by which request. */
export type OnFirstAdmin = (made: Account, request: Request) => Statement;

export interface FirstAdmin {
  /** A new link, replacing older ones; undefined when there are accounts already. */
  link(): Promise<string | undefined>;
  /**
   * Uses the link up. 400 `INVALID_LINK` when it was used, is too old or was never given out, and as soon as there is any
   * account: whoever finds it later in a terminal's history is no first admin.
   */
  create(token: string, account: NewAdmin, request: Request): Promise<Account>;
  on(listener: OnFirstAdmin): void;
}

interface NewAdmin {
  email: string;
  name?: string | undefined;
  passwordHash: string;
}

/** For the batch that makes this account: aborts it with GuardFailed `first` where there is another. */
const requireFirst = ({ id }: Account): Statement[] => [
  {
    sql: `UPDATE users SET is_admin = 1 WHERE id = ?1
      AND NOT EXISTS (SELECT 1 FROM users WHERE id <> ?1 AND email NOT LIKE ?2)`,
    args: [id, `%${HOLDER_DOMAIN}`],
  },
  guard("first"),
];

type Deps = Pick<Kernel, "database" | "config"> & { users: Users; links: Links };

export function createFirstAdmin({ database, config, users, links }: Deps): FirstAdmin {
  const listeners: OnFirstAdmin[] = [];

  return {
    on: (listener) => void listeners.push(listener),

    async link() {
      if (await users.any()) return undefined;
      const { token, statements } = links.issue("first-admin", { lifetimeMs: LIFETIME });
      await database.write(statements);
      return `${config.baseUrl}/setup?token=${token}`;
    },

    async create(token, account, request) {
      if (await users.any()) throw badLink();
      try {
        return await users.create({ ...account, emailVerified: true, isAdmin: true }, (made) => [
          ...links.use("first-admin", token),
          ...requireFirst(made),
          ...listeners.map((listener) => listener(made, request)),
        ]);
      } catch (error) {
        throw error instanceof GuardFailed ? badLink(error) : error;
      }
    },
  };
}

function badLink(cause?: unknown): AppError {
  const text =
    "This link was used already, is too old, or there is an account by now. Start Berth again: it tells which.";
  return new AppError(400, "INVALID_LINK", text, {}, { cause });
}
