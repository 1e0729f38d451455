// Tests the recovery of calls from the journal of a killed process.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { createDatabaseJournal } from "./database-journal.ts";
import { createJournal, type Journal } from "./journal.ts";
import { type BudgetScope, createLedger, type LedgerCall } from "./ledger.ts";
import type { LedgerRow } from "./ledger-row.ts";

let store: TestDatabase;
let journalFile: string;
beforeEach(async () => {
  store = await fileDatabase();
  journalFile = join(store.dir, "ledger.journal");
});
afterEach(() => store.remove());

const pricing = { input: 1_000_000, output: 2_000_000 };
const call: LedgerCall = { kind: "turn", agentId: "a", userId: "u", provider: "provider_1", modelId: "m", pricing };
const budget: BudgetScope = { of: { agentId: "a" }, period: "day", limit: 1_000 };
const expected = { inputTokens: 40, outputTokens: 30 };
const used = { inputTokens: 4, outputTokens: 3, estimated: false };

const JOURNALS: Record<string, () => Journal> = {
  "a file": () => createJournal(journalFile, silent),
  "the database, of a service on several machines": () =>
    createDatabaseJournal({ database: store.database, log: silent, journalFile }),
};
const rows = async () => {
  const { rows } = await store.database.read("SELECT * FROM usage ORDER BY id");
  return rows.map(({ input_tokens, output_tokens, cost_micro_usd, estimated }) => [
    input_tokens,
    output_tokens,
    cost_micro_usd,
    estimated,
  ]);
};
/** What reports and budgets are made of. */
const total = async () => {
  const { rows } = await store.database.read("SELECT sum(calls), sum(cost_micro_usd) FROM usage_days");
  return [rows[0]?.[0], rows[0]?.[1]];
};

/** What a call does without anybody waiting for it is on disk after that. */
async function turnOfTheLoop(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  await store.database.write([{ sql: "SELECT 1", args: [] }]);
}

describe.each(Object.entries(JOURNALS))("after a kill, with a journal in %s,", (_, journal) => {
  /** A new process: nothing of an earlier one is in its memory. */
  const open = () => createLedger({ database: store.database, log: silent, journal: journal() });

  test("a finished call has its row, although it was not written before", async () => {
    await (await open().reserve(call, [budget], 100, expected)).record(used, 1);
    expect(await rows()).toEqual([]);
    const ledger = open();
    await ledger.start();
    expect(await rows()).toEqual([[4, 3, 10, 0]]);
    expect(await ledger.spentMicroUsd(budget)).toBe(10);
  });

  test("a call whose turn was not committed has its row", async () => {
    (await open().reserve(call, [budget], 100, expected)).settleStatement(used, 1);
    await turnOfTheLoop();
    await open().start();
    expect(await rows()).toEqual([[4, 3, 10, 0]]);
  });

  test("a running call counts with its reserved cost, marked as estimated", async () => {
    await open().reserve(call, [budget], 100, expected);
    const ledger = open();
    await ledger.start();
    expect(await ledger.spentMicroUsd(budget)).toBe(100);
    expect(await rows()).toEqual([[40, 30, 100, 1]]);
  });

  test("a call that was released or written is not recovered", async () => {
    const before = open();
    (await before.reserve(call, [budget], 100, expected)).release();
    const spending = await before.reserve(call, [budget], 100, expected);
    await store.database.write([spending.settleStatement(used, 1)]);
    for (let restart = 0; restart < 2; restart++) await open().start();
    expect(await rows()).toEqual([[4, 3, 10, 0]]);
    expect(await total()).toEqual([1, 10]);
  });
});

describe.each(Object.entries(JOURNALS))("a row, with a journal in %s,", (_, journal) => {
  const open = () => createLedger({ database: store.database, log: silent, journal: journal() });

  test("is written once, also if its first batch failed", async () => {
    const ledger = open();
    const spending = await ledger.reserve(call, [budget], 100, expected);
    const settled = spending.settleStatement(used, 1);
    await store.database.write([settled]);
    // The answer of the database was lost on its way, so the turn counts as failed.
    await spending.record(used, 1);
    await ledger.addUp();
    await ledger.close();
    expect(await rows()).toHaveLength(1);
    expect(await total()).toEqual([1, 10]);
  });

  test("that the database rejects does not block the others", async () => {
    const ledger = open();
    await (await ledger.reserve(call, [], 0)).record(used, Number.NaN);
    await (await ledger.reserve(call, [], 0)).record(used, 1);
    await ledger.close();
    expect(await rows()).toHaveLength(1);
  });

  test.each([
    [{ inputTokens: -5, outputTokens: 3 }, [0, 3, 6, 1]],
    [{ inputTokens: 1.5, outputTokens: 3 }, [0, 3, 6, 1]],
    [{ inputTokens: Number.NaN, outputTokens: Number.POSITIVE_INFINITY }, [0, 0, 0, 1]],
    [{ inputTokens: 4, outputTokens: 2 ** 53 }, [4, 0, 4, 1]],
  ])("of %o has 0 for implausible counts", async (counts, row) => {
    const ledger = open();
    await (await ledger.reserve(call, [], 0)).record({ ...counts, estimated: false }, 1);
    await ledger.close();
    expect(await rows()).toEqual([row]);
  });
});

test("a service that joins others takes over what the file of its machine holds, once", async () => {
  const alone = () => createJournal(journalFile, silent);
  await createLedger({ database: store.database, log: silent, journal: alone() }).reserve(
    call,
    [budget],
    100,
    expected,
  );
  expect(existsSync(journalFile)).toBe(true);
  for (let start = 0; start < 2; start++) {
    const journal = createDatabaseJournal({ database: store.database, log: silent, journalFile });
    await createLedger({ database: store.database, log: silent, journal }).start();
  }
  expect(await rows()).toEqual([[40, 30, 100, 1]]);
  expect(existsSync(journalFile)).toBe(false);
});

describe("the file", () => {
  const open = () =>
    createLedger({ database: store.database, log: silent, journal: createJournal(journalFile, silent) });
  test("a truncated line does not affect the others", async () => {
    await createLedger({ database: store.database, log: silent, journal: createJournal(journalFile, silent) }).reserve(
      call,
      [budget],
      100,
      expected,
    );
    appendFileSync(journalFile, '["019a');
    await createLedger({ database: store.database, log: silent, journal: createJournal(journalFile, silent) }).start();
    expect(await rows()).toHaveLength(1);
  });

  const row = (id: string): LedgerRow => [id, 1, "turn", null, null, "provider_1", "m", 1, 2, 3, 4, 0, 0, 0, 0];

  test("has mode 0600, is compacted, and is empty in the end", async () => {
    const journal = createJournal(journalFile, silent);
    journal.put(row("stays"));
    await journal.whenFlushed();
    expect(statSync(journalFile).mode & 0o777).toBe(0o600);
    for (let n = 0; n < 60_000; n++) {
      journal.put(row(`goes-${n}`));
      if (n % 500 === 0) await journal.whenFlushed();
      journal.remove(`goes-${n}`, false);
    }
    await journal.whenFlushed();
    expect(statSync(journalFile).size).toBeLessThan(4.1 * 1024 * 1024);
    expect(createJournal(journalFile, silent).recover()).toContainEqual(row("stays"));
    journal.remove("stays", false);
    expect(statSync(journalFile).size).toBe(0);
    await journal.close();
    expect(existsSync(`${journalFile}.new`)).toBe(false);
  });

  test("gets all rows of one turn of the event loop in one write, and reports it", async () => {
    const journal = createJournal(journalFile, silent);
    expect(journal.whenFlushed()).toBeUndefined();
    for (const id of ["a", "b", "c"]) journal.put(row(id));
    expect(existsSync(journalFile)).toBe(false);
    await journal.whenFlushed();
    expect(readFileSync(journalFile, "utf8").trimEnd().split("\n")).toHaveLength(3);
    expect(journal.whenFlushed()).toBeUndefined();
    journal.put(row("d"));
    await journal.close();
    expect(createJournal(journalFile, silent).recover()).toHaveLength(4);
  });

  test("gets the rows of a call that is the only one at once, and of two calls together", async () => {
    const lines = () => readFileSync(journalFile, "utf8").trimEnd().split("\n").length;
    const ledger = open();
    const first = await ledger.reserve(call, [budget], 100, expected);
    expect(lines()).toBe(1);
    const reserved = ledger.reserve(call, [budget], 100, expected);
    expect(lines()).toBe(1);
    const second = await reserved;
    expect(lines()).toBe(2);
    first.settleStatement(used, 1);
    expect(lines()).toBe(2);
    await turnOfTheLoop();
    expect(lines()).toBe(3);
    second.settleStatement(used, 1);
    expect(lines()).toBe(4);
    await ledger.close();
  });

  test("is not created without a row", async () => {
    const ledger = open();
    await ledger.start();
    await ledger.close();
    expect(existsSync(journalFile)).toBe(false);
  });

  test("contains no key and no text", async () => {
    await open().reserve(call, [budget], 100, expected);
    expect(JSON.parse(readFileSync(journalFile, "utf8"))).toEqual([
      expect.any(String),
      expect.any(Number),
      "turn",
      "u",
      "a",
      "provider_1",
      "m",
      40,
      30,
      100,
      0,
      1,
      0,
      0,
      0,
    ]);
  });
});
