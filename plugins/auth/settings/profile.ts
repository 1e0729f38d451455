// What users change of themselves: name, email address, and what they want to be told.
import { sql } from "drizzle-orm";
import { GuardFailed, guard, isUniqueViolation } from "../../../src/database.ts";
import { AppError, type Issue, invalid, unauthorized } from "../../../src/errors.ts";
import { normalizeEmail, requireEmail } from "../email.ts";
import type { AuthParts } from "../parts.ts";
import { users as table } from "../schema.ts";
import type { EmailVerification } from "../sign-up/email-verification.ts";
import type { ShownCode } from "../two-factor/two-factor.ts";
import type { User } from "../users.ts";

/** What a user can turn off; everything is on at first. Contract §3. */
export const NOTIFICATIONS = ["agent", "billing", "security", "referral", "system"] as const;
export type Notification = (typeof NOTIFICATIONS)[number];

export interface ProfileChange {
  /** An empty one becomes the email, as at sign-up. */
  name?: string | undefined;
  email?: string | undefined;
  /** An object of booleans; those left out stay. */
  notifications?: unknown;
  /** For a new address, with two-factor on. */
  shown?: ShownCode | undefined;
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

const NOTHING: ShownCode = { code: undefined, from: "" };

type Deps = Pick<AuthParts, "users" | "links" | "mails" | "twoFactor"> &
  Pick<AuthParts["kernel"], "database" | "events"> & {
    verification: Pick<EmailVerification, "send">;
  };

export function createProfile(deps: Deps): ChangeProfile {
  const { users, links, mails, twoFactor, database, events, verification } = deps;

  /** In one batch, unless the address or, where that changes, the second factor was changed meanwhile. */
  function write(was: User, is: User, notified: object, shown: ShownCode): Promise<unknown> {
    const { id, name, email, plan } = is;
    const moved = email !== was.email;
    // What does not change is not written: another request may be changing just that.
    const fields = {
      ...(name !== was.name && { name }),
      ...(moved && { email, emailVerified: false }),
      notifications: sql`json_patch(${table.notifications}, ${JSON.stringify(notified)})`,
    };
    const createdAt = new Date(is.createdAt).toISOString();
    const having = { email: was.email, ...(moved && { twoFactorEnabled: was.twoFactorEnabled }) };
    const batch = [
      users.update(id, fields, having),
      guard("user"),
      events.record("user.updated", { userId: id, data: { id, email, name, plan, createdAt } }),
    ];
    if (!moved) return database.write(batch);
    batch.push(links.revoke("reset-password", id), ...mails.emailChanged(was, email), ...verification.send(is));
    // Whoever has the address can have the account: the second factor guards that as it guards a sign-in.
    return twoFactor.admit(id, shown, batch);
  }

  return async function change(userId, wanted) {
    const notifications = wanted.notifications === undefined ? {} : requireNotifications(wanted.notifications);
    for (;;) {
      const was = await users.byId(userId);
      if (!was) throw unauthorized();
      const is = { ...was, ...identityOf(was, wanted), notifications: { ...was.notifications, ...notifications } };
      if (Bun.deepEquals(is, was)) return was;
      try {
        await write(was, is, notifications, wanted.shown ?? NOTHING);
      } catch (error) {
        if (isUniqueViolation(error, "users.email")) {
          throw new AppError(409, "EMAIL_IN_USE", "Another account has this email address.");
        }
        if (!(error instanceof GuardFailed)) throw error;
        users.forget(userId);
      }
    }
  };
}

/** The name and address that are wanted; whose name is only its address, keeps it so. */
function identityOf(was: User, wanted: ProfileChange): Pick<User, "name" | "email" | "emailVerified"> {
  const same = wanted.email === undefined || normalizeEmail(wanted.email) === was.email;
  const email = same ? was.email : requireEmail(wanted.email ?? "");
  const name = wanted.name === undefined ? was.name : wanted.name.trim().normalize("NFC");
  return {
    email,
    name: name === "" || (wanted.name === undefined && name === was.email) ? email : name,
    emailVerified: same && was.emailVerified,
  };
}

function requireNotifications(given: unknown): Readonly<Record<string, boolean>> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw invalid({ path: "notifications", message: "Notifications are an object of true and false." });
  }
  const known: readonly string[] = NOTIFICATIONS;
  const wanted: Record<string, boolean> = {};
  const issues: Issue[] = [];
  for (const [key, value] of Object.entries(given)) {
    const path = `notifications.${key}`;
    if (!known.includes(key)) {
      issues.push({ path, message: `There is no such notification. There are ${NOTIFICATIONS.join(", ")}.` });
    } else if (typeof value !== "boolean") issues.push({ path, message: "Say true or false." });
    else wanted[key] = value;
  }
  if (issues.length > 0) throw invalid(issues);
  return wanted;
}
