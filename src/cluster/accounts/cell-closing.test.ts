// Tests that a cell which is closed leaves nothing behind: cell 0 has what did not move with accounts, and answers for what it gave out.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { OPERATOR, openSimulatedCells, type SimulatedCells } from "../../../tests/support/simulated-cells.ts";
import { createMarks } from "../../kernel/cells/create-marks.ts";
import { remainsOf, remainsTables } from "./cell-remains.ts";
import { SCHEMA_SQL, STAYING, toSchema } from "./parcel/closure.ts";

const LAST = 2;
const ACCOUNT = createMarks(LAST).newId();
const AGENT = createMarks(LAST).newId();
const GONE = createMarks(LAST).newId();
const DAY = 20_000;
const sums = (calls: number) => ({
  ...{ calls, cached: 0, estimated: 0, input_tokens: 10 * calls, output_tokens: 0 },
  ...{ cost_micro_usd: 7 * calls, credit_micro_usd: 0 },
});
const ofAll = (calls: number, model = "m") => ({ day: DAY, provider: "p", model, own_key: 0, ...sums(calls) });
const audit = (id: string) => ({
  ...{ id, at: 1_000, actor_kind: "service", actor_name: "s", action: "user.create", target_kind: "user" },
  ...{ target_id: "t", target_name: "t", details: "{}" },
});
let cells: SimulatedCells;
let count: number;
async function closed(cell: number): Promise<void> {
  count = cell;
}
const driver = () => cells.driver({ count: () => count, closed });

beforeEach(async () => {
  cells = await openSimulatedCells(LAST + 1);
  count = LAST + 1;
  const times = { created_at: 1, updated_at: 1 };
  await cells.insert(LAST, "users", {
    ...{ id: ACCOUNT, email: "ann@example.com", name: "n", referral_code: "abc", credits: 0, ...times },
  });
  await cells.insert(LAST, "agents", {
    ...{ id: AGENT, user_id: ACCOUNT, name: "a", model: "model_a", subdomain: "a-bcdefg", ...times },
    ...{ status: "running", wanted: "up", runtime_version: "1" },
  });
  for (const [cell, calls] of [
    [0, 3],
    [LAST, 4],
  ] as const)
    await cells.insert(cell, "usage_of_all", ofAll(calls));
  await cells.insert(LAST, "usage_of_all", ofAll(5, "other"));
  await cells.insert(0, "audit_log", audit("e0"));
  for (const id of ["e1", "e2"]) await cells.insert(LAST, "audit_log", audit(id));
  await cells.insert(LAST, "erasures", { id: "r", person: "p", actor: "a", started_at: 1 });
  await cells.insert(LAST, "usage_days", {
    user_id: GONE,
    day: DAY,
    agent_id: "",
    provider: "p",
    model: "m",
    own_key: 0,
    ...sums(2),
  });
  for (const [cell, id] of [
    [0, "j0"],
    [LAST, "j1"],
  ] as const)
    await cells.insert(cell, "jobs", {
      ...{ id, kind: "k", unique_key: "every", payload: "null", run_at: 5, max_attempts: 8, created_at: 1 },
    });
  await cells.insert(LAST, "jobs", {
    ...{ id: "j2", kind: "mail", payload: "null", run_at: 5, max_attempts: 8, created_at: 1, state: "failed" },
  });
  await cells.insert(0, "places", { kind: "email", name: "gone@example.com", cell: LAST, until: null, version: 1 });
});
afterEach(() => cells.close());

/** Everything that the last cell had is in cell 0, once. */
async function expectTakenOver(): Promise<void> {
  const byModel = await cells.rowsIn(0, "SELECT model, calls, input_tokens AS input FROM usage_of_all ORDER BY model");
  expect(byModel).toEqual([
    { model: "m", calls: 7, input: 70 },
    { model: "other", calls: 5, input: 50 },
  ]);
  const entries = "SELECT s.seq, l.id FROM audit_log AS l JOIN audit_seals AS s ON s.entry_id = l.id ORDER BY s.seq";
  expect(await cells.rowsIn(0, entries)).toEqual([
    { seq: 1, id: "e0" },
    { seq: 2, id: "e1" },
    { seq: 3, id: "e2" },
  ]);
  expect(await cells.rowsIn(0, "SELECT id FROM erasures")).toEqual([{ id: "r" }]);
  expect(await cells.rowsIn(0, "SELECT calls FROM usage_days WHERE user_id = ?", GONE)).toEqual([{ calls: 2 }]);
  expect(await cells.rowsIn(0, "SELECT id, state FROM jobs ORDER BY id")).toEqual([
    { id: "j0", state: "queued" },
    { id: "j2", state: "failed" },
  ]);
  expect(await cells.rowsIn(0, "SELECT * FROM places WHERE cell = ?", LAST)).toEqual([]);
  expect(await cells.rowsIn(0, "SELECT * FROM account_moves")).toEqual([]);
  for (const table of ["audit_log", "audit_seals", "usage_of_all", "usage_days", "erasures", "users"])
    expect([table, await cells.countIn(LAST, table)]).toEqual([table, 0]);
}

describe("the last cell", () => {
  test("is not closed while it has an account", async () => {
    await expect(driver().close(LAST, OPERATOR)).rejects.toMatchObject({ code: "CELL_NOT_EMPTY" });
    expect(count).toBe(LAST + 1);
    expect(await cells.rowsIn(LAST, "SELECT * FROM moving_accounts")).toEqual([]);
  });

  test("alone can be closed, and never cell 0", async () => {
    await expect(driver().close(1, OPERATOR)).rejects.toThrow(
      "Only the last cell can be removed. Remove cell 2 first.",
    );
    await expect(driver().close(0, OPERATOR)).rejects.toMatchObject({ code: "CELL_NOT_LAST" });
    await expect(driver().close(7, OPERATOR)).rejects.toMatchObject({ status: 400 });
  });

  test("whose audit log is not as it was written is closed only if the operator says so, and the entry of it tells", async () => {
    await driver().move(ACCOUNT, 1, OPERATOR);
    cells.auditBreaks.push("entry 2: this entry was changed, or did not stand here");
    await expect(driver().close(LAST, OPERATOR)).rejects.toThrow("entry 2: this entry was changed");
    expect(count).toBe(LAST + 1);
    expect(await cells.rowsIn(LAST, "SELECT * FROM moving_accounts WHERE state <> 'left'")).toEqual([]);
    const said: unknown[] = [];
    const record = (_: unknown, { action, details }: { action: string; details?: unknown }) => {
      said.push(action, details);
      return [];
    };
    await cells.driver({ count: () => count, closed, record }).close(LAST, OPERATOR, { takesBroken: true });
    expect(count).toBe(LAST);
    expect(said).toEqual(["cluster.cell-remove", { auditLog: cells.auditBreaks.join("; ") }]);
    await expectTakenOver();
  });

  test("gives cell 0 what it has, which then answers for what was given out", async () => {
    await driver().move(ACCOUNT, 1, OPERATOR);
    await driver().close(LAST, OPERATOR);
    expect(count).toBe(LAST);
    await expectTakenOver();
    expect(await cells.at(0).side.whereabouts({ keys: [AGENT] })).toEqual({ cell: 1 });
    await driver().move(ACCOUNT, 0, OPERATOR);
    expect(await cells.at(0).side.whereabouts({ keys: [AGENT] })).toBeNull();
    await driver().move(ACCOUNT, 1, OPERATOR);
    expect(await cells.at(0).side.whereabouts({ keys: [AGENT] })).toEqual({ cell: 1 });
  });

  test("is whole, or closed with all of it in cell 0, whichever write is the last before a kill", async () => {
    await driver().move(ACCOUNT, 0, OPERATOR);
    for (let writes = 0; ; writes++) {
      cells.power.used = 0;
      cells.power.writesLeft = writes;
      await driver()
        .close(LAST, OPERATOR)
        .catch(() => undefined);
      cells.power.writesLeft = Number.POSITIVE_INFINITY;
      const end = driver().begin();
      await eventually(async () => (await cells.rowsIn(0, "SELECT * FROM account_moves")).length === 0, {
        timeoutMs: 10_000,
      });
      end();
      if (count === LAST) {
        await expectTakenOver();
        return;
      }
      expect(await cells.countIn(LAST, "audit_log")).toBe(2);
      expect(await cells.countIn(0, "audit_log")).toBe(1);
      expect(await cells.rowsIn(LAST, "SELECT * FROM moving_accounts WHERE account_id = ?", remainsOf(LAST))).toEqual(
        [],
      );
      expect(writes).toBeLessThan(60);
    }
  });

  test("that is opened again is empty, knows what has left it, and can be closed again", async () => {
    await driver().move(ACCOUNT, 1, OPERATOR);
    await driver().close(LAST, OPERATOR);
    count = LAST + 1;
    expect(await driver().isClosing(LAST)).toBe(false);
    await cells.at(LAST).side.reopen();
    expect(await cells.at(LAST).side.whereabouts({ keys: [AGENT] })).toEqual({ cell: 1 });
    await cells.insert(LAST, "audit_log", audit("e3"));
    expect(await cells.rowsIn(LAST, "SELECT seq FROM audit_seals")).toEqual([{ seq: 1 }]);
    await cells.insert(LAST, "usage_of_all", ofAll(1));
    await driver().close(LAST, OPERATOR);
    expect(await cells.rowsIn(0, "SELECT calls FROM usage_of_all WHERE model = 'm'")).toEqual([{ calls: 8 }]);
    expect(await cells.countIn(0, "audit_log")).toBe(4);
  });
});

test("every table that stays in a cell is taken over by cell 0, or says why not", async () => {
  const read = async (sql: string) => cells.rowsIn(0, sql);
  const schema = toSchema({
    tables: await read(SCHEMA_SQL.tables),
    columns: await read(SCHEMA_SQL.columns),
    references: await read(SCHEMA_SQL.references),
  });
  const taken = remainsTables(schema).map(({ name }) => name);
  expect(taken).toContain("audit_log");
  expect(new Set(taken).size).toBe(taken.length);
  const ended = Object.keys(STAYING).filter((name) => !taken.includes(name));
  expect(ended.toSorted()).toEqual(
    [
      ...["account_moves", "audit_chain", "audit_exports", "audit_seals", "backup_runs", "budget_shares"],
      ...["credit_cause", "default_models", "device_sign_ins", "guard", "instance_figures", "instance_runs", "jobs"],
      ...["ledger_journal", "log_progress", "meta", "migrations", "model_lists", "model_providers", "places"],
      ...["plugin_migrations", "rate_limits", "stablecoin_progress", "stripe_progress", "summed_days", "usage_step"],
      ...["usage_summed", "webhook_cursor"],
    ].toSorted(),
  );
});
