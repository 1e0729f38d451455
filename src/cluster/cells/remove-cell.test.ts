// Tests the steps by which a cell is removed.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { OPERATOR, openSimulatedCells, type SimulatedCells } from "../../../tests/support/simulated-cells.ts";
import { AppError } from "../../kernel/errors.ts";
import { createLoads } from "./loads.ts";
import { createCellRemoval } from "./remove-cell.ts";

const LAST = 2;
const ACCOUNTS = ["a", "b", "c", "d"];
let cells: SimulatedCells;
let count: number;
async function closed(cell: number): Promise<void> {
  count = cell;
}
beforeEach(async () => {
  cells = await openSimulatedCells(LAST + 1);
  count = LAST + 1;
  for (const id of ACCOUNTS)
    await cells.insert(LAST, "users", {
      ...{ id, email: `${id}@example.com`, name: id, referral_code: id, credits: 0, created_at: 1, updated_at: 1 },
    });
  for (const id of ACCOUNTS)
    await cells.insert(0, "places", { kind: "account", name: id, cell: LAST, until: null, version: 1 });
});
afterEach(() => cells.close());

/** As a service has it, since its start. */
function removal(refused: ReadonlySet<string> = new Set()) {
  const loads = createLoads(() => count);
  for (let cell = 0; cell <= LAST; cell++) loads.report(cell, { accounts: cell === LAST ? 0 : 10, agents: 0 });
  const moves = cells.driver({ count: () => count, closed });
  const move = (account: string, to: number) =>
    refused.has(account)
      ? Promise.reject(new AppError(503, "ACCOUNT_BUSY", "It writes."))
      : moves.move(account, to, OPERATOR);
  return { loads, step: createCellRemoval({ call: cells.call, loads, moves: () => ({ ...moves, move }) }) };
}

test("each step moves one account to the cells that stay, and the last one closes the cell", async () => {
  const { step } = removal();
  const steps = [];
  for (let n = 0; n < 3; n++) steps.push(await step({ cell: LAST, skip: [], by: OPERATOR }));
  expect(steps).toMatchObject([{ left: 3 }, { left: 2 }, { left: 1 }]);
  // Interrupted, and the service was started again.
  const again = removal();
  expect(await again.step({ cell: LAST, skip: [], by: OPERATOR })).toMatchObject({
    left: 0,
    isClosed: false,
    moved: { account: "d" },
  });
  expect(await again.step({ cell: LAST, skip: [], by: OPERATOR })).toEqual({ left: 0, isClosed: true });
  const moved = [await cells.countIn(0, "users"), await cells.countIn(1, "users")];
  expect(count).toBe(LAST);
  expect(Math.min(...moved)).toBeGreaterThan(0);
  expect((moved[0] ?? 0) + (moved[1] ?? 0)).toBe(ACCOUNTS.length);
  await expect(again.step({ cell: LAST, skip: [], by: OPERATOR })).rejects.toMatchObject({ status: 400 });
});

test("an account that can't move is named and left out, and keeps the cell open", async () => {
  const { step } = removal(new Set(["b"]));
  await step({ cell: LAST, skip: [], by: OPERATOR });
  expect(await step({ cell: LAST, skip: [], by: OPERATOR })).toEqual({
    ...{ left: 3, isClosed: false },
    failed: { account: "b", message: "It writes." },
  });
  for (const left of [2, 1]) expect(await step({ cell: LAST, skip: ["b"], by: OPERATOR })).toMatchObject({ left });
  expect(await step({ cell: LAST, skip: ["b"], by: OPERATOR })).toEqual({ left: 1, isClosed: false });
  expect(count).toBe(LAST + 1);
});

test("the cell gets no new accounts meanwhile", async () => {
  const { step, loads } = removal();
  expect(loads.next()).toBe(LAST);
  await step({ cell: LAST, skip: [], by: OPERATOR });
  for (let n = 0; n < 30; n++) expect(loads.next()).not.toBe(LAST);
});

test("another cell than the last is refused before anything moves", async () => {
  await expect(removal().step({ cell: 1, skip: [], by: OPERATOR })).rejects.toMatchObject({ code: "CELL_NOT_LAST" });
  expect(await cells.countIn(LAST, "users")).toBe(ACCOUNTS.length);
});
