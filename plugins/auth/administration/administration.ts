// What administrators may do with accounts: find, create and change them, and restore the access of their owners.

import { and, count, desc, eq, gt, inArray, isNotNull, type SQL, sql } from "drizzle-orm";
import { GuardFailed, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { DAY, HOUR } from "../../../src/kernel/util/time.ts";
import type { AuthServices } from "../auth-services.ts";
import { isInternalEmail, normalizeEmail } from "../email.ts";
import { type Ramp, rampOf } from "../plans/new-accounts.ts";
import { apiKeys, authSessions, subscriptions, users as userTable } from "../schema.ts";
import type { Deletion } from "../settings/account-deletion.ts";
import { adminSettings, newAccountSettings } from "../settings.ts";
import type { Invitation } from "../sign-up/sign-up-policy.ts";
import { type User, userExists } from "../users.ts";
import type { AuditRecorder } from "./account-audit.ts";
import { type AccountChanges, createAccountChanges, userNotFound } from "./account-changes.ts";
import { requireAccount } from "./account-fields.ts";
import { adminCondition, isAdminAccount, isWorking } from "./admin-accounts.ts";
import { createLastAdmin } from "./last-admin.ts";

export const ACCOUNT_STATUSES = ["active", "disabled", "frozen", "unverified", "admin"] as const;

export interface AccountFilter {
  /** A part of the address or name; ASCII case is ignored. */
  query?: string | undefined;
  status?: (typeof ACCOUNT_STATUSES)[number] | undefined;
  limit: number;
  offset: number;
}

export interface NewAccount {
  email: string;
  name?: string;
  /** Left out: the owner sets a password through a link. */
  password?: string;
  isAdmin?: boolean;
  emailVerified?: boolean;
}

/** How the owner gets a link to set a password: by mail, or returned to the caller, who passes it on. */
export type LinkDelivery = "mail" | "link";

/** Every function that changes something requires an audit recorder, so that no change goes unrecorded. */
export interface Administration extends AccountChanges {
  /** 404 `USER_NOT_FOUND`. */
  byId(id: string): Promise<User>;
  /** 404 `USER_NOT_FOUND`. */
  byEmail(email: string): Promise<User>;
  /** Whether the user is marked as an admin, or has a verified address in ADMIN_EMAILS. */
  isAdmin(user: User): boolean;
  /** How far a new account has come to its full limits; undefined for any other, and always without NEW_ACCOUNT_DAYS. */
  rampOf(user: User): Ramp | undefined;
  /** Whether any account that is neither disabled nor frozen is an admin, in all cells that answer. */
  hasAdmin(): Promise<boolean>;
  /**
   * Disables an account that is to be removed, in one write with these statements. Throws 409 `LAST_ADMIN`, with nothing written, if
   * it is the only admin who can act, in this cell and the others.
   */
  beginRemoval(user: User, statements: readonly Statement[]): Promise<void>;
  /** A page of accounts, newest first, and the total number of matches. */
  list(filter: AccountFilter): Promise<{ users: User[]; total: number }>;
  /** The number of valid sessions and API keys. */
  countCredentials(userId: string): Promise<{ sessions: number; keys: number }>;
  /**
   * Throws 400 for input that sign-up refuses, and 409 `USER_EXISTS`. With `inviteBy` the owner can set a password
   * through a link: mailed and valid for an hour, or returned and valid for a day.
   */
  create(
    account: NewAccount,
    auditStatement: AuditRecorder,
    inviteBy?: LinkDelivery,
  ): Promise<{ user: User; link?: string }>;
  /**
   * Issues a link with which the owner of this address may sign up, once, within a week; a later one replaces it. Throws
   * 400 `INVALID_EMAIL`, 409 `USER_EXISTS`, and 409 `SIGN_UP_CLOSED` if SIGN_UP lets nobody in.
   */
  invite(email: string, auditStatement: AuditRecorder): Promise<Invitation>;
  /**
   * Issues a link to set a new password, valid for an hour; returns it for the delivery "link". Throws 404, 409
   * `ACCOUNT_DISABLED`, and 409 `NO_MAILBOX` for a wallet account, whose address receives no mail.
   */
  resetPassword(id: string, auditStatement: AuditRecorder, delivery: LinkDelivery): Promise<string | undefined>;
  /** Turns two-factor off for an owner who lost the device, and notifies them. Throws 404, and 409 `TWO_FACTOR_OFF`. */
  removeTwoFactor(id: string, auditStatement: AuditRecorder): Promise<void>;
}

/** For links that the caller passes on by hand. */
const INVITATION_LIFETIME_MS = DAY;

type Deps = Pick<
  AuthServices,
  "kernel" | "users" | "sessions" | "passwords" | "oneTimeLinks" | "mails" | "twoFactor" | "signUpPolicy"
> & {
  deletion: Pick<Deletion, "remove">;
};

export function createAdministration(services: Deps): Administration {
  const { kernel, users, passwords, oneTimeLinks, mails, twoFactor, signUpPolicy } = services;
  const { config, database } = kernel;
  const { emails: adminEmails } = config.of(adminSettings);
  const { days: newAccountDays } = config.of(newAccountSettings);
  const { drizzle } = database;
  const lastAdmin = createLastAdmin(kernel);

  const statusConditions: Record<(typeof ACCOUNT_STATUSES)[number], SQL | undefined> = {
    active: isWorking,
    frozen: isNotNull(userTable.frozenAt),
    disabled: isNotNull(userTable.disabledAt),
    unverified: eq(userTable.emailVerified, false),
    admin: adminCondition(adminEmails),
  };

  const readLong = async ({ sql, args }: Statement) => (await database.readLong(sql, args)).rows;

  async function byId(id: string): Promise<User> {
    const user = await users.byId(id);
    if (!user) throw userNotFound("id");
    return user;
  }

  /** A link to set a password; earlier links of the account end. */
  function issuePasswordLink({ id, email }: Pick<User, "id" | "email">, delivery: LinkDelivery, lifetimeMs: number) {
    const { token, statements } = oneTimeLinks.issue("reset-password", { userId: id, email, lifetimeMs });
    const link = `${config.baseUrl}/reset-password?token=${token}`;
    return { statements, link, returnedLink: delivery === "link" ? link : undefined };
  }

  return {
    ...createAccountChanges({ ...services, lastAdmin }),
    byId,

    async byEmail(email) {
      const user = await users.byEmail(normalizeEmail(email));
      if (!user) throw userNotFound("email");
      return user;
    },

    isAdmin: (user) => isAdminAccount(user, adminEmails),
    rampOf: (user) => rampOf(user, newAccountDays),

    hasAdmin: lastAdmin.hasAdmin,

    async beginRemoval(user, statements) {
      const disable = users.updateStatement(user.id, { disabledAt: user.disabledAt ?? Date.now() });
      await lastAdmin.write(user, [disable, ...statements]);
      users.invalidate(user.id);
    },

    async list({ query, status, limit, offset }) {
      const where = and(status && statusConditions[status], query ? matchesQuery(query) : undefined);
      // Both read all accounts, so they run on the addon's thread. Ids grow with time.
      const page = drizzle.select({ id: userTable.id }).from(userTable).where(where);
      const [found, counted] = await Promise.all([
        readLong(statement(page.orderBy(desc(userTable.id)).limit(limit).offset(offset))),
        readLong(statement(drizzle.select({ total: count() }).from(userTable).where(where))),
      ]);
      const rows = await drizzle
        .select()
        .from(userTable)
        .leftJoin(subscriptions, eq(subscriptions.userId, userTable.id))
        .where(
          inArray(
            userTable.id,
            found.map((row) => String(row[0])),
          ),
        )
        .orderBy(desc(userTable.id));
      const accounts = rows.map(({ users: user, subscriptions: subscription }) => ({
        ...user,
        notifications: JSON.parse(user.notifications) as User["notifications"],
        subscription,
      }));
      return { users: accounts, total: Number(counted[0]?.[0] ?? 0) };
    },

    async countCredentials(userId) {
      const now = Date.now();
      const sessions = and(eq(authSessions.userId, userId), gt(authSessions.expiresAt, now));
      const keys = and(eq(apiKeys.userId, userId), sql`coalesce(${apiKeys.expiresAt} > ${now}, true)`);
      const [[sessionCount], [keyCount]] = await Promise.all([
        drizzle.select({ total: count() }).from(authSessions).where(sessions),
        drizzle.select({ total: count() }).from(apiKeys).where(keys),
      ]);
      return { sessions: sessionCount?.total ?? 0, keys: keyCount?.total ?? 0 };
    },

    async create({ password, name, email, isAdmin = false, emailVerified = false }, auditStatement, inviteBy) {
      const account = { ...(await requireAccount({ email, name, password })), isAdmin, emailVerified };
      const passwordHash = password === undefined ? null : await passwords.hash(password);
      let link: string | undefined;
      const created = await users.create({ ...account, passwordHash }, (user) => {
        const statements: Statement[] = [];
        if (inviteBy) {
          const to = { ...user, locale: "en", notifications: {}, emailVerified };
          const issued = issuePasswordLink(user, inviteBy, inviteBy === "mail" ? HOUR : INVITATION_LIFETIME_MS);
          statements.push(...issued.statements);
          if (inviteBy === "mail") statements.push(...mails.resetPasswordStatements(to, issued.link));
          link = issued.returnedLink;
        }
        const details = { name: user.name, isAdmin, emailVerified, password: password !== undefined };
        return [...statements, auditStatement({ action: "user.create", user, details })];
      });
      return { user: await byId(created.id), ...(link !== undefined && { link }) };
    },

    async invite(email, auditStatement) {
      const { invitation, statements } = signUpPolicy.invite(email);
      if (await users.byEmail(invitation.email)) throw userExists();
      // There is no account yet.
      const user = { id: "", email: invitation.email };
      await database.write([...statements, auditStatement({ action: "user.invite", user, details: {} })]);
      return invitation;
    },

    async resetPassword(id, auditStatement, delivery) {
      const user = await byId(id);
      if (user.disabledAt !== null) {
        throw new AppError(409, "ACCOUNT_DISABLED", "This account is disabled. Enable it first.");
      }
      if (isInternalEmail(user.email)) {
        throw new AppError(409, "NO_MAILBOX", "This account has no mailbox: its owner signs in with a wallet.");
      }
      const { statements, link, returnedLink } = issuePasswordLink(user, delivery, HOUR);
      const mail = delivery === "mail" ? mails.resetPasswordStatements(user, link) : [];
      const audit = auditStatement({ action: "user.reset-password", user, details: { delivery } });
      await database.write([...statements, ...mail, audit]);
      return returnedLink;
    },

    async removeTwoFactor(id, auditStatement) {
      const user = await byId(id);
      const audit = auditStatement({ action: "user.two-factor-off", user, details: {} });
      try {
        await database.write([...twoFactor.removeStatements(id), ...mails.twoFactorRemovedStatements(user), audit]);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        throw new AppError(409, "TWO_FACTOR_OFF", "This account has no second factor.");
      }
    },
  };
}

/** Ignores the case of ASCII letters; addresses are stored in lower case, so theirs never matters. */
function matchesQuery(query: string): SQL {
  const part = (text: string) => `%${text.replace(/[\\%_]/g, "\\$&")}%`;
  const name = query.trim().normalize("NFC");
  return sql`(${userTable.email} LIKE ${part(normalizeEmail(query))} ESCAPE '\\' OR ${userTable.name} LIKE ${part(name)} ESCAPE '\\')`;
}
