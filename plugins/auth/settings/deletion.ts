// The end of an account: first what other capabilities hold of it, then in one write all the rest.
import { eq } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../../src/database.ts";
import { AppError } from "../../../src/errors.ts";
import type { Identity } from "../identity.ts";
import type { AuthParts } from "../parts.ts";
import { users } from "../schema.ts";
import type { User } from "../users.ts";

/** In whose name an account is ended: its owner's, or an admin's. */
export interface Ending {
  by: Identity;
  request: Request;
}

/**
 * Takes away what a capability holds of this account outside its rows, such as bots that are connected. May run more than
 * once. The statements it gives back go into the write that ends the account, and undo it where something is back.
 */
export type BeforeDeletion = (ended: Ending & { user: User }) => Promise<Statement[]>;

/** What is written together with the end of an account, and what it means when a guard in there fails. */
export interface Along {
  statements: readonly Statement[];
  refusals: Readonly<Record<string, () => AppError>>;
}

export interface Deletion {
  /** Asked in the order of registration; what one throws is the answer, and the account stays. */
  before(hook: BeforeDeletion): void;
  /**
   * Ends the account for good. A kill or a failure on the way leaves an account that can be deleted again.
   * What was spent stays in the ledger and what was done in the audit, under an id that names nobody any more. False when the
   * account is gone already; throws 409 `ACCOUNT_IN_USE` where agents are made in it all the while.
   */
  remove(user: User, ending: Ending, along?: Along): Promise<boolean>;
}

/** Something may be made again between the hooks and the write, but hardly often. */
const ATTEMPTS = 5;
const ALONE: Along = { statements: [], refusals: {} };

type Deps = Pick<AuthParts, "users" | "sessions" | "links" | "mails"> &
  Pick<AuthParts["kernel"], "database" | "events">;

export function createDeletion({ users: known, sessions, links, mails, database, events }: Deps): Deletion {
  const hooks: BeforeDeletion[] = [];

  /** Sessions first, so that their listeners hear of it; the row takes all that names it along. */
  function end(user: User, conditions: readonly Statement[]): Statement[] {
    const { id, email, name, plan } = user;
    const createdAt = new Date(user.createdAt).toISOString();
    return [
      ...conditions,
      sessions.revokeAll(id),
      keptAnswers(id),
      events.record("user.deleted", { userId: id, data: { id, email, name, plan, createdAt } }),
      ...mails.accountDeleted(user),
      links.orphan(id),
      statement(database.drizzle.delete(users).where(eq(users.id, id))),
      guard("user"),
    ];
  }

  return {
    before: (hook) => void hooks.push(hook),

    async remove(user, ending, { statements, refusals } = ALONE) {
      const { id } = user;
      for (let attempt = 1; ; attempt++) {
        const conditions: Statement[] = [...statements];
        for (const hook of hooks) conditions.push(...(await hook({ ...ending, user })));
        try {
          await database.write(end(user, conditions));
          known.forget(id);
          return true;
        } catch (error) {
          if (!(error instanceof GuardFailed)) throw error;
          known.forget(id);
          if (!(await known.byId(id))) return false;
          const refusal = refusals[error.guard];
          if (refusal) throw refusal();
          if (attempt === ATTEMPTS) {
            throw new AppError(409, "ACCOUNT_IN_USE", "Agents are still being made in this account. Try again.");
          }
        }
      }
    },
  };
}

/** Answers kept for this user's Idempotency-Keys, whose scope starts with the user. */
const keptAnswers = (userId: string): Statement => ({
  sql: "DELETE FROM idempotency_keys WHERE scope > ? AND scope < ?",
  args: [`user:${userId} `, `user:${userId}!`],
});
