// Checks that copies of cells, which are made one after the other, have each account once: accounts may move in the meantime.
import { join } from "node:path";
import { remainsOf } from "../../cluster/accounts/cell-remains.ts";
import { type Connection, openReadOnly } from "../../kernel/database/connection.ts";

interface Copy {
  /** Accounts that are on their way. */
  areMoving: boolean;
  /** The cell to which each account went that has left this one. */
  left: ReadonlyMap<string, number>;
  /** Accounts that came from another cell. */
  come: readonly string[];
  has(account: string): boolean;
}

/** @param databases the paths of the copies within the folder, by the number of their cell */
export function hasEachAccountOnce(folder: string, databases: readonly string[]): boolean {
  const connections: Connection[] = [];
  try {
    const copies = databases.map((name) => {
      const connection = openReadOnly(join(folder, name), { immutable: true });
      connections.push(connection);
      return readCopy(connection);
    });
    const isSound = (copy: Copy) =>
      !copy.areMoving &&
      copy.come.every((account) => copies.every((other) => other === copy || !other.has(account))) &&
      [...copy.left].every(([account, to]) => copies[to]?.left.has(account) || copies[to]?.come.includes(account));
    // A cell that is closed gives cell 0 what it has.
    const hasGiven = (copy: Copy, cell: number) => copy.left.has(remainsOf(cell));
    const hasTaken = (cell: number) => copies[0]?.come.includes(remainsOf(cell)) === true;
    return copies.every((copy, cell) => isSound(copy) && hasGiven(copy, cell) === hasTaken(cell));
  } finally {
    for (const connection of connections) connection.close();
  }
}

function readCopy(connection: Connection): Copy {
  const query = (sql: string, args: string[] = []) => connection.run(sql, args).rows;
  const has = (account: string) => query("SELECT 1 FROM users WHERE id = ?", [account]).length > 0;
  // The service may be of a version whose accounts don't move.
  if (query("SELECT 1 FROM sqlite_schema WHERE name = 'moving_accounts'").length === 0)
    return { areMoving: false, left: new Map(), come: [], has };
  const rows = query("SELECT account_id, state, cell FROM moving_accounts");
  const underWay = query("SELECT 1 FROM account_moves LIMIT 1").length > 0;
  return {
    areMoving: underWay || rows.some(({ state }) => state === "leaving" || state === "arriving"),
    left: new Map(
      rows.filter(({ state }) => state === "left").map((row) => [String(row.account_id), Number(row.cell)]),
    ),
    come: rows.filter(({ state }) => state === "here").map((row) => String(row.account_id)),
    has,
  };
}
