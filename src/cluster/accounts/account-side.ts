// What a cell does for a move, step by step, as the driver in cell 0 asks for it. Each step has the same effect twice.
import { join } from "node:path";
import { createArrival } from "./arrival.ts";
import { createDeparture } from "./departure.ts";
import type { AccountSideDeps } from "./moving-accounts.ts";

export type AccountSide = ReturnType<typeof createAccountSide>;

export function createAccountSide(deps: AccountSideDeps) {
  const { here, database, dataDir, gate } = deps;
  return {
    ...createDeparture(deps, (account) => join(dataDir, "moves", `${account}.out`)),
    ...createArrival(deps),

    /** Where something is that was given out here, if it is in another cell. */
    whereabouts: ({ keys }: { keys: readonly string[] }) =>
      gate
        .find(keys)
        .then((found) => (found === undefined || (found !== "moving" && found.cell === here) ? null : found)),

    /** The id of the account of this cell with an address. */
    async idOf({ email }: { email: string }): Promise<string | null> {
      const [row] = (await database.read("SELECT id FROM users WHERE email = ?", [email])).rows;
      return row ? String(row.id) : null;
    },

    /** In the cells that the account has left before. */
    async relocate({ account, to }: { account: string; to: number }): Promise<void> {
      const sql = "UPDATE moving_accounts SET cell = ? WHERE account_id = ? AND state = 'left'";
      await database.write([{ sql, args: [to, account] }]);
    },
  };
}
