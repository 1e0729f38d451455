import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import {
  insertStatement as add,
  OPERATOR,
  openSimulatedCells,
  type SimulatedCells,
} from "../../../tests/support/simulated-cells.ts";

const ACCOUNT = "01890000-0000-7000-8000-000000000001";
const AGENT = "01890000-0000-7000-8000-00000000000a";
const EMAIL = "ann@example.com";
let cells: SimulatedCells;
/** With the entries of the audit log that it writes. */
const driver = () =>
  cells.driver({
    record: (by, { action, target, details }) => [
      add("audit_log", {
        ...{ id: Bun.randomUUIDv7(), at: 1, actor_kind: by.kind, actor_name: by.name, action },
        ...{ target_kind: target.kind, target_id: target.id, target_name: target.name },
        details: JSON.stringify(details),
      }),
    ],
  });
const rowsIn: SimulatedCells["rowsIn"] = (...args) => cells.rowsIn(...args);
const countIn: SimulatedCells["countIn"] = (...args) => cells.countIn(...args);

/** The only cell with the account, all of it, as it was before it moved for the first time. */
async function cellOfAccount(): Promise<number> {
  const has = await Promise.all([0, 1].map((cell) => countIn(cell, "users")));
  expect(has.toSorted()).toEqual([0, 1]);
  const at = has.indexOf(1);
  for (const table of ["agents", "sessions", "messages", "memories", "credit_entries", "jobs"])
    expect([table, await countIn(1 - at, table), await countIn(at, table)]).toEqual([
      table,
      0,
      table === "messages" ? 400 : 1,
    ]);
  const agent = "SELECT status, wanted, thawed_status, owner_frozen FROM agents";
  expect(await rowsIn(at, agent)).toMatchObject([
    { status: "running", wanted: "up", thawed_status: null, owner_frozen: 0 },
  ]);
  expect(await rowsIn(at, "SELECT state, lease FROM jobs")).toMatchObject([{ state: "queued", lease: null }]);
  const events = await rowsIn(at, "SELECT id FROM events WHERE user_id IS NOT NULL ORDER BY seq");
  expect(events.map(({ id }) => id)).toEqual(["e0", "e1", "e2"]);
  const order = await rowsIn(at, "SELECT id FROM messages ORDER BY seq");
  expect(order.map(({ id }) => id)).toEqual(Array.from({ length: 400 }, (_, n) => `m${n}`));
  expect(await rowsIn(0, "SELECT * FROM account_moves")).toEqual([]);
  const names = await rowsIn(0, "SELECT cell FROM places WHERE kind = 'email' AND name = ?", EMAIL);
  if (names.length > 0 || at === 1) expect(names).toMatchObject([{ cell: at }]);
  for (const cell of [0, 1]) {
    const found = await cells.at(cell).side.whereabouts({ keys: [AGENT] });
    expect(found).toEqual(cell === at ? null : await leftFor(cell, at));
  }
  return at;
}

/** A cell that the account has never been in knows nothing of it. */
async function leftFor(cell: number, at: number): Promise<{ cell: number } | null> {
  return (await rowsIn(cell, "SELECT 1 FROM moving_accounts")).length > 0 ? { cell: at } : null;
}

const entries = () =>
  rowsIn(0, "SELECT actor_kind, actor_name, action, target_id, target_name, details FROM audit_log ORDER BY id");

beforeAll(async () => {
  cells = await openSimulatedCells(2);
  const times = { created_at: 1, updated_at: 1 };
  await cells.at(0).database.write([
    add("users", { id: ACCOUNT, email: EMAIL, name: "n", referral_code: "abcdefgh", credits: 5, ...times }),
    add("agents", {
      ...{ id: AGENT, user_id: ACCOUNT, name: "a", model: "model_a", subdomain: "a-bcdefg", ...times },
      ...{ status: "running", wanted: "up", runtime_version: "1" },
    }),
    add("memories", {
      ...{ id: "m", agent_id: AGENT, circle: "c", content: "likes herring", digest: "d", source: "owner", ...times },
    }),
    add("sessions", {
      ...{ id: "s", agent_id: AGENT, platform: "web", peer: "p", status: "open", message_count: 400 },
      ...{ created_at: 1, last_activity_at: 1 },
    }),
    ...Array.from({ length: 400 }, (_, n) =>
      add("messages", {
        ...{
          id: `m${n}`,
          session_id: "s",
          agent_id: AGENT,
          inbox_id: `i${n}`,
          platform: "web",
          role: "user",
          created_at: 1,
        },
        content: "x".repeat(1_000),
      }),
    ),
    ...["e0", "e1", "e2"].map((id) =>
      add("events", { id, type: "a.b", user_id: ACCOUNT, data: "null", created_at: 1 }),
    ),
    add("jobs", {
      ...{ id: "j", kind: "k", payload: JSON.stringify({ agentId: AGENT }), run_at: 5, max_attempts: 8, created_at: 1 },
    }),
  ]);
});

afterAll(async () => {
  await cells.close();
});

describe("an account", () => {
  test("moves, comes back, and is found where it is", async () => {
    expect(await cellOfAccount()).toBe(0);
    expect(await driver().move(ACCOUNT, 1, OPERATOR)).toMatchObject({ from: 0, to: 1 });
    expect(await cellOfAccount()).toBe(1);
    expect(await driver().move(ACCOUNT, 1, OPERATOR)).toMatchObject({ from: 1, to: 1, ms: 0 });
    expect(await driver().move(ACCOUNT, 0, OPERATOR)).toMatchObject({ from: 1, to: 0 });
    expect(await cellOfAccount()).toBe(0);
    const said = {
      actor_kind: "command",
      actor_name: "ops",
      action: "user.move",
      target_id: ACCOUNT,
      target_name: EMAIL,
    };
    expect(await entries()).toEqual([
      { ...said, details: '{"cell":{"from":0,"to":1}}' },
      { ...said, details: '{"cell":{"from":1,"to":0}}' },
    ]);
  });

  test("that is nobody's, or a cell that is none, is refused", async () => {
    await expect(driver().move(EMAIL, 1, OPERATOR)).rejects.toMatchObject({ code: "USER_NOT_FOUND" });
    await expect(driver().move(ACCOUNT, 2, OPERATOR)).rejects.toMatchObject({ status: 400 });
    expect(await cellOfAccount()).toBe(0);
  });

  test("that takes longer to pack than it may write moves as well", async () => {
    const slow = await openSimulatedCells(2, { quietMs: 0 });
    await slow.insert(0, "users", {
      ...{ id: ACCOUNT, email: EMAIL, name: "n", referral_code: "abcdefgh", credits: 5, created_at: 1, updated_at: 1 },
    });
    expect(await slow.driver().move(ACCOUNT, 1, OPERATOR)).toMatchObject({ from: 0, to: 1 });
    await slow.close();
  });

  test("that two want to move at once is moved once, and what looks for unfinished moves leaves it alone", async () => {
    const one = driver();
    const moving = one.move(ACCOUNT, 1, OPERATOR);
    await eventually(async () => (await rowsIn(0, "SELECT * FROM account_moves")).length > 0);
    await expect(one.move(ACCOUNT, 1, OPERATOR)).rejects.toMatchObject({ code: "ACCOUNT_MOVING" });
    const end = one.begin();
    expect(await moving).toMatchObject({ from: 0, to: 1 });
    end();
    await one.move(ACCOUNT, 0, OPERATOR);
  });

  test("whose rows the other cell can't take stays where it is", async () => {
    const rival =
      "INSERT INTO users (id, email, name, referral_code, credits, created_at, updated_at) VALUES ('r', ?, 'r', 'r', 0, 1, 1)";
    await cells.at(1).database.write([{ sql: rival, args: [EMAIL] }]);
    await expect(driver().move(ACCOUNT, 1, OPERATOR)).rejects.toThrow("users.email");
    await cells.at(1).database.write([{ sql: "DELETE FROM users WHERE id = 'r'", args: [] }]);
    expect(await cellOfAccount()).toBe(0);
  });

  test("is in exactly one cell, whole, whichever write of the move is the last before all processes are killed", async () => {
    const ends = { stayed: 0, moved: 0 };
    for (let writes = 0; ; writes++) {
      const before = await cellOfAccount();
      const noted = (await entries()).length;
      cells.power.used = 0;
      cells.power.writesLeft = writes;
      const outcome = await driver()
        .move(ACCOUNT, 1 - before, OPERATOR)
        .catch(() => undefined);
      // The power is back, and the process of cell 0 starts.
      cells.power.writesLeft = Number.POSITIVE_INFINITY;
      const end = driver().begin();
      await eventually(async () => (await rowsIn(0, "SELECT * FROM account_moves")).length === 0, {
        timeoutMs: 10_000,
      });
      end();
      const after = await cellOfAccount();
      expect((await entries()).length - noted).toBe(after === before ? 0 : 1);
      ends[after === before ? "stayed" : "moved"]++;
      if (outcome) break;
      expect(writes).toBeLessThan(100);
    }
    // Some before the decision, some after it.
    expect(ends.stayed).toBeGreaterThan(3);
    expect(ends.moved).toBeGreaterThan(8);
  }, 300_000);
});
