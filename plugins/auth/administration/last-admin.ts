// Keeps at least one admin who can act, in this cell or in another.
//
// A change that takes the rights of the last admin of a cell is made while the cell holds a name in the directory of cell 0, and after
// another cell has said that it has an admin. Two cells can't hold the name at once: the directory gives it away only after it has
// asked the cell that holds it, which says no until its change is written. So what the other cell has said stays true: its own last
// admin can't go before this change is over. A killed cell leaves the name reserved for ten minutes, in which such changes are refused.
import { and, ne, sql } from "drizzle-orm";
import { type Cells, NameTaken } from "../../../src/kernel/cells/cells.ts";
import { GuardFailed, guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { users as userTable } from "../schema.ts";
import { adminSettings } from "../settings.ts";
import type { User } from "../users.ts";
import { adminCondition, isAdminAccount, isWorking, lastAdminError } from "./admin-accounts.ts";

export const LAST_ADMIN = "last-admin";
/** Held by the cell that takes the rights of its last admin. */
const NAME = { kind: "last-admin", name: "" };
const QUESTION = "auth.has-admin";
/** The name is free again a moment after the change. */
const ATTEMPTS = 20;
const PAUSE_MS = 100;

export interface LastAdmin {
  /** Whether this cell, or another that answers, has an admin who is neither disabled nor frozen. */
  hasAdmin(): Promise<boolean>;
  isWorkingAdmin(user: User): boolean;
  /** Writes statements after which this account is no working admin. Throws 409 `LAST_ADMIN` if no admin would be left anywhere. */
  write(user: User, statements: readonly Statement[]): Promise<void>;
  /**
   * Makes a change whose statements are those of `requireAnotherStatements`, with what it is given. Throws 409 `LAST_ADMIN` if no
   * admin would be left anywhere, and 409 `ACCOUNT_CHANGING` while another cell makes such a change.
   */
  keepOne<T>(change: (isKeptElsewhere: boolean) => Promise<T>): Promise<T>;
  /**
   * For a change after which the account is no working admin: aborts the batch with GuardFailed `last-admin` if this cell has no
   * other. None if the account is no admin now, or if another cell keeps one.
   */
  requireAnotherStatements(user: User, isKeptElsewhere: boolean): Statement[];
}

export function createLastAdmin({ config, database, cells }: Pick<Kernel, "config" | "database" | "cells">): LastAdmin {
  const { emails: adminEmails } = config.of(adminSettings);
  const { drizzle } = database;

  async function hasAdminHere(): Promise<boolean> {
    const workingAdmin = and(isWorking, adminCondition(adminEmails));
    return (await drizzle.select({ id: userTable.id }).from(userTable).where(workingAdmin).limit(1)).length > 0;
  }

  cells?.registerNames(NAME.kind, async () => false);
  cells?.answer(QUESTION, async () => JSON.stringify(await hasAdminHere()));

  const askOthers = ({ others, ask }: Cells) =>
    Promise.allSettled(others.map(async (cell) => JSON.parse(await ask(cell, QUESTION, "")) === true));

  /** Throws 503 if no cell has one and one can't be asked. */
  async function hasAdminElsewhere(all: Cells): Promise<boolean> {
    const answers = await askOthers(all);
    if (answers.some((answer) => answer.status === "fulfilled" && answer.value)) return true;
    const unknown = answers.find((answer) => answer.status === "rejected");
    if (unknown) throw unknown.reason;
    return false;
  }

  /** What it throws is thrown after the name is free again, which a failed write would keep. */
  async function alone<T>(all: Cells, change: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        const [outcome] = await all.using([NAME], () => Promise.allSettled([change()]));
        if (outcome?.status === "fulfilled") return outcome.value;
        throw outcome?.reason;
      } catch (error) {
        if (!(error instanceof NameTaken)) throw error;
        if (attempt === ATTEMPTS) throw changingError();
        await Bun.sleep(PAUSE_MS);
      }
    }
  }

  const isWorkingAdmin = (user: User) =>
    user.disabledAt === null && user.frozenAt === null && isAdminAccount(user, adminEmails);

  async function keepOne<T>(change: (isKeptElsewhere: boolean) => Promise<T>): Promise<T> {
    try {
      return await change(false);
    } catch (error) {
      if (!cells || !(error instanceof AppError && error.code === "LAST_ADMIN")) throw error;
      return alone(cells, async () => {
        if (!(await hasAdminElsewhere(cells))) throw lastAdminError();
        return change(true);
      });
    }
  }

  function requireAnotherStatements(user: User, isKeptElsewhere: boolean): Statement[] {
    if (isKeptElsewhere || !isWorkingAdmin(user)) return [];
    const others = and(ne(userTable.id, user.id), isWorking, adminCondition(adminEmails));
    const unchanged = { isAdmin: sql`${userTable.isAdmin}` };
    return [statement(drizzle.update(userTable).set(unchanged).where(others)), guard(LAST_ADMIN)];
  }

  return {
    isWorkingAdmin,

    async hasAdmin() {
      if (await hasAdminHere()) return true;
      return cells !== undefined && (await askOthers(cells)).some((one) => one.status === "fulfilled" && one.value);
    },

    async write(user, statements) {
      await keepOne(async (isKeptElsewhere) => {
        try {
          await database.write([...requireAnotherStatements(user, isKeptElsewhere), ...statements]);
        } catch (error) {
          throw error instanceof GuardFailed && error.guard === LAST_ADMIN ? lastAdminError() : error;
        }
      });
    },

    keepOne,
    requireAnotherStatements,
  };
}

const changingError = () =>
  new AppError(409, "ACCOUNT_CHANGING", "This account is being changed by others. Try again.");
