// What a cell does for a move, step by step, as the driver in cell 0 asks for it. Each step has the same effect twice.
import { join } from "node:path";
import { createArrival } from "./arrival.ts";
import { createDeparture } from "./departure.ts";
import { readKeys } from "./held-rows.ts";
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

    /** In the cell that has the account now: what was given out for it, by any cell. */
    keysOf: ({ account }: { account: string }) => readKeys(database, account),

    /**
     * In the cells that the account has left before, and in those that an agent has left whose account was another then: before it was
     * claimed.
     */
    async relocate({ account, to, keys }: { account: string; to: number; keys: readonly string[] }): Promise<void> {
      const args = [account, to, JSON.stringify(keys)];
      await database.write([
        { sql: RELOCATE, args },
        { sql: TAKE_KEYS, args },
      ]);
      await gate.refresh();
    },
  };
}

const RELOCATE = `INSERT INTO moving_accounts (account_id, state, cell)
  SELECT ?1, 'left', ?2 WHERE EXISTS (SELECT 1 FROM moved_keys WHERE key IN (SELECT value FROM json_each(?3)))
  ON CONFLICT (account_id) DO UPDATE SET cell = excluded.cell WHERE state = 'left'`;
const TAKE_KEYS = `UPDATE moved_keys SET account_id = ?1 WHERE key IN (SELECT value FROM json_each(?3))
  AND EXISTS (SELECT 1 FROM moving_accounts WHERE account_id = ?1 AND state = 'left' AND cell = ?2)`;
