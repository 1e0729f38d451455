// Tests the log store: batched writes, retention, redaction.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { deleteInBatches } from "../../../src/kernel/retention/deletion.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { fileDatabase, serverDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { createServices, type Services } from "../support.test.ts";
import { logsKind } from "./log-retention.ts";

describe.each([
  ["a local file", fileDatabase],
  ["a libSQL server", serverDatabase],
] as const)("the log of an agent on %s", (_, open) => {
  let opened: TestDatabase;
  let it: Services;
  beforeAll(async () => {
    opened = await open();
    it = createServices(opened);
  });
  afterAll(() => opened.remove());

  const rowsOf = async (id: string) =>
    Number((await it.database.read("SELECT count(*) AS n FROM agent_logs WHERE agent_id = ?", [id])).rows[0]?.n);

  test("lists lines that were just added, newest first, filtered and counted", async () => {
    const { id } = await it.add(await it.owner());
    for (const n of [1, 2, 3]) it.logs.add(id, n === 2 ? "error" : "info", `line ${n}`, "test");
    const all = await it.logs.list(id, { limit: 2 });
    expect(all.total).toBe(3);
    expect(all.lines).toMatchObject([
      { agentId: id, level: "info", message: "line 3", source: "test" },
      { level: "error", message: "line 2" },
    ]);
    expect(Math.abs((all.lines[0]?.at ?? 0) - Date.now())).toBeLessThan(10_000);
    const older = await it.logs.list(id, { limit: 50, before: all.lines.at(-1)?.id });
    expect([older.total, older.lines.length]).toEqual([all.total, all.total - 2]);
    const errors = await it.logs.list(id, { limit: 50, level: "error" });
    expect(errors).toMatchObject({ total: 1, lines: [{ message: "line 2" }] });
  });

  test("writes lines by itself within its interval", async () => {
    const { id } = await it.add(await it.owner());
    it.logs.add(id, "info", "hello", "test");
    await eventually(async () => (await rowsOf(id)) === 1);
  });

  test("redacts secrets, and replaces characters that can't be stored", async () => {
    const { id } = await it.add(await it.owner());
    const token = "0123456789abcdef".repeat(4);
    it.logs.add(id, "error", `bot${token} \0 \ud800 ${"x".repeat(20_000)}`, "test");
    const { lines } = await it.logs.list(id, { limit: 1 });
    expect(lines[0]?.message).toStartWith("bot[redacted] \ufffd \ufffd xxx");
    expect(lines[0]?.message).toHaveLength(8_192);
  });

  test("drops lines of a removed agent, and writes the others of the batch", async () => {
    const { id } = await it.add(await it.owner());
    it.logs.add(Bun.randomUUIDv7(), "info", "of no agent", "test");
    it.logs.add(id, "info", "mine", "test");
    expect((await it.logs.list(id, { limit: 10 })).total).toBe(1);
  });

  test("deletes lines older than 14 days", async () => {
    const { id } = await it.add(await it.owner());
    it.logs.add(id, "info", "now", "test");
    await it.logs.flush();
    const { steps } = logsKind(it.database, 14 * DAY);
    await deleteInBatches(steps, Date.now() - 0.1 * DAY);
    expect(await rowsOf(id)).toBe(1);
    await deleteInBatches(steps, Date.now() + 0.1 * DAY);
    expect(await rowsOf(id)).toBe(0);
  });
});

test("an agent's log has about 10,000 lines at most", async () => {
  const opened = await fileDatabase();
  const it = createServices(opened);
  const userId = await it.owner();
  const [loud, quiet] = [await it.add(userId), await it.add(userId)];
  it.logs.add(quiet.id, "info", "the only one", "test");
  for (let n = 0; n < 12_000; n++) {
    it.logs.add(loud.id, "debug", `line ${n}`, "test");
    if (n % 1_000 === 0) await it.logs.flush();
  }
  const { total, lines } = await it.logs.list(loud.id, { limit: 1 });
  expect(lines[0]?.message).toBe("line 11999");
  expect(total).toBeGreaterThanOrEqual(10_000);
  expect(total).toBeLessThan(11_500);
  expect((await it.logs.list(quiet.id, { limit: 1 })).total).toBe(1);
  await opened.remove();
});
