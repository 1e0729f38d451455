// The end of an account: first what other capabilities hold of it, then in one write all the rest.
import { eq } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { AuthServices } from "../auth-services.ts";
import type { Identity } from "../identity.ts";
import { users } from "../schema.ts";
import type { User } from "../users.ts";

/** In whose name an account is ended: its owner's, or an admin's. */
export interface DeletionRequest {
  by: Identity;
  request: Request;
}

/**
 * Takes away what a capability holds of this account outside its rows, such as bots that are connected. May run more than
 * once. The statements it gives back go into the write that ends the account, and undo it where something is back.
 */
export type BeforeDeletion = (deletion: DeletionRequest & { user: User }) => Promise<Statement[]>;

/** What is written together with the end of an account, and what it means when a guard in there fails. */
export interface DeletionAdditions {
  statements: readonly Statement[];
  guardErrors: Readonly<Record<string, () => AppError>>;
}

export interface Deletion {
  /** Asked in the order of registration; what one throws is the answer, and the account stays. */
  registerHook(hook: BeforeDeletion): void;
  /**
   * Ends the account for good. A kill or a failure on the way leaves an account that can be deleted again.
   * What was spent stays in the ledger and what was done in the audit, under an id that names nobody any more. False when the
   * account is gone already; throws 409 `ACCOUNT_IN_USE` where agents are made in it all the while.
   */
  remove(user: User, deletionRequest: DeletionRequest, additions?: DeletionAdditions): Promise<boolean>;
}

/** Something may be made again between the hooks and the write, but hardly often. */
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

  /** Sessions first, so that their listeners hear of it; the row takes all that names it along. */
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
            throw new AppError(409, "ACCOUNT_IN_USE", "Agents are still being made in this account. Try again.");
          }
        }
      }
    },
  };
}

/** Answers kept for this user's Idempotency-Keys, whose scope starts with the user. */
const deleteIdempotencyKeysStatement = (userId: string): Statement => ({
  sql: "DELETE FROM idempotency_keys WHERE scope > ? AND scope < ?",
  args: [`user:${userId} `, `user:${userId}!`],
});
