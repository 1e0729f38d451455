// Changes that administrators make to an account. Uses optimistic concurrency: the batch aborts if the account has
// changed since it was read, and the change is built again.

import { and, eq, isNull } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../../src/kernel/errors.ts";
import type { AuthServices } from "../auth-services.ts";
import { isActiveSubscription } from "../plans/plan-table.ts";
import { subscriptions, users as userTable } from "../schema.ts";
import type { Deletion, DeletionRequest } from "../settings/account-deletion.ts";
import { adminSettings } from "../settings.ts";
import type { Subscription, User } from "../users.ts";
import type { AuditRecorder } from "./account-audit.ts";
import { type AccountFields, actionOf, FIELDS, fieldsOf, requireName } from "./account-fields.ts";
import { type AccountFreezing, createAccountFreezing } from "./account-freezing.ts";
import { adminByConfigurationError, adminByGroupError, isConfiguredAdmin, lastAdminError } from "./admin-accounts.ts";
import { LAST_ADMIN, type LastAdmin } from "./last-admin.ts";

/** Omitted fields stay unchanged. */
export type AccountUpdate = Partial<AccountFields>;

export type NewSubscription = Subscription;

/** Each throws 404 `USER_NOT_FOUND`, and 409 `ACCOUNT_CHANGING` if concurrent changes make every attempt fail. */
export interface AccountChanges extends AccountFreezing {
  /**
   * Writes the fields that differ, with one audit record per action; if nothing differs, nothing is written. Disabling
   * ends every session and open reset link. Throws 409 `ADMIN_BY_CONFIGURATION` for `isAdmin: false` if ADMIN_EMAILS
   * makes the account an admin anyway, 409 `ADMIN_BY_GROUP` if a group at its provider does, and with `keepAnAdmin` 409 `LAST_ADMIN` if no admin would be left.
   */
  update(
    id: string,
    requested: AccountUpdate,
    auditStatement: AuditRecorder,
    options: { keepAnAdmin: boolean },
  ): Promise<User>;
  /** Replaces the subscription, and sets the plan of the user to its plan. */
  setSubscription(id: string, subscription: NewSubscription, auditStatement: AuditRecorder): Promise<User>;
  /** Removes the subscription, and sets the plan of the user to `free`. */
  removeSubscription(id: string, auditStatement: AuditRecorder): Promise<User>;
  /**
   * Deletes an account with `Deletion.remove`, including its errors. Throws 409 `OWN_ACCOUNT` for the caller's own
   * account, and 409 `LAST_ADMIN` if no admin would be left.
   */
  remove(id: string, auditStatement: AuditRecorder, deletionRequest: DeletionRequest): Promise<void>;
  /** The listener runs as a job, in the process of the backend, at least once for every disabled account. */
  onDisabled(listener: (userId: string) => Promise<void>): void;
}

const DISABLED = "auth.disabled";
const UNCHANGED = "unchanged";
/** How often a change is tried if the account changes between read and write. */
const MAX_ATTEMPTS = 5;

type Deps = Pick<AuthServices, "kernel" | "users" | "sessions" | "oneTimeLinks" | "mails"> & {
  deletion: Pick<Deletion, "remove">;
  lastAdmin: LastAdmin;
};

export function createAccountChanges(deps: Deps): AccountChanges {
  const { kernel, users, sessions, oneTimeLinks, mails, deletion, lastAdmin } = deps;
  const { keepOne, isWorkingAdmin, requireAnotherStatements } = lastAdmin;
  const { config, database, events, jobs } = kernel;
  const { emails: adminEmails } = config.of(adminSettings);
  const { drizzle } = database;

  const listeners: ((userId: string) => Promise<void>)[] = [];
  jobs.handle(DISABLED, async (payload) => {
    const { userId } = payload as { userId: string };
    for (const listener of listeners) await listener(userId);
  });

  /**
   * Reads the account, builds statements and writes them; repeats it if a guard fails. No statements: nothing to
   * change.
   */
  async function changeAccount(
    id: string,
    build: (current: User) => Statement[] | Promise<Statement[]>,
  ): Promise<User> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const current = await users.byId(id);
      if (!current) throw userNotFound("id");
      const statements = await build(current);
      if (statements.length === 0) return current;
      try {
        await database.write(statements);
        users.invalidate(id);
        return (await users.byId(id)) ?? current;
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        if (error.guard === LAST_ADMIN) throw lastAdminError();
        users.invalidate(id);
      }
    }
    throw new AppError(409, "ACCOUNT_CHANGING", "This account is being changed by others. Try again.");
  }

  /** Writes all fields of `AccountFields`, if they still have the values that were read. */
  function updateUserStatements(
    current: User,
    { name, isAdmin, emailVerified, credits, limitsLifted, disabledAt }: User,
  ): Statement[] {
    const same = and(
      eq(userTable.id, current.id),
      eq(userTable.name, current.name),
      eq(userTable.isAdmin, current.isAdmin),
      eq(userTable.emailVerified, current.emailVerified),
      eq(userTable.credits, current.credits),
      eq(userTable.limitsLifted, current.limitsLifted),
      current.disabledAt === null ? isNull(userTable.disabledAt) : eq(userTable.disabledAt, current.disabledAt),
    );
    const row = { name, isAdmin, emailVerified, credits, limitsLifted, disabledAt, updatedAt: Date.now() };
    const updateStatement = statement(drizzle.update(userTable).set(row).where(same));
    // Invalidates in the commit, before listeners of the event or the job can read the user.
    return [{ ...updateStatement, after: () => users.invalidate(current.id) }, guard(UNCHANGED)];
  }

  /** Ends sessions and reset links, and enqueues the job that stops what runs for the account. */
  const disableStatements = ({ id }: User) => [
    sessions.revokeAllStatement(id),
    oneTimeLinks.revokeStatement("reset-password", id),
    jobs.enqueueStatement(DISABLED, { userId: id }),
  ];

  function userUpdatedStatement({ id, email, name, plan, createdAt }: User): Statement {
    const data = { id, email, name, plan, createdAt: new Date(createdAt).toISOString() };
    return events.recordStatement("user.updated", { userId: id, data });
  }

  /** Matches the subscription only if it is the one that was read. */
  const isSameSubscription = (userId: string, { plan, status, currentPeriodEnd }: Subscription) =>
    and(
      eq(subscriptions.userId, userId),
      eq(subscriptions.plan, plan),
      eq(subscriptions.status, status),
      eq(subscriptions.currentPeriodEnd, currentPeriodEnd),
    );

  return {
    update: (id, requested, auditStatement, { keepAnAdmin }) =>
      keepOne((isKeptElsewhere) =>
        changeAccount(id, (current) => {
          if (requested.isAdmin === false && isConfiguredAdmin(current, adminEmails)) throw adminByConfigurationError();
          if (requested.isAdmin === false && current.adminByGroup) throw adminByGroupError();
          const before = fieldsOf(current);
          const after = { ...before, ...requested };
          if (requested.name !== undefined) after.name = requireName(requested.name, current.email);
          const changed = FIELDS.filter((field) => after[field] !== before[field]);
          if (changed.length === 0) return [];
          const { disabled, ...others } = after;
          const next: User = {
            ...current,
            ...others,
            disabledAt: disabled ? (current.disabledAt ?? Date.now()) : null,
          };
          const auditFields = (action: string, fields: (keyof AccountFields)[]) =>
            auditStatement({
              action,
              user: current,
              details: Object.fromEntries(fields.map((field) => [field, { from: before[field], to: after[field] }])),
            });
          return [
            ...(keepAnAdmin && !isWorkingAdmin(next) ? requireAnotherStatements(current, isKeptElsewhere) : []),
            ...updateUserStatements(current, next),
            ...(disabled && !before.disabled ? disableStatements(current) : []),
            userUpdatedStatement(next),
            ...[...Map.groupBy(changed, (field) => actionOf(field, after[field]))].map(([action, fields]) =>
              auditFields(action, fields),
            ),
          ];
        }),
      ),

    setSubscription: (id, subscription, auditStatement) =>
      changeAccount(id, (current) => {
        const { plan, status, currentPeriodEnd } = subscription;
        const row = { plan, status, currentPeriodEnd, updatedAt: Date.now() };
        const write = current.subscription
          ? drizzle.update(subscriptions).set(row).where(isSameSubscription(id, current.subscription))
          : drizzle
              .insert(subscriptions)
              .values({ userId: id, ...row })
              .onConflictDoNothing();
        return [
          users.updateStatement(id, { plan }),
          guard(UNCHANGED),
          statement(write),
          guard(UNCHANGED),
          userUpdatedStatement({ ...current, plan }),
          ...(isActiveSubscription(subscription) ? mails.planChangedStatements(current, plan, currentPeriodEnd) : []),
          auditStatement({
            action: "subscription.set",
            user: current,
            details: subscriptionDetails(current.subscription, subscription),
          }),
        ];
      }),

    removeSubscription: (id, auditStatement) =>
      changeAccount(id, (current) => {
        if (!current.subscription && current.plan === "free") return [];
        const { subscription } = current;
        const deleteSubscriptionStatement =
          subscription && statement(drizzle.delete(subscriptions).where(isSameSubscription(id, subscription)));
        return [
          users.updateStatement(id, { plan: "free" }),
          guard(UNCHANGED),
          ...(deleteSubscriptionStatement ? [deleteSubscriptionStatement, guard(UNCHANGED)] : []),
          userUpdatedStatement({ ...current, plan: "free" }),
          auditStatement({
            action: "subscription.remove",
            user: current,
            details: subscriptionDetails(subscription, null),
          }),
        ];
      }),

    async remove(id, auditStatement, deletionRequest) {
      if (id === deletionRequest.by.user.id) throw ownAccountError();
      const user = await users.byId(id);
      if (!user) throw userNotFound("id");
      const { name, plan } = user;
      const record = auditStatement({ action: "user.delete", user, details: { name, plan } });
      const gone = await keepOne((isKeptElsewhere) =>
        deletion.remove(user, deletionRequest, {
          statements: [...requireAnotherStatements(user, isKeptElsewhere), record],
          guardErrors: { [LAST_ADMIN]: lastAdminError },
        }),
      );
      if (!gone) throw userNotFound("id");
    },

    ...createAccountFreezing({ ...deps, changeAccount, unchangedGuard: UNCHANGED }),

    onDisabled: (listener) => void listeners.push(listener),
  };
}

const subscriptionDetails = (from: Subscription | null, to: Subscription | null) => ({
  subscription: { from: from && toReadable(from), to: to && toReadable(to) },
});

const toReadable = ({ plan, status, currentPeriodEnd }: Subscription) => ({
  plan,
  status,
  currentPeriodEnd: new Date(currentPeriodEnd).toISOString(),
});

export const userNotFound = (by: "id" | "email") => notFound(`There is no account with this ${by}.`, "USER_NOT_FOUND");

const ownAccountError = () => new AppError(409, "OWN_ACCOUNT", "This is your own account. Delete it in your settings.");
