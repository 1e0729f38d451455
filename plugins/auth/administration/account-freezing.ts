// Freezes accounts for admins: the owner can still read, export and delete; hooks of other plugins pause what acts for the account.
import { and, eq, isNotNull, isNull, sql } from "drizzle-orm";
import { guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { AuthServices } from "../auth-services.ts";
import { users as userTable } from "../schema.ts";
import type { User } from "../users.ts";
import type { AuditRecorder } from "./account-audit.ts";
import type { LastAdmin } from "./last-admin.ts";

/** Statements for the write that freezes an account for a reason, or ends that (null). */
type FrozenHook = (userId: string, reason: string | null) => Promise<Statement[]>;

export interface AccountFreezing {
  /**
   * Freezes an account for this reason, or ends that (null). A frozen one gets the new reason. Nothing is written if it is so
   * already. Throws 404
   * `USER_NOT_FOUND`; with `by`, the id of the admin, also 409 `OWN_ACCOUNT` for that account, and 409 `LAST_ADMIN` if no admin
   * would be left.
   */
  setFrozen(
    id: string,
    reason: string | null,
    auditStatement: AuditRecorder,
    options: { by: string | undefined },
  ): Promise<User>;
  /** Adds statements to that write. */
  onFrozen(hook: FrozenHook): void;
}

interface Deps extends Pick<AuthServices, "kernel" | "users" | "mails"> {
  changeAccount(id: string, build: (current: User) => Promise<Statement[]>): Promise<User>;
  lastAdmin: LastAdmin;
  /** The guard whose failure makes `changeAccount` build the change again. */
  unchangedGuard: string;
}

export function createAccountFreezing(deps: Deps): AccountFreezing {
  const { kernel, users, mails, changeAccount, lastAdmin, unchangedGuard } = deps;
  const { database, events } = kernel;
  const hooks: FrozenHook[] = [];

  /** Changes nothing; the guard after it fails if another admin was faster. */
  const sameStateStatements = ({ id, frozenAt, frozenReason }: User) => {
    const isSame =
      frozenAt === null
        ? isNull(userTable.frozenAt)
        : and(isNotNull(userTable.frozenAt), eq(userTable.frozenReason, frozenReason ?? ""));
    const unchanged = { frozenAt: sql`${userTable.frozenAt}` };
    const touch = database.drizzle
      .update(userTable)
      .set(unchanged)
      .where(and(eq(userTable.id, id), isSame));
    return [statement(touch), guard(unchangedGuard)];
  };

  return {
    setFrozen: (id, reason, auditStatement, { by }) =>
      lastAdmin.keepOne((isKeptElsewhere) =>
        changeAccount(id, async (current) => {
          const isFreeze = reason !== null;
          if (isFreeze && id === by) throw ownFreezeError();
          const isSame = isFreeze ? current.frozenReason === reason : current.frozenAt === null;
          if (isSame) return [];
          const { email, name, plan, createdAt } = current;
          const data = { id, email, name, plan, createdAt: new Date(createdAt).toISOString() };
          const details = isFreeze ? { reason } : {};
          return [
            ...(isFreeze && by !== undefined ? lastAdmin.requireAnotherStatements(current, isKeptElsewhere) : []),
            ...sameStateStatements(current),
            users.updateStatement(id, {
              frozenAt: isFreeze ? (current.frozenAt ?? Date.now()) : null,
              frozenReason: reason,
            }),
            ...(await Promise.all(hooks.map((hook) => hook(id, reason)))).flat(),
            events.recordStatement(isFreeze ? "user.frozen" : "user.unfrozen", {
              userId: id,
              data: { ...data, ...details },
            }),
            // A new reason for the same freeze is in the console.
            ...(isFreeze && current.frozenAt !== null ? [] : mails.frozenStatements(current, reason)),
            auditStatement({ action: isFreeze ? "user.freeze" : "user.unfreeze", user: current, details }),
          ];
        }),
      ),

    onFrozen: (hook) => void hooks.push(hook),
  };
}

const ownFreezeError = () => new AppError(409, "OWN_ACCOUNT", "This is your own account. Another admin can freeze it.");
