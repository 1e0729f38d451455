// What administrators may do with accounts: find them, make them, change them, and let their owners in again.
import { and, count, desc, eq, gt, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import { GuardFailed, type Statement } from "../../../src/database.ts";
import { AppError } from "../../../src/errors.ts";
import { isInternalEmail, normalizeEmail, requireEmail } from "../email.ts";
import type { AuthParts } from "../parts.ts";
import { requirePassword } from "../password/passwords.ts";
import { apiKeys, authSessions, subscriptions, users as table } from "../schema.ts";
import type { Deletion } from "../settings/deletion.ts";
import type { User } from "../users.ts";
import {
  type AccountChanges,
  adminsAmong,
  createAccountChanges,
  isAdminOf,
  noSuchUser,
  type Recorder,
  requireName,
} from "./account-changes.ts";

export const ACCOUNT_STATES = ["active", "disabled", "unverified", "admin"] as const;

export interface AccountFilter {
  /** Part of the address or of the name. */
  query?: string | undefined;
  status?: (typeof ACCOUNT_STATES)[number] | undefined;
  limit: number;
  offset: number;
}

export interface AccountToMake {
  email: string;
  name?: string;
  /** Left out: it has none until its owner follows a link to set one. */
  password?: string;
  isAdmin?: boolean;
  emailVerified?: boolean;
}

/** How the owner gets a link to set a password: by mail, or from whoever asked for it. */
export type Delivery = "mail" | "link";

/** Whatever changes something takes the recorder of who does it: what is not recorded can't be done. */
export interface Administration extends AccountChanges {
  /** 404 `USER_NOT_FOUND`. */
  byId(id: string): Promise<User>;
  /** 404 `USER_NOT_FOUND`. */
  byEmail(email: string): Promise<User>;
  /** Whether it is an admin from wherever it signs in: marked as one, or verified and in ADMIN_EMAILS. */
  isAdmin(user: User): boolean;
  /** The newest first, with the number of all that match. */
  list(filter: AccountFilter): Promise<{ users: User[]; total: number }>;
  /** How many sessions and API keys are good. */
  ways(userId: string): Promise<{ sessions: number; keys: number }>;
  /**
   * Throws 400 for what sign-up would refuse, and 409 `USER_EXISTS`. With `invite` its owner can set a password within a
   * day; the link is there for the delivery "link".
   */
  create(account: AccountToMake, record: Recorder, invite?: Delivery): Promise<{ user: User; link?: string }>;
  /**
   * Its owner can set a new password within an hour; gives the link for the delivery "link". Throws 404, 409
   * `ACCOUNT_DISABLED`, and 409 `NO_MAILBOX` for a wallet's account: its address is nobody's.
   */
  resetPassword(id: string, record: Recorder, delivery: Delivery): Promise<string | undefined>;
  /** For who has lost it: sign-in asks for no code any more, and its owner is told. Throws 404, and 409 `TWO_FACTOR_OFF`. */
  dropTwoFactor(id: string, record: Recorder): Promise<void>;
}

const HOUR = 3_600_000;
/** What its maker hands on by hand. */
const INVITATION = 24 * HOUR;

type Deps = Pick<AuthParts, "kernel" | "users" | "sessions" | "passwords" | "links" | "mails" | "twoFactor"> & {
  deletion: Pick<Deletion, "remove">;
};

export function createAdministration(parts: Deps): Administration {
  const { kernel, users, passwords, links, mails, twoFactor } = parts;
  const { config, database } = kernel;
  const { drizzle } = database;

  const states: Record<(typeof ACCOUNT_STATES)[number], SQL | undefined> = {
    active: isNull(table.disabledAt),
    disabled: isNotNull(table.disabledAt),
    unverified: eq(table.emailVerified, false),
    admin: adminsAmong(config.adminEmails),
  };

  async function byId(id: string): Promise<User> {
    const user = await users.byId(id);
    if (!user) throw noSuchUser("id");
    return user;
  }

  /** A link to set a password, in place of the one there may be. */
  function passwordLink({ id, email }: Pick<User, "id" | "email">, delivery: Delivery, lifetimeMs: number) {
    const { token, statements } = links.issue("reset-password", { userId: id, email, lifetimeMs });
    const link = `${config.baseUrl}/reset-password?token=${token}`;
    return { statements, link, given: delivery === "link" ? link : undefined };
  }

  return {
    ...createAccountChanges(parts),
    byId,

    async byEmail(email) {
      const user = await users.byEmail(normalizeEmail(email));
      if (!user) throw noSuchUser("email");
      return user;
    },

    isAdmin: (user) => isAdminOf(user, config.adminEmails),

    async list({ query, status, limit, offset }) {
      const where = and(status && states[status], query ? named(query) : undefined);
      const joined = drizzle.select().from(table).leftJoin(subscriptions, eq(subscriptions.userId, table.id));
      const [rows, counted] = await Promise.all([
        // Ids grow with time.
        joined.where(where).orderBy(desc(table.id)).limit(limit).offset(offset),
        drizzle.select({ total: count() }).from(table).where(where),
      ]);
      const found = rows.map(({ users: user, subscriptions: subscription }) => ({
        ...user,
        notifications: JSON.parse(user.notifications) as User["notifications"],
        subscription,
      }));
      return { users: found, total: counted[0]?.total ?? 0 };
    },

    async ways(userId) {
      const now = Date.now();
      const sessions = and(eq(authSessions.userId, userId), gt(authSessions.expiresAt, now));
      const keys = and(eq(apiKeys.userId, userId), sql`coalesce(${apiKeys.expiresAt} > ${now}, true)`);
      const [[open], [good]] = await Promise.all([
        drizzle.select({ total: count() }).from(authSessions).where(sessions),
        drizzle.select({ total: count() }).from(apiKeys).where(keys),
      ]);
      return { sessions: open?.total ?? 0, keys: good?.total ?? 0 };
    },

    async create({ password, name = "", email, isAdmin = false, emailVerified = false }, record, invite) {
      const address = requireEmail(email);
      const account = { email: address, name: requireName(name, address), isAdmin, emailVerified };
      if (password !== undefined) requirePassword(password);
      const passwordHash = password === undefined ? null : await passwords.hash(password);
      let link: string | undefined;
      const made = await users.create({ ...account, passwordHash }, (user) => {
        const statements: Statement[] = [];
        if (invite) {
          const to = { ...user, locale: "en", notifications: {}, emailVerified };
          const issued = passwordLink(user, invite, invite === "mail" ? HOUR : INVITATION);
          statements.push(...issued.statements);
          if (invite === "mail") statements.push(...mails.resetPassword(to, issued.link));
          link = issued.given;
        }
        const details = { name: user.name, isAdmin, emailVerified, password: password !== undefined };
        return [...statements, record({ action: "user.create", user, details })];
      });
      return { user: await byId(made.id), ...(link !== undefined && { link }) };
    },

    async resetPassword(id, record, delivery) {
      const user = await byId(id);
      if (user.disabledAt !== null) {
        throw new AppError(409, "ACCOUNT_DISABLED", "This account is disabled. Enable it first.");
      }
      if (isInternalEmail(user.email)) {
        throw new AppError(409, "NO_MAILBOX", "This account belongs to a wallet, and signs in with it alone.");
      }
      const { statements, link, given } = passwordLink(user, delivery, HOUR);
      const mail = delivery === "mail" ? mails.resetPassword(user, link) : [];
      const told = record({ action: "user.reset-password", user, details: { delivery } });
      await database.write([...statements, ...mail, told]);
      return given;
    },

    async dropTwoFactor(id, record) {
      const user = await byId(id);
      const told = record({ action: "user.two-factor-off", user, details: {} });
      try {
        await database.write([...twoFactor.drop(id), ...mails.twoFactorRemoved(user), told]);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        throw new AppError(409, "TWO_FACTOR_OFF", "This account has no second factor.");
      }
    },
  };
}

/** Case counts only beyond ASCII, and there only in names. */
function named(query: string): SQL {
  const part = (text: string) => `%${text.replace(/[\\%_]/g, "\\$&")}%`;
  const name = query.trim().normalize("NFC");
  return sql`(${table.email} LIKE ${part(normalizeEmail(query))} ESCAPE '\\' OR ${table.name} LIKE ${part(name)} ESCAPE '\\')`;
}
