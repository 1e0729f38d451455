// Tests who takes a cell and who follows it, from what a node sees.
import { describe, expect, test } from "bun:test";
import type { CellEntry } from "./cell-table.ts";
import { isHeir, standbyOf } from "./succession.ts";

const nodes = (...addresses: string[]) => addresses.map((address) => ({ address, isDraining: false }));
const seen = (self: string, alive = nodes("a", "b", "c")) => ({ cell: 0, count: 1, self, alive });
const entry = (owner: string, standby: string | null): CellEntry => ({
  owner: { address: owner, instance: "1" },
  standby,
  epoch: 1,
});
const heirsOf = (found: CellEntry | undefined, alive: ReturnType<typeof nodes>, isSettled = true) =>
  alive.map(({ address }) => address).filter((self) => isHeir(found, isSettled, seen(self, alive)));

describe("the heir", () => {
  test("of a cell that nobody has owned is one node", () => {
    expect(heirsOf(undefined, nodes("a", "b", "c"))).toHaveLength(1);
  });
  test("of a cell that the engine may have forgotten is nobody who may not have seen all others", () => {
    expect(heirsOf(undefined, nodes("a", "b", "c"), false)).toEqual([]);
  });
  test("is the node with the copy", () => {
    expect(heirsOf(entry("a", "c"), nodes("b", "c", "d"))).toEqual(["c"]);
  });
  test("is one other node, when that is gone, too", () => {
    expect(heirsOf(entry("a", "c"), nodes("b", "d"))).toHaveLength(1);
    expect(heirsOf(entry("a", null), nodes("b", "d"))).toHaveLength(1);
  });
  test("is nobody who has just come and may not have seen all others", () => {
    expect(heirsOf(entry("a", "c"), nodes("b", "c"), false)).toEqual([]);
  });
  test("is the owner's own node at once, when its process is a new one", () => {
    expect(isHeir(entry("a", null), false, seen("a"))).toBe(true);
  });
});

describe("the standby", () => {
  test("stays as long as it is alive and not draining", () => {
    expect(standbyOf("c", undefined, seen("a"))).toBe("c");
    expect(standbyOf("b", undefined, seen("a"))).toBe("b");
    const draining = [...nodes("a", "b"), { address: "c", isDraining: true }];
    expect(standbyOf("c", undefined, seen("a", draining))).toBe("b");
  });
  test("is where the cell is to move", () => {
    expect(standbyOf("c", "b", seen("a"))).toBe("b");
    expect(standbyOf("c", "gone", seen("a"))).toBe("c");
  });
  test("is never the owner, and nobody when it is alone", () => {
    expect(standbyOf(null, "a", seen("a"))).not.toBe("a");
    expect(standbyOf("b", undefined, seen("a", nodes("a")))).toBeNull();
  });
  test("is a draining node rather than none", () => {
    expect(standbyOf(null, undefined, seen("a", [...nodes("a"), { address: "b", isDraining: true }]))).toBe("b");
  });
});
