// Tests that copies of cells are told apart from those between which an account has moved.
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDir } from "../../../tests/support/process.ts";
import { hasEachAccountOnce } from "./each-account-once.ts";

let dir: ReturnType<typeof temporaryDir>;
beforeEach(() => {
  dir = temporaryDir();
});
afterEach(() => dir.remove());

interface Cell {
  users: readonly string[];
  /** State and cell by account. */
  moving?: Readonly<Record<string, readonly [state: string, cell: number]>>;
  /** Moves under way that the first cell knows of. */
  underWay?: readonly string[];
}

let made = 0;

function check(...cells: readonly Cell[]): boolean {
  const names = cells.map(({ users, moving = {}, underWay = [] }) => {
    const name = `${++made}.db`;
    using database = new Database(join(dir.path, name));
    database.run("CREATE TABLE users (id TEXT PRIMARY KEY)");
    database.run("CREATE TABLE moving_accounts (account_id TEXT PRIMARY KEY, state TEXT, cell INTEGER)");
    database.run("CREATE TABLE account_moves (account_id TEXT PRIMARY KEY)");
    for (const id of users) database.run("INSERT INTO users VALUES (?)", [id]);
    for (const [id, [state, to]] of Object.entries(moving))
      database.run("INSERT INTO moving_accounts VALUES (?, ?, ?)", [id, state, to]);
    for (const id of underWay) database.run("INSERT INTO account_moves VALUES (?)", [id]);
    return name;
  });
  return hasEachAccountOnce(dir.path, names);
}

const left = (to: number) => ({ ada: ["left", to] }) as const;
const here = { ada: ["here", 0] } as const;

test("cells without moves, and after a move that is over, have each account once", () => {
  expect(check({ users: ["ada"] }, { users: ["ben"] })).toBe(true);
  expect(check({ users: [], moving: left(1) }, { users: ["ada", "ben"], moving: here })).toBe(true);
  expect(check({ users: [], moving: left(2) }, { users: [], moving: left(2) }, { users: ["ada"], moving: here })).toBe(
    true,
  );
});

test("an account that was deleted after its move is in none, and that is right", () => {
  expect(check({ users: [], moving: left(1) }, { users: [], moving: here })).toBe(true);
});

test("of a cell that was closed, cell 0 has what it had, in copies of the same moment", () => {
  const given = { "cell:1": ["left", 0] } as const;
  const taken = { "cell:1": ["here", 1] } as const;
  expect(check({ users: ["ada"], moving: taken }, { users: [], moving: given })).toBe(true);
  expect(check({ users: ["ada"], moving: taken }, { users: [] })).toBe(false);
  expect(check({ users: ["ada"] }, { users: [], moving: given })).toBe(false);
  // The cell is not in the backup any more.
  expect(check({ users: ["ada"], moving: taken })).toBe(true);
});

test("copies of a moment in which an account is on its way are not used", () => {
  expect(check({ users: ["ada"], underWay: ["ada"] }, { users: [] })).toBe(false);
  expect(check({ users: ["ada"], moving: { ada: ["leaving", 1] } }, { users: [] })).toBe(false);
  expect(check({ users: [] }, { users: [], moving: { ada: ["arriving", 0] } })).toBe(false);
});

test("an account that the old cell still had, and the new one has already, is found", () => {
  expect(check({ users: ["ada"] }, { users: ["ada"], moving: here })).toBe(false);
});

test("an account that has left one copy, and has not come to the other, is found", () => {
  expect(check({ users: [], moving: left(1) }, { users: ["ben"] })).toBe(false);
});

test("a database of a version before accounts moved needs no look", () => {
  using database = new Database(join(dir.path, "old.db"));
  database.run("CREATE TABLE users (id TEXT PRIMARY KEY)");
  expect(hasEachAccountOnce(dir.path, ["old.db", "old.db"])).toBe(true);
});
