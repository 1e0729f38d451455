// Changes the password and ends every session; the caller gets a new one.
import { and, eq, isNull } from "drizzle-orm";
import { GuardFailed, guard, statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import type { AuthServices } from "../auth-services.ts";
import type { SessionIdentity } from "../identity.ts";
import { requirePassword } from "../password/passwords.ts";
import { users } from "../schema.ts";

export interface PasswordChange {
  /** Accounts without a password need a recent sign-in instead: see `Reauthenticate`. */
  currentPassword?: string | undefined;
  newPassword: string;
}

/**
 * Every session of the account ends, and the response sets the cookie of a new one. Open reset links end, and the owner
 * is notified by mail. Throws 400 `INVALID_PASSWORD` or `PASSWORD_TOO_COMMON`, then 401 `BAD_CREDENTIALS` or 403 `RECENT_SIGN_IN_REQUIRED`.
 */
export function createPasswordChange(services: AuthServices) {
  const {
    kernel,
    users: userService,
    passwords,
    sessions,
    oneTimeLinks,
    mails,
    reauthenticate,
    startSession,
    auditStatement,
  } = services;
  const { database } = kernel;

  return async (identity: SessionIdentity, request: Request, { currentPassword, newPassword }: PasswordChange) => {
    await requirePassword(newPassword, { field: "newPassword", email: identity.user.email });
    const { address, cookies } = contextOf(request);
    await reauthenticate(identity, currentPassword, address, { field: "currentPassword" });
    const { id, passwordHash: currentHash, twoFactorEnabled: twoFactor } = identity.user;
    const passwordHash = await passwords.hash(newPassword);
    const hashUnchanged = and(
      eq(users.id, id),
      currentHash === null ? isNull(users.passwordHash) : eq(users.passwordHash, currentHash),
    );
    const updateQuery = database.drizzle
      .update(users)
      .set({ passwordHash, updatedAt: Date.now() })
      .where(hashUnchanged);
    try {
      await database.write([
        statement(updateQuery),
        guard("password"),
        sessions.revokeAllStatement(id),
        oneTimeLinks.revokeStatement("reset-password", id),
        ...mails.passwordChangedStatements(identity.user),
        auditStatement(identity.user, "password"),
      ]);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
      throw new AppError(401, "BAD_CREDENTIALS", "The password was changed in the meantime. Sign in with the new one.");
    } finally {
      userService.invalidate(id);
    }
    // Authentication may have renewed the old session and queued its cookie.
    cookies.length = 0;
    await startSession(request, id, { passwordHash, twoFactor });
  };
}
