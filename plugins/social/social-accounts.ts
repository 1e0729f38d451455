// Links fids to accounts, one to one: each fid has at most one account, each account at most one fid.
import { NameTaken, usingNames } from "../../src/kernel/cells/cells.ts";
import { type Database, GuardFailed, guard, type Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";

export interface SocialLink {
  fid: string;
  /** Epoch ms. */
  linkedAt: number;
}

export interface SocialAccounts {
  /**
   * Links the fid to the account, replaces the account's former fid, and runs `extraStatements` in the same batch.
   * Throws 409 `SOCIAL_IN_USE` if the fid is linked to another account.
   */
  link(fid: string, userId: string, extraStatements?: readonly Statement[]): Promise<SocialLink>;
  /** Unlinks the user's fid; changes no row if there is none. */
  unlinkStatement(userId: string): Statement;
  /** The id of the user this fid is linked to. */
  findUserId(fid: string): Promise<string | undefined>;
  find(userId: string): Promise<SocialLink | undefined>;
}

export function createSocialAccounts({
  database,
  cells,
}: Pick<Kernel, "cells"> & { database: Pick<Database, "read" | "write"> }): SocialAccounts {
  async function find(userId: string): Promise<SocialLink | undefined> {
    const sql = "SELECT fid, created_at FROM social_accounts WHERE user_id = ?";
    const [row] = (await database.read(sql, [userId])).rows;
    return row && { fid: String(row.fid), linkedAt: Number(row.created_at) };
  }

  async function findUserId(fid: string): Promise<string | undefined> {
    const [row] = (await database.read("SELECT user_id FROM social_accounts WHERE fid = ?", [fid])).rows;
    return row && String(row.user_id);
  }
  cells?.registerNames("social", async (fid) => (await findUserId(fid)) !== undefined);

  return {
    find,
    findUserId,
    unlinkStatement: (userId) => ({ sql: "DELETE FROM social_accounts WHERE user_id = ?", args: [userId] }),

    async link(fid, userId, extraStatements = []) {
      const linkedAt = Date.now();
      try {
        await usingNames(cells, [{ kind: "social", name: fid }], () =>
          database.write([
            { sql: "DELETE FROM social_accounts WHERE user_id = ? AND fid <> ?", args: [userId, fid] },
            {
              sql: `INSERT INTO social_accounts (fid, user_id, created_at) VALUES (?, ?, ?)
                ON CONFLICT (fid) DO UPDATE SET fid = fid WHERE user_id = excluded.user_id`,
              args: [fid, userId, linkedAt],
            },
            guard("fid"),
            ...extraStatements,
          ]),
        );
      } catch (error) {
        if (!(error instanceof GuardFailed || error instanceof NameTaken)) throw error;
        throw new AppError(409, "SOCIAL_IN_USE", "This identity is linked to another account. Unlink it there first.");
      }
      return (await find(userId)) ?? { fid, linkedAt };
    },
  };
}
