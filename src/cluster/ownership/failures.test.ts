// Tests which node may get a cell that it could not open.
import { expect, test } from "bun:test";
import { HOUR, MINUTE } from "../../kernel/util/time.ts";
import type { CellEntry } from "./cell-table.ts";
import { canTake } from "./failures.ts";
import type { NodeState } from "./lease.ts";

const nodeAt = (address: string, at: number): NodeState => ({
  instance: "i",
  address,
  version: "1",
  at,
  isDraining: false,
  copies: {},
  load: { agents: 0, turnsPerSecond: 0 },
});

test.each([0, HOUR, -HOUR])(
  "a node does not get a cell for ten minutes of its own clock, which differs by %d ms",
  (difference) => {
    const failedAt = Date.now() + difference;
    const entry: CellEntry = {
      owner: { address: "http://a", instance: null },
      standby: null,
      epoch: 1,
      failed: { address: "http://b", at: failedAt },
    };
    expect(canTake(nodeAt("http://b", failedAt + MINUTE), entry)).toBe(false);
    expect(canTake(nodeAt("http://b", failedAt + 11 * MINUTE), entry)).toBe(true);
    expect(canTake(nodeAt("http://c", failedAt), entry)).toBe(true);
    // Its clock was put back meanwhile.
    expect(canTake(nodeAt("http://b", failedAt - HOUR), entry)).toBe(true);
  },
);
