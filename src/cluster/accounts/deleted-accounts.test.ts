// Tests that the cells which an account has left forget it once it is deleted, whichever write is the last before a kill.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { OPERATOR, openSimulatedCells, type SimulatedCells } from "../../../tests/support/simulated-cells.ts";
import { createForgetting } from "./deleted-accounts.ts";

const COUNT = 3;
const ANN = "01890000-0000-7000-8000-000000000001";
const EVE = "01890000-0000-7000-8000-000000000002";
const EMAIL = { kind: "email", name: `${ANN}@example.com` };
const KEY = "5".repeat(64);
const deleted = { account: ANN, from: COUNT - 1, names: [EMAIL] };
let cells: SimulatedCells;
const forgetting = () => createForgetting(() => COUNT, cells.call);

/** Rows of any cell that name the account or what it was given. */
async function traces(): Promise<number> {
  let found = 0;
  for (let cell = 0; cell < COUNT; cell++) {
    for (const [table, column] of [
      ["moving_accounts", "account_id"],
      ["moved_keys", "key"],
      ["places", "name"],
    ]) {
      const sql = `SELECT count(*) AS n FROM ${table} WHERE ${column} IN (?, ?)`;
      found += Number((await cells.rowsIn(cell, sql, ANN, KEY))[0]?.n);
    }
  }
  return found;
}

beforeEach(async () => {
  cells = await openSimulatedCells(COUNT);
  for (const id of [ANN, EVE]) {
    const times = { created_at: 1, updated_at: 1 };
    await cells.insert(0, "users", {
      ...{ id, email: `${id}@example.com`, name: "n", referral_code: id, credits: 0, ...times },
    });
    await cells.insert(0, "api_keys", {
      ...{ id: `k-${id}`, user_id: id, name: "k", prefix: "bk_", scopes: "[]", direct: 0, created_at: 1 },
      key_hash: id === ANN ? KEY : id,
    });
    for (let to = 1; to < COUNT; to++) await cells.driver().move(id, to, OPERATOR);
  }
  await cells.at(COUNT - 1).database.write([{ sql: "DELETE FROM users WHERE id = ?", args: [ANN] }]);
});
afterEach(() => cells.close());

test("nothing is left of it in any cell, and all of the others", async () => {
  // Its row, its id and the hash of its key, in each.
  expect(await forgetting().countKept(ANN)).toBe(3 * COUNT);
  const ofEve = await forgetting().countKept(EVE);
  for (let writes = 0; (await traces()) > 0; writes++) {
    cells.power.used = 0;
    cells.power.writesLeft = writes;
    const outcome = await forgetting()
      .forgetAccount(deleted)
      .then(() => "done")
      .catch(() => "killed");
    cells.power.writesLeft = Number.POSITIVE_INFINITY;
    expect([writes, outcome, await traces()]).toEqual([writes, outcome, outcome === "done" ? 0 : expect.any(Number)]);
    expect(writes).toBeLessThan(10);
  }
  await forgetting().forgetAccount(deleted);
  expect(await forgetting().countKept(ANN)).toBe(0);
  expect(await forgetting().countKept(EVE)).toBe(ofEve);
  expect(await cells.at(0).side.whereabouts({ keys: [EVE] })).toEqual({ cell: COUNT - 1 });
});

test("its names are free once the directory has asked, unless somebody else in the cell has them by now", async () => {
  await forgetting().forgetAccount(deleted);
  const [place] = await cells.rowsIn(0, "SELECT until FROM places WHERE kind = 'email' AND name = ?", EMAIL.name);
  expect(Number(place?.until)).toBeLessThanOrEqual(Date.now());
  const eve = "SELECT until FROM places WHERE kind = 'email' AND name = ?";
  expect(await cells.rowsIn(0, eve, `${EVE}@example.com`)).toEqual([{ until: null }]);
});

test("a cell that was closed meanwhile forgets it when it is opened again", async () => {
  await forgetting().forgetAccount(deleted);
  // Its file was away.
  await cells.insert(1, "moving_accounts", { account_id: ANN, state: "left", cell: 2, details: "{}" });
  await cells.insert(1, "moved_keys", { key: ANN, account_id: ANN });
  await cells.at(1).side.reopen();
  expect(await traces()).toBe(0);
  expect(await cells.at(1).side.whereabouts({ keys: [EVE] })).toEqual({ cell: COUNT - 1 });
});
