// Changes that administrators make to an account: built on what was read, undone and built again where that was outdated.
import { and, eq, inArray, isNull, ne, or, sql } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../../src/database.ts";
import { AppError, invalid, notFound } from "../../../src/errors.ts";
import { name as nameRule } from "../model.ts";
import type { AuthParts } from "../parts.ts";
import { subscriptions, users as table } from "../schema.ts";
import type { Deletion, Ending } from "../settings/deletion.ts";
import { isActive, type Plan, type Subscription, type User } from "../users.ts";

/** One thing that was done to an account, as an audit log tells it: `user.disable`, with what it was and what it is. */
export interface AccountChange {
  action: string;
  user: Pick<User, "id" | "email">;
  /** Of what has changed `{ field: { from, to } }`; never a secret. */
  details: Readonly<Record<string, unknown>>;
}

/** Gives what keeps a change; it is committed with the change or not at all. */
export type Recorder = (change: AccountChange) => Statement;

/** What an administrator changes field by field. */
export interface AccountFields {
  name: string;
  isAdmin: boolean;
  disabled: boolean;
  emailVerified: boolean;
  credits: number;
}

/** What is left out stays as it is. */
export type AccountUpdate = Partial<AccountFields>;

export type NewSubscription = Subscription & { plan: Plan };

/** Each throws 404 `USER_NOT_FOUND`, and 409 `ACCOUNT_CHANGING` where others never stop changing the same account. */
export interface AccountChanges {
  /**
   * Writes what differs, with one record for each kind of change; where nothing differs nothing is written. Disabling
   * ends every session and open reset link. Throws 409 `ADMIN_BY_CONFIGURATION` where an address in ADMIN_EMAILS would go on
   * being an admin, and with `keepAnAdmin` 409 `LAST_ADMIN` where nobody would be one.
   */
  update(id: string, wanted: AccountUpdate, record: Recorder, options: { keepAnAdmin: boolean }): Promise<User>;
  /** Gives a subscription in place of the one there was; its plan is the user's from now on. */
  subscribe(id: string, subscription: NewSubscription, record: Recorder): Promise<User>;
  /** Takes the subscription away; the plan is `free` from now on. */
  unsubscribe(id: string, record: Recorder): Promise<User>;
  /**
   * Ends an account as its owner's own deletion does, with all it throws. 409 `OWN_ACCOUNT` where somebody would end the
   * own one like this, and 409 `LAST_ADMIN` where nobody would be an admin.
   */
  remove(id: string, record: Recorder, ending: Ending): Promise<void>;
  /** Told, where the backend runs and at least once, of every account that was disabled. */
  onDisabled(listener: (userId: string) => Promise<void>): void;
}

const DISABLED = "auth.disabled";
const AS_READ = "as-read";
const LAST_ADMIN = "last-admin";
/** An account that was changed between reading and writing is read again, so often. */
const TRIES = 5;

type Deps = Pick<AuthParts, "kernel" | "users" | "sessions" | "links" | "mails"> & {
  deletion: Pick<Deletion, "remove">;
};

export function createAccountChanges(deps: Deps): AccountChanges {
  const { kernel, users, sessions, links, mails, deletion } = deps;
  const { config, database, events, jobs } = kernel;
  const { drizzle } = database;

  const listeners: ((userId: string) => Promise<void>)[] = [];
  jobs.handle(DISABLED, async (payload) => {
    const { userId } = payload as { userId: string };
    for (const listener of listeners) await listener(userId);
  });

  /** Reads, builds, writes; again where the guard `as-read` fails. What builds no statements changes nothing. */
  async function change(id: string, build: (was: User) => Statement[]): Promise<User> {
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const was = await users.byId(id);
      if (!was) throw noSuchUser("id");
      const statements = build(was);
      if (statements.length === 0) return was;
      try {
        await database.write(statements);
        users.forget(id);
        return (await users.byId(id)) ?? was;
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        if (error.guard === LAST_ADMIN) throw lastAdmin();
        users.forget(id);
      }
    }
    throw new AppError(409, "ACCOUNT_CHANGING", "This account is being changed by others. Try again.");
  }

  const isWorkingAdmin = (user: User) => user.disabledAt === null && isAdminOf(user, config.adminEmails);

  /** Aborts the batch where nobody else is an admin. */
  const requireAnotherAdmin = (id: string) => {
    const others = and(ne(table.id, id), isNull(table.disabledAt), adminsAmong(config.adminEmails));
    const touched = { isAdmin: sql`${table.isAdmin}` };
    return [statement(drizzle.update(table).set(touched).where(others)), guard(LAST_ADMIN)];
  };

  /** Writes all that can change here, while all of it is as it was. */
  function rewrite(was: User, { name, isAdmin, emailVerified, credits, disabledAt }: User): Statement[] {
    const same = and(
      eq(table.id, was.id),
      eq(table.name, was.name),
      eq(table.isAdmin, was.isAdmin),
      eq(table.emailVerified, was.emailVerified),
      eq(table.credits, was.credits),
      was.disabledAt === null ? isNull(table.disabledAt) : eq(table.disabledAt, was.disabledAt),
    );
    const row = { name, isAdmin, emailVerified, credits, disabledAt, updatedAt: Date.now() };
    const written = statement(drizzle.update(table).set(row).where(same));
    // Before anybody hears of it by an event or a job.
    return [{ ...written, after: () => users.forget(was.id) }, guard(AS_READ)];
  }

  /** Nobody is signed in any more, and what acts for the account is told to stop. */
  const shutOut = ({ id }: User) => [
    sessions.revokeAll(id),
    links.revoke("reset-password", id),
    jobs.enqueue(DISABLED, { userId: id }),
  ];

  function happened({ id, email, name, plan, createdAt }: User): Statement {
    const data = { id, email, name, plan, createdAt: new Date(createdAt).toISOString() };
    return events.record("user.updated", { userId: id, data });
  }

  /** The subscription that was read, as long as it is still the same. */
  const theSame = (userId: string, { plan, status, currentPeriodEnd }: Subscription) =>
    and(
      eq(subscriptions.userId, userId),
      eq(subscriptions.plan, plan),
      eq(subscriptions.status, status),
      eq(subscriptions.currentPeriodEnd, currentPeriodEnd),
    );

  return {
    update: (id, wanted, record, { keepAnAdmin }) =>
      change(id, (was) => {
        if (wanted.isAdmin === false && isConfigured(was, config.adminEmails)) throw adminByConfiguration();
        const before = fieldsOf(was);
        const after = { ...before, ...wanted };
        if (wanted.name !== undefined) after.name = requireName(wanted.name, was.email);
        const changed = FIELDS.filter((field) => after[field] !== before[field]);
        if (changed.length === 0) return [];
        const { disabled, ...others } = after;
        const is: User = { ...was, ...others, disabledAt: disabled ? (was.disabledAt ?? Date.now()) : null };
        const told = (action: string, fields: (keyof AccountFields)[]) =>
          record({
            action,
            user: was,
            details: Object.fromEntries(fields.map((field) => [field, { from: before[field], to: after[field] }])),
          });
        return [
          ...(keepAnAdmin && isWorkingAdmin(was) && !isWorkingAdmin(is) ? requireAnotherAdmin(id) : []),
          ...rewrite(was, is),
          ...(disabled && !before.disabled ? shutOut(was) : []),
          happened(is),
          ...[...Map.groupBy(changed, (field) => actionOf(field, after[field]))].map(([action, of]) =>
            told(action, of),
          ),
        ];
      }),

    subscribe: (id, subscription, record) =>
      change(id, (was) => {
        const { plan, status, currentPeriodEnd } = subscription;
        const row = { plan, status, currentPeriodEnd, updatedAt: Date.now() };
        const write = was.subscription
          ? drizzle.update(subscriptions).set(row).where(theSame(id, was.subscription))
          : drizzle
              .insert(subscriptions)
              .values({ userId: id, ...row })
              .onConflictDoNothing();
        return [
          users.update(id, { plan }),
          guard(AS_READ),
          statement(write),
          guard(AS_READ),
          happened({ ...was, plan }),
          ...(isActive(subscription) ? mails.planChanged(was, plan, currentPeriodEnd) : []),
          record({ action: "subscription.set", user: was, details: replaced(was.subscription, subscription) }),
        ];
      }),

    unsubscribe: (id, record) =>
      change(id, (was) => {
        if (!was.subscription && was.plan === "free") return [];
        const { subscription } = was;
        const gone = subscription && statement(drizzle.delete(subscriptions).where(theSame(id, subscription)));
        return [
          users.update(id, { plan: "free" }),
          guard(AS_READ),
          ...(gone ? [gone, guard(AS_READ)] : []),
          happened({ ...was, plan: "free" }),
          record({ action: "subscription.remove", user: was, details: replaced(subscription, null) }),
        ];
      }),

    async remove(id, record, ending) {
      if (id === ending.by.user.id) throw ownAccount();
      const user = await users.byId(id);
      if (!user) throw noSuchUser("id");
      const { name, plan } = user;
      const statements = [
        ...(isWorkingAdmin(user) ? requireAnotherAdmin(id) : []),
        record({ action: "user.delete", user, details: { name, plan } }),
      ];
      const gone = await deletion.remove(user, ending, { statements, refusals: { [LAST_ADMIN]: lastAdmin } });
      if (!gone) throw noSuchUser("id");
    },

    onDisabled: (listener) => void listeners.push(listener),
  };
}

const FIELDS: readonly (keyof AccountFields)[] = ["name", "isAdmin", "disabled", "emailVerified", "credits"];

const fieldsOf = ({ name, isAdmin, emailVerified, credits, disabledAt }: User): AccountFields => ({
  name,
  isAdmin,
  disabled: disabledAt !== null,
  emailVerified,
  credits,
});

/** What changes somebody's power has a name of its own. */
function actionOf(field: keyof AccountFields, to: unknown): string {
  if (field === "disabled") return to ? "user.disable" : "user.enable";
  if (field === "isAdmin") return to ? "user.promote" : "user.demote";
  return "user.update";
}

const replaced = (from: Subscription | null, to: Subscription | null) => ({
  subscription: { from: from && readable(from), to: to && readable(to) },
});

const readable = ({ plan, status, currentPeriodEnd }: Subscription) => ({
  plan,
  status,
  currentPeriodEnd: new Date(currentPeriodEnd).toISOString(),
});

/** An admin by its address, while that is verified. */
const isConfigured = ({ email, emailVerified }: User, adminEmails: readonly string[]) =>
  emailVerified && adminEmails.includes(email);

/** Whether an account is an admin from wherever it signs in. */
export const isAdminOf = (user: User, adminEmails: readonly string[]) =>
  user.isAdmin || isConfigured(user, adminEmails);

/** The same as a condition. */
export const adminsAmong = (adminEmails: readonly string[]) =>
  or(eq(table.isAdmin, true), and(eq(table.emailVerified, true), inArray(table.email, [...adminEmails])));

/** The name as it is stored, by the rule of sign-up: an empty one becomes the address. 400 for what is not one line. */
export function requireName(text: string, email: string): string {
  const { maxLength = 0, pattern = "" } = nameRule;
  if (text.length > maxLength || !new RegExp(pattern).test(text)) {
    throw invalid({ path: "name", message: String(nameRule.error) });
  }
  return text.trim().normalize("NFC") || email;
}

export const noSuchUser = (by: "id" | "email") => notFound(`There is no account with this ${by}.`, "USER_NOT_FOUND");

const lastAdmin = () => new AppError(409, "LAST_ADMIN", "This is the last admin. Make somebody else an admin first.");

const ownAccount = () =>
  new AppError(409, "OWN_ACCOUNT", "This is your own account. Delete it in your settings, where you confirm it.");

const adminByConfiguration = () =>
  new AppError(
    409,
    "ADMIN_BY_CONFIGURATION",
    "This address is in ADMIN_EMAILS: it is an admin until it is taken out there.",
  );
