// Tests that a reader of events goes on after the last one it has seen, whatever cells its account has been in since.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { OPERATOR, openSimulatedCells, type SimulatedCells } from "../../../tests/support/simulated-cells.ts";
import { createEvents } from "../../kernel/events/events.ts";
import { createLog } from "../../kernel/telemetry/log.ts";

const ANN = "01890000-0000-7000-8000-000000000001";
const EVE = "01890000-0000-7000-8000-000000000002";
const log = createLog({ level: "error", format: "json" });
let cells: SimulatedCells;

const user = (id: string) => ({
  ...{ id, email: `${id}@example.com`, name: "n", referral_code: id, credits: 0, created_at: 1, updated_at: 1 },
});
const eventsOf = (cell: number) => createEvents({ database: cells.at(cell).database, log });

async function record(cell: number, userId: string, ...names: string[]): Promise<void> {
  const events = eventsOf(cell);
  for (const name of names)
    await cells.at(cell).database.write([events.recordStatement("agent.created", { userId, data: name })]);
}

/** What a reader gets that comes with an id, and the id with which it leaves. */
async function readFrom(
  cell: number,
  userId: string,
  id: number,
  all = false,
): Promise<[names: unknown[], id: number]> {
  const events = eventsOf(cell);
  const numbers = await events.numbersFor(userId, all);
  const found = await events.since(numbers.toSeq(id), all ? {} : { userId });
  return [found.map(({ data }) => data), numbers.toId(found.at(-1)?.seq ?? numbers.toSeq(id))];
}

/** Of a reader that comes now, without an id. */
async function newestId(cell: number, userId: string): Promise<number> {
  const numbers = await eventsOf(cell).numbersFor(userId, false);
  return numbers.toId(numbers.latest);
}

beforeEach(async () => {
  cells = await openSimulatedCells(3);
  await cells.insert(0, "users", user(ANN));
  await cells.insert(0, "users", user(EVE));
});
afterEach(() => cells.close());

describe("a reader that was away while its account moved", () => {
  test("misses nothing and gets nothing twice, over several moves and back", async () => {
    await record(0, ANN, "1", "2");
    const ids = [await readFrom(0, ANN, 0)].map(([, id]) => id);
    let said = 2;
    let at = 0;
    for (const to of [1, 2, 0, 1, 0]) {
      await record(at, ANN, String(++said));
      await cells.driver().move(ANN, to, OPERATOR);
      at = to;
      await record(at, ANN, String(++said));
      // Those that have seen more or less than others, in whichever cell.
      const names = Array.from({ length: said }, (_, n) => String(n + 1));
      for (const [n, id] of ids.entries()) expect((await readFrom(at, ANN, id))[0]).toEqual(names.slice(2 * n + 2));
      const [, id] = await readFrom(at, ANN, ids.at(-1) ?? 0);
      expect(id).toBeGreaterThan(ids.at(-1) ?? 0);
      ids.push(id);
    }
  });

  test("also if others have made events in the old cell since the account's last one", async () => {
    await record(0, ANN, "1");
    await record(0, EVE, ...Array.from({ length: 20 }, () => "hers"));
    const id = await newestId(0, ANN);
    await cells.driver().move(ANN, 1, OPERATOR);
    expect((await readFrom(1, ANN, id))[0]).toEqual([]);
    await record(1, ANN, "2");
    expect((await readFrom(1, ANN, id))[0]).toEqual(["2"]);
  });

  test("also if it had no events yet", async () => {
    await record(0, EVE, "hers", "hers");
    const id = await newestId(0, ANN);
    await cells.driver().move(ANN, 1, OPERATOR);
    await record(1, ANN, "1");
    expect((await readFrom(1, ANN, id))[0]).toEqual(["1"]);
  });

  test("and follows everybody's events: goes on with those that the new cell has made since", async () => {
    await record(0, ANN, "1");
    await cells.insert(1, "users", user(EVE.replace("2", "3")));
    await record(1, EVE.replace("2", "3"), "before", "before");
    const id = await newestId(0, ANN);
    await cells.driver().move(ANN, 1, OPERATOR);
    await record(1, EVE.replace("2", "3"), "since");
    const [names, next] = await readFrom(1, ANN, id, true);
    expect(names).toEqual(["since"]);
    expect((await readFrom(1, ANN, next, true))[0]).toEqual([]);
  });
});

describe("numbers of events are given once", () => {
  test("in a cell whose newest event has left with its account", async () => {
    await record(0, EVE, "hers");
    await record(0, ANN, "1", "2");
    const latest = await eventsOf(0).latest();
    await cells.driver().move(ANN, 1, OPERATOR);
    await record(0, EVE, "hers");
    expect(await eventsOf(0).latest()).toBeGreaterThan(latest);
    expect(await eventsOf(0).since(0, { userId: ANN })).toEqual([]);
  });

  test("in an empty cell, above what webhooks have been told", async () => {
    await record(0, ANN, "1");
    await cells.driver().move(ANN, 1, OPERATOR);
    await record(1, ANN, "2");
    expect((await eventsOf(1).since(0)).map(({ data }) => data)).toEqual(["2"]);
  });

  test("and webhooks that come along get what is new, and nothing again", async () => {
    await record(0, ANN, "1");
    await record(0, EVE, ...Array.from({ length: 20 }, () => "hers"));
    const latest = await eventsOf(0).latest();
    await cells.insert(0, "webhook_endpoints", {
      ...{ id: "w", user_id: ANN, url: "https://example.com", types: "[]", description: "", secret: "s" },
      ...{ from_seq: latest, created_at: 1, updated_at: 1 },
    });
    await cells.at(0).database.write([{ sql: "UPDATE webhook_cursor SET seq = ?", args: [latest] }]);
    await cells.driver().move(ANN, 1, OPERATOR);
    await record(1, ANN, "2");
    const [endpoint] = await cells.rowsIn(1, "SELECT from_seq FROM webhook_endpoints");
    const names = (await eventsOf(1).since(Number(endpoint?.from_seq))).map(({ data }) => data);
    expect(names.filter((name) => name !== null)).toEqual(["2"]);
  });
});

test("rows of the ledger that are made after an account has left, or has come into an empty cell, are added up", async () => {
  const call = (id: string, userId: string) => ({
    ...{ id, at: 1, kind: "api", user_id: userId, agent_id: null, provider: "p", model: "m", input_tokens: 1 },
    ...{ output_tokens: 1, cost_micro_usd: 0, latency_ms: 1, estimated: 0, credit_micro_usd: 0 },
  });
  const unsummed = async (cell: number) =>
    (await cells.rowsIn(cell, "SELECT id FROM usage WHERE rowid > (SELECT upto FROM usage_summed)")).map(
      ({ id }) => id,
    );
  await cells.insert(0, "usage", call("u1", EVE));
  await cells.insert(0, "usage", call("u2", ANN));
  await cells.at(0).database.write([{ sql: "UPDATE usage_summed SET upto = 2", args: [] }]);
  await cells.driver().move(ANN, 1, OPERATOR);
  await cells.insert(0, "usage", call("u3", EVE));
  expect(await unsummed(0)).toEqual(["u3"]);
  await cells.insert(1, "usage", call("u4", ANN));
  expect(await unsummed(1)).toEqual(["u4"]);
});
