// Tests what operators read of a cluster.
import { expect, test } from "bun:test";
import { formatStatus } from "./status-text.ts";

test("before the first start, the status says what to do next", () => {
  const cell = {
    cell: 0,
    owner: "http://10.0.0.5:3001",
    standby: null,
    log: 1,
    behind: null,
    snapshotAt: 0,
    kept: false,
  };
  const joined = formatStatus({ engine: "nats 2.12", nodes: [], cells: [{ ...cell, state: "no owner" }] });
  expect(joined).toContain(
    "No machine has started yet. Start the service on the machine whose database it has, and look",
  );
  const empty = formatStatus({ engine: "nats 2.12", nodes: [], cells: [] });
  expect(empty).toContain("No machine has started yet. Start the service, and look again.");
});
