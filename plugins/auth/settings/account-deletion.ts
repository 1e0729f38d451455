// Deletes accounts: hooks of other plugins clean up outside the database first, then one batch deletes the rows.
import { eq } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { AuthServices } from "../auth-services.ts";
import type { Identity } from "../identity.ts";
import { users } from "../schema.ts";
import type { User } from "../users.ts";

/** The identity that deletes the account, its owner or an admin, and the request. */
export interface DeletionRequest {
  by: Identity;
  request: Request;
}

/**
 * Removes what a plugin holds of this account outside the database, such as connected bots. May run more than once. The
 * statements it returns join the batch that deletes the account; their guards abort it if such state exists again.
 */
export type BeforeDeletion = (deletion: DeletionRequest & { user: User }) => Promise<Statement[]>;

/** Statements to write in the batch of the deletion, and the error for each of their guards by its name. */
export interface DeletionAdditions {
  statements: readonly Statement[];
  guardErrors: Readonly<Record<string, () => AppError>>;
}

export interface Deletion {
  /** Hooks run in the order of registration. If one throws, the deletion fails with its error. */
  registerHook(hook: BeforeDeletion): void;
  /**
   * Deletes the account permanently; false if it is gone already. After a crash or a failure the deletion can be
   * repeated. The ledger and the audit log keep their entries under the id of the account. Throws 409 `ACCOUNT_IN_USE`
   * if agents are created in it again and again between the hooks and the batch.
   */
  remove(user: User, deletionRequest: DeletionRequest, additions?: DeletionAdditions): Promise<boolean>;
}

/** A guard fails if something was created between the hooks and the batch, which rarely happens twice. */
const MAX_ATTEMPTS = 5;
const NO_ADDITIONS: DeletionAdditions = { statements: [], guardErrors: {} };

type Deps = Pick<AuthServices, "users" | "sessions" | "oneTimeLinks" | "mails"> &
  Pick<AuthServices["kernel"], "database" | "events">;

export function createDeletion({
  users: userService,
  sessions,
  oneTimeLinks,
  mails,
  database,
  events,
}: Deps): Deletion {
  const hooks: BeforeDeletion[] = [];

  /** Revokes sessions explicitly, so that listeners are notified; other rows go by cascade with the row of the user. */
  function deletionStatements(user: User, conditions: readonly Statement[]): Statement[] {
    const { id, email, name, plan } = user;
    const createdAt = new Date(user.createdAt).toISOString();
    return [
      ...conditions,
      sessions.revokeAllStatement(id),
      deleteIdempotencyKeysStatement(id),
      events.recordStatement("user.deleted", { userId: id, data: { id, email, name, plan, createdAt } }),
      ...mails.accountDeletedStatements(user),
      oneTimeLinks.orphanStatement(id),
      statement(database.drizzle.delete(users).where(eq(users.id, id))),
      guard("user"),
    ];
  }

  return {
    registerHook: (hook) => void hooks.push(hook),

    async remove(user, deletionRequest, { statements, guardErrors } = NO_ADDITIONS) {
      const { id } = user;
      for (let attempt = 1; ; attempt++) {
        const conditions: Statement[] = [...statements];
        for (const hook of hooks) conditions.push(...(await hook({ ...deletionRequest, user })));
        try {
          await database.write(deletionStatements(user, conditions));
          userService.invalidate(id);
          return true;
        } catch (error) {
          if (!(error instanceof GuardFailed)) throw error;
          userService.invalidate(id);
          if (!(await userService.byId(id))) return false;
          const refusal = guardErrors[error.guard];
          if (refusal) throw refusal();
          if (attempt === MAX_ATTEMPTS) {
            throw new AppError(409, "ACCOUNT_IN_USE", "Agents are still being created in this account. Try again.");
          }
        }
      }
    },
  };
}

/** Deletes the stored responses of this user's idempotency keys, whose scope starts with `user:<id> `. */
const deleteIdempotencyKeysStatement = (userId: string): Statement => ({
  sql: "DELETE FROM idempotency_keys WHERE scope > ? AND scope < ?",
  args: [`user:${userId} `, `user:${userId}!`],
});
