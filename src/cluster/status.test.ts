// Tests what the status says of a cell, on an engine in memory.
import { expect, test } from "bun:test";
import { createMemoryEngine } from "./memory-engine.ts";
import type { CellEntry } from "./ownership/cell-table.ts";
import { createLease } from "./ownership/lease.ts";
import { readStatus } from "./status.ts";

test("a cell whose process has ended has no owner, although its machine is alive", async () => {
  const engine = createMemoryEngine().connect();
  const address = "http://10.0.0.1:4000";
  const lease = createLease({
    table: await engine.table("nodes"),
    state: () => ({
      ...{ address, instance: "now", version: "1", at: Date.now(), isDraining: false },
      ...{ copies: { 0: 1 }, load: { agents: 0, turnsPerSecond: 0 } },
    }),
    onChange: () => undefined,
    onError: () => undefined,
  });
  const cells = await engine.table("cells");
  await cells.put("count", "3");
  for (const [cell, instance] of ["now", "before", null].entries()) {
    const entry: CellEntry = { owner: { address, instance }, standby: null, epoch: 1 };
    await cells.swap(String(cell), JSON.stringify(entry), 0);
    await (await engine.log(cell)).append(0, new Uint8Array([0]));
  }
  const { cells: shown } = await readStatus(engine);
  await lease.stop();
  expect(shown.map(({ state }) => state === "no owner")).toEqual([false, true, false]);
});
