// After an account was deleted: what the cells keep that it has left, so that its keys lead to it, has to go there too.
import type { Name } from "../../kernel/cells/cells.ts";
import type { Database, Statement } from "../../kernel/database/database.ts";
import type { CellCalls } from "../cells/cell-calls.ts";

const KEPT = `SELECT (SELECT count(*) FROM moving_accounts WHERE account_id = ?1) + (SELECT count(*) FROM moved_keys WHERE account_id = ?1) AS n`;
const FORGET = "DELETE FROM moving_accounts WHERE account_id = ? AND state IN ('left', 'here')";
const FORGET_PLACE = "DELETE FROM places WHERE kind = 'account' AND name = ?";
/** The directory asks the cell then: somebody else may use the name there by now. */
const DOUBT_NAME = "UPDATE places SET until = ?3 WHERE kind = ?1 AND name = ?2 AND cell = ?4 AND until IS NULL";

export interface DeletedAccount {
  account: string;
  /** The cell in which it was deleted. */
  from: number;
  /** What the directory has of it. */
  names: readonly Name[];
}

/** How many ids, names and hashes of tokens a cell keeps of an account. */
export async function countKept({ read }: Pick<Database, "read">, account: string): Promise<number> {
  return Number((await read(KEPT, [account])).rows[0]?.n);
}

export const forgetStatements = (here: number, { account, from, names }: DeletedAccount, now: number): Statement[] => [
  { sql: FORGET, args: [account] },
  ...(here === 0
    ? [
        { sql: FORGET_PLACE, args: [account] },
        ...names.map(({ kind, name }) => ({ sql: DOUBT_NAME, args: [kind, name, now, from] })),
      ]
    : []),
];

/** Asks all cells; each step may be repeated. */
export function createForgetting(count: () => number, call: CellCalls["call"]) {
  const ask = <Result>(cell: number, step: string, args: object) => call<Result>(cell, "account", { step, args });
  const all = () => Array.from({ length: count() }, (_, cell) => cell);
  return {
    /** How many ids, names and hashes of tokens the cells keep of an account, so that what it was given leads to it. */
    async countKept(account: string): Promise<number> {
      let kept = 0;
      for (const cell of all()) kept += await ask<number>(cell, "kept", { account });
      return kept;
    },
    /** Throws if a cell can't be reached. */
    async forgetAccount(deleted: DeletedAccount): Promise<void> {
      for (const cell of all()) await ask(cell, "forget", deleted);
    },
  };
}
