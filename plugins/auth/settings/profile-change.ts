// What users change of themselves: name, email address, and what they want to be told.
import { sql } from "drizzle-orm";
import { GuardFailed, guard, isUniqueViolation } from "../../../src/kernel/database/database.ts";
import { AppError, type Issue, invalidInput, unauthorized } from "../../../src/kernel/errors.ts";
import type { AuthServices } from "../auth-services.ts";
import { normalizeEmail, requireEmail } from "../email.ts";
import { users as userTable } from "../schema.ts";
import type { EmailVerification } from "../sign-up/email-verification.ts";
import type { PresentedCode } from "../two-factor/two-factor.ts";
import { NOTIFICATION_TOPICS, type User } from "../users.ts";

export interface ProfileChange {
  /** An empty one becomes the email, as at sign-up. */
  name?: string | undefined;
  email?: string | undefined;
  /** An object of booleans; those left out stay. */
  notifications?: unknown;
  /** For a new address, with two-factor on. */
  presentedCode?: PresentedCode | undefined;
}

/**
 * Changes what is given and gives back the user as it is then. Throws 400 `INVALID_EMAIL` or `INVALID_INPUT` (a
 * notification that there is not), 409 `EMAIL_IN_USE`, 401 when the account has gone meanwhile; for a new address also what
 * `TwoFactor.admit` throws.
 *
 * A new address starts unverified: it gets the link to verify it, the old one is told, and open links to reset the
 * password die. What is the same already is no change, and no event.
 */
export type ChangeProfile = (userId: string, change: ProfileChange) => Promise<User>;

const NO_CODE: PresentedCode = { code: undefined, from: "" };

type Deps = Pick<AuthServices, "users" | "oneTimeLinks" | "mails" | "twoFactor"> &
  Pick<AuthServices["kernel"], "database" | "events"> & {
    verification: Pick<EmailVerification, "sendLinkStatements">;
  };

export function createProfileChange(deps: Deps): ChangeProfile {
  const { users, oneTimeLinks, mails, twoFactor, database, events, verification } = deps;

  /** In one batch, unless the address or, where that changes, the second factor was changed meanwhile. */
  function writeChange(
    current: User,
    next: User,
    notificationChanges: object,
    presentedCode: PresentedCode,
  ): Promise<unknown> {
    const { id, name, email, plan } = next;
    const isNewEmail = email !== current.email;
    // What does not change is not written: another request may be changing just that.
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
    );
    // Whoever has the address can have the account: the second factor guards that as it guards a sign-in.
    return twoFactor.verifyIfEnabled(id, presentedCode, statements);
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
        if (isUniqueViolation(error, "users.email")) {
          throw new AppError(409, "EMAIL_IN_USE", "Another account has this email address.");
        }
        if (!(error instanceof GuardFailed)) throw error;
        users.invalidate(userId);
      }
    }
  };
}

/** The name and address that are wanted; whose name is only its address, keeps it so. */
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
    throw invalidInput({ path: "notifications", message: "Notifications are an object of true and false." });
  }
  const known: readonly string[] = NOTIFICATION_TOPICS;
  const topics: Record<string, boolean> = {};
  const issues: Issue[] = [];
  for (const [key, value] of Object.entries(input)) {
    const path = `notifications.${key}`;
    if (!known.includes(key)) {
      issues.push({ path, message: `There is no such notification. There are ${NOTIFICATION_TOPICS.join(", ")}.` });
    } else if (typeof value !== "boolean") issues.push({ path, message: "Say true or false." });
    else topics[key] = value;
  }
  if (issues.length > 0) throw invalidInput(issues);
  return topics;
}
