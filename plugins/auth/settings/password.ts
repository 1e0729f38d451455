// A new password: what the old one let in goes, but for the session that asks.
import { and, eq, isNull } from "drizzle-orm";
import { GuardFailed, guard, statement } from "../../../src/database.ts";
import { AppError, invalid } from "../../../src/errors.ts";
import { contextOf } from "../../../src/http.ts";
import type { OwnSession } from "../identity.ts";
import type { AuthParts } from "../parts.ts";
import { MAX_PASSWORD, MIN_PASSWORD } from "../password/passwords.ts";
import { users } from "../schema.ts";

export interface PasswordChange {
  /** See `Confirm` for accounts without one. */
  currentPassword?: string | undefined;
  newPassword: string;
}

/**
 * Every session of the account ends; the caller gets a new one on this answer. Open links to reset the password die, and
 * the owner is told. Throws 400 `INVALID_PASSWORD`, then 401 `BAD_CREDENTIALS` or 403 `RECENT_SIGN_IN_REQUIRED`.
 */
export function createPasswordChange(parts: AuthParts) {
  const { kernel, users: known, passwords, sessions, links, mails, confirm, startSession } = parts;
  const { database } = kernel;

  return async (identity: OwnSession, request: Request, { currentPassword, newPassword }: PasswordChange) => {
    requireNewPassword(newPassword);
    const { address, cookies } = contextOf(request);
    await confirm(identity, currentPassword, address, { field: "currentPassword" });
    const { id, passwordHash: old, twoFactorEnabled: twoFactor } = identity.user;
    const passwordHash = await passwords.hash(newPassword);
    const unchanged = and(eq(users.id, id), old === null ? isNull(users.passwordHash) : eq(users.passwordHash, old));
    const change = database.drizzle.update(users).set({ passwordHash, updatedAt: Date.now() }).where(unchanged);
    try {
      await database.write([
        statement(change),
        guard("password"),
        sessions.revokeAll(id),
        links.revoke("reset-password", id),
        ...mails.passwordChanged(identity.user),
      ]);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
      throw new AppError(401, "BAD_CREDENTIALS", "The password was changed meanwhile. Sign in with the new one.");
    } finally {
      known.forget(id);
    }
    // The old cookie may have been prolonged by this very request.
    cookies.length = 0;
    await startSession(request, id, { passwordHash, twoFactor });
  };
}

function requireNewPassword(password: string): void {
  const length = [...password].length;
  if (length >= MIN_PASSWORD && length <= MAX_PASSWORD) return;
  const message =
    length < MIN_PASSWORD ? `Use at least ${MIN_PASSWORD} characters.` : `Use at most ${MAX_PASSWORD} characters.`;
  throw invalid({ path: "newPassword", message }, "INVALID_PASSWORD");
}
