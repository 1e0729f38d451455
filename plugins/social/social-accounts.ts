// Which account a fid belongs to: one fid an account, one account a fid.
import { type Database, GuardFailed, guard, type Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";

export interface SocialLink {
  fid: string;
  /** Epoch ms. */
  linkedAt: number;
}

export interface SocialAccounts {
  /** In place of the fid that the account may have, with `also`. Throws 409 `SOCIAL_IN_USE` when the fid is another account's. */
  link(fid: string, userId: string, extraStatements?: readonly Statement[]): Promise<SocialLink>;
  /** Takes the fid off this user; changes no row when there is none. */
  unlinkStatement(userId: string): Statement;
  /** The user whose fid this is. */
  findUserId(fid: string): Promise<string | undefined>;
  find(userId: string): Promise<SocialLink | undefined>;
}

export function createSocialAccounts(database: Pick<Database, "read" | "write">): SocialAccounts {
  async function find(userId: string): Promise<SocialLink | undefined> {
    const sql = "SELECT fid, created_at FROM social_accounts WHERE user_id = ?";
    const [row] = (await database.read(sql, [userId])).rows;
    return row && { fid: String(row.fid), linkedAt: Number(row.created_at) };
  }

  return {
    find,
    unlinkStatement: (userId) => ({ sql: "DELETE FROM social_accounts WHERE user_id = ?", args: [userId] }),

    async link(fid, userId, extraStatements = []) {
      const linkedAt = Date.now();
      try {
        await database.write([
          { sql: "DELETE FROM social_accounts WHERE user_id = ? AND fid <> ?", args: [userId, fid] },
          {
            sql: `INSERT INTO social_accounts (fid, user_id, created_at) VALUES (?, ?, ?)
              ON CONFLICT (fid) DO UPDATE SET fid = fid WHERE user_id = excluded.user_id`,
            args: [fid, userId, linkedAt],
          },
          guard("fid"),
          ...extraStatements,
        ]);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        throw new AppError(
          409,
          "SOCIAL_IN_USE",
          "This identity is linked to another account. Take it off there first.",
        );
      }
      return (await find(userId)) ?? { fid, linkedAt };
    },

    async findUserId(fid) {
      const [row] = (await database.read("SELECT user_id FROM social_accounts WHERE fid = ?", [fid])).rows;
      return row && String(row.user_id);
    },
  };
}
