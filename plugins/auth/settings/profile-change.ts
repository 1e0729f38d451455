// Changes the name, email address and notification settings of a user.
import { sql } from "drizzle-orm";
import { NameTaken, usingNames } from "../../../src/kernel/cells/cells.ts";
import { GuardFailed, guard, isUniqueViolation } from "../../../src/kernel/database/database.ts";
import { AppError, type Issue, invalidInput, unauthorized } from "../../../src/kernel/errors.ts";
import type { AuthServices } from "../auth-services.ts";
import { emailName } from "../cells/account-names.ts";
import { normalizeEmail, requireEmail } from "../email.ts";
import { users as userTable } from "../schema.ts";
import type { EmailVerification } from "../sign-up/email-verification.ts";
import type { PresentedCode } from "../two-factor/two-factor.ts";
import { NOTIFICATION_TOPICS, type User } from "../users.ts";

export interface ProfileChange {
  /** An empty name becomes the email address, as at sign-up. */
  name?: string | undefined;
  email?: string | undefined;
  /** An object of booleans by topic; omitted topics stay unchanged. Unvalidated. */
  notifications?: unknown;
  /** The code of the second factor, required for a new address if two-factor is on. */
  presentedCode?: PresentedCode | undefined;
}

/**
 * Changes the given fields and returns the updated user. Throws 400 `INVALID_EMAIL` or `INVALID_INPUT` (an unknown
 * notification), 409 `EMAIL_IN_USE`, 401 if the account was deleted in the meantime, and for a new address the errors
 * of `TwoFactor.verifyIfEnabled`.
 *
 * A new address is unverified: it receives a verification link, the old address a notice, and open reset links end. If
 * nothing differs, nothing is written and no event recorded.
 */
export type ChangeProfile = (userId: string, change: ProfileChange) => Promise<User>;

const NO_CODE: PresentedCode = { code: undefined, from: "" };

type Deps = Pick<AuthServices, "users" | "oneTimeLinks" | "mails" | "twoFactor" | "auditStatement"> &
  Pick<AuthServices["kernel"], "database" | "events" | "cells"> & {
    verification: Pick<EmailVerification, "sendLinkStatements">;
  };

export function createProfileChange(deps: Deps): ChangeProfile {
  const { users, oneTimeLinks, mails, twoFactor, database, events, cells, verification, auditStatement } = deps;

  /**
   * Writes one batch. It aborts if the address has changed, or for a new address the second factor, since they were
   * read.
   */
  function writeChange(
    current: User,
    next: User,
    notificationChanges: object,
    presentedCode: PresentedCode,
  ): Promise<unknown> {
    const { id, name, email, plan } = next;
    const isNewEmail = email !== current.email;
    // Only changed columns are written, so that a concurrent change of another column is kept.
    const fields = {
      ...(name !== current.name && { name }),
      ...(isNewEmail && { email, emailVerified: false }),
      notifications: sql`json_patch(${userTable.notifications}, ${JSON.stringify(notificationChanges)})`,
    };
    const createdAt = new Date(next.createdAt).toISOString();
    const expected = { email: current.email, ...(isNewEmail && { twoFactorEnabled: current.twoFactorEnabled }) };
    const statements = [
      users.updateStatement(id, fields, expected),
      guard("user"),
      events.recordStatement("user.updated", { userId: id, data: { id, email, name, plan, createdAt } }),
    ];
    if (!isNewEmail) return database.write(statements);
    statements.push(
      oneTimeLinks.revokeStatement("reset-password", id),
      ...mails.emailChangedStatements(current, email),
      ...verification.sendLinkStatements(next),
      auditStatement(next, "email", { email: { from: current.email, to: email } }),
    );
    // The address gives access by password reset, so changing it requires the second factor like a sign-in.
    return usingNames(cells, [emailName(email)], () => twoFactor.verifyIfEnabled(id, presentedCode, statements));
  }

  return async function change(userId, requested) {
    const notifications = requested.notifications === undefined ? {} : requireNotifications(requested.notifications);
    for (;;) {
      const current = await users.byId(userId);
      if (!current) throw unauthorized();
      const next = {
        ...current,
        ...resolveNameAndEmail(current, requested),
        notifications: { ...current.notifications, ...notifications },
      };
      if (Bun.deepEquals(next, current)) return current;
      try {
        await writeChange(current, next, notifications, requested.presentedCode ?? NO_CODE);
      } catch (error) {
        if (isUniqueViolation(error, "users.email") || error instanceof NameTaken) {
          throw new AppError(409, "EMAIL_IN_USE", "Another account has this email address.");
        }
        if (!(error instanceof GuardFailed)) throw error;
        users.invalidate(userId);
      }
    }
  };
}

/** The resulting name and address. If the name was the old address, it becomes the new one. */
function resolveNameAndEmail(current: User, requested: ProfileChange): Pick<User, "name" | "email" | "emailVerified"> {
  const isSameEmail = requested.email === undefined || normalizeEmail(requested.email) === current.email;
  const email = isSameEmail ? current.email : requireEmail(requested.email ?? "");
  const name = requested.name === undefined ? current.name : requested.name.trim().normalize("NFC");
  return {
    email,
    name: name === "" || (requested.name === undefined && name === current.email) ? email : name,
    emailVerified: isSameEmail && current.emailVerified,
  };
}

function requireNotifications(input: unknown): Readonly<Record<string, boolean>> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw invalidInput({ path: "notifications", message: "Give notifications as an object of booleans." });
  }
  const known: readonly string[] = NOTIFICATION_TOPICS;
  const topics: Record<string, boolean> = {};
  const issues: Issue[] = [];
  for (const [key, value] of Object.entries(input)) {
    const path = `notifications.${key}`;
    if (!known.includes(key)) {
      issues.push({ path, message: `Unknown notification. Use one of ${NOTIFICATION_TOPICS.join(", ")}.` });
    } else if (typeof value !== "boolean") issues.push({ path, message: "Give true or false." });
    else topics[key] = value;
  }
  if (issues.length > 0) throw invalidInput(issues);
  return topics;
}
