// Which accounts are admins, and why one can't be made an ordinary account.
import { and, eq, inArray, isNull, or } from "drizzle-orm";
import { AppError } from "../../../src/kernel/errors.ts";
import { users as userTable } from "../schema.ts";
import type { User } from "../users.ts";

/** Whether ADMIN_EMAILS makes the account an admin; only a verified address counts. */
export const isConfiguredAdmin = ({ email, emailVerified }: User, adminEmails: readonly string[]) =>
  emailVerified && adminEmails.includes(email);

/** Whether the account is an admin on every request, also from other machines. */
export const isAdminAccount = (user: User, adminEmails: readonly string[]) =>
  user.isAdmin || user.adminByGroup || isConfiguredAdmin(user, adminEmails);

/** An account that can do what its rights allow: neither disabled nor frozen. */
export const isWorking = and(isNull(userTable.disabledAt), isNull(userTable.frozenAt));

/** `isAdminAccount` as an SQL condition. */
export const adminCondition = (adminEmails: readonly string[]) =>
  or(
    eq(userTable.isAdmin, true),
    eq(userTable.adminByGroup, true),
    and(eq(userTable.emailVerified, true), inArray(userTable.email, [...adminEmails])),
  );

export const lastAdminError = () =>
  new AppError(409, "LAST_ADMIN", "This is the last admin. Make another account an admin first.");

export const adminByConfigurationError = () =>
  new AppError(
    409,
    "ADMIN_BY_CONFIGURATION",
    "This address is in ADMIN_EMAILS, which makes it an admin. Remove it there first.",
  );

export const adminByGroupError = () =>
  new AppError(
    409,
    "ADMIN_BY_GROUP",
    "A group at the provider of this account's sign-in makes it an admin. Take it out of that group; the change counts from its next sign-in on.",
  );
