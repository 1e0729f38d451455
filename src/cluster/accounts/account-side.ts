// What a cell does for a move, step by step, as the driver in cell 0 asks for it. Each step has the same effect twice.
import { createArrival } from "./arrival.ts";
import { isRemains, remainsOf } from "./cell-remains.ts";
import { countKept, type DeletedAccount, forgetStatements } from "./deleted-accounts.ts";
import { createDeparture } from "./departure.ts";
import { readKeys } from "./held-rows.ts";
import { type AccountSideDeps, forgetStatement } from "./moving-accounts.ts";

export type AccountSide = ReturnType<typeof createAccountSide>;

export function createAccountSide(deps: AccountSideDeps) {
  const { here, database, gate, call } = deps;
  return {
    ...createDeparture(deps),
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

    /** The first account of this cell that is none of these, and how many there are. */
    async accounts({ skip }: { skip: readonly string[] }): Promise<{ next: string | null; count: number }> {
      const [row] = (await database.read(NEXT_ACCOUNT, [JSON.stringify(skip)])).rows;
      return { next: typeof row?.next === "string" ? row.next : null, count: Number(row?.count) };
    },

    /** After another cell was closed: what says that an account is there is of one that was deleted there. */
    async forgetCell({ cell }: { cell: number }): Promise<void> {
      const sql = "DELETE FROM moving_accounts WHERE state = 'left' AND cell = ?";
      await database.write([{ sql, args: [cell] }]);
    },

    /** This cell was closed, and is open again. Cell 0 has heard meanwhile which accounts were deleted that had left it. */
    async reopen(): Promise<void> {
      const { rows } = await database.read("SELECT account_id AS id FROM moving_accounts WHERE state = 'left'");
      const accounts = rows.map(({ id }) => String(id)).filter((id) => !isRemains(id));
      const unknown = await call<string[]>(0, "account", { step: "unknown", args: { accounts } });
      await database.write([...unknown, remainsOf(here)].map(forgetStatement));
      await gate.refresh();
    },

    /** Those of which nothing is known here. */
    async unknown({ accounts }: { accounts: readonly string[] }): Promise<string[]> {
      return (await database.read(UNKNOWN, [JSON.stringify(accounts)])).rows.map(({ id }) => String(id));
    },

    /** Where the audit log is not as it was written. */
    auditBreaks: (_: object) => deps.auditBreaks(),

    /** How many ids, names and hashes of tokens this cell keeps of an account that has moved. */
    kept: ({ account }: { account: string }) => countKept(database, account),

    /** The account was deleted in the cell that had it. */
    async forget(deleted: DeletedAccount): Promise<void> {
      await database.write(forgetStatements(here, deleted, Date.now()));
      await gate.refresh();
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

const NEXT_ACCOUNT = `SELECT count(*) AS count, min(id) FILTER (WHERE id NOT IN (SELECT value FROM json_each(?1))) AS next FROM users`;
const UNKNOWN = `SELECT value AS id FROM json_each(?) WHERE value NOT IN (SELECT account_id FROM moving_accounts)
  AND value NOT IN (SELECT id FROM users) AND value NOT IN (SELECT name FROM places WHERE kind = 'account')`;
const RELOCATE = `INSERT INTO moving_accounts (account_id, state, cell)
  SELECT ?1, 'left', ?2 WHERE EXISTS (SELECT 1 FROM moved_keys WHERE key IN (SELECT value FROM json_each(?3)))
  ON CONFLICT (account_id) DO UPDATE SET cell = excluded.cell WHERE state = 'left'`;
const TAKE_KEYS = `UPDATE moved_keys SET account_id = ?1 WHERE key IN (SELECT value FROM json_each(?3))
  AND EXISTS (SELECT 1 FROM moving_accounts WHERE account_id = ?1 AND state = 'left' AND cell = ?2)`;
