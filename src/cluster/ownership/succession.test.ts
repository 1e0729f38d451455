// Tests who takes a cell and who follows it, from what a node sees.
import { describe, expect, test } from "bun:test";
import type { CellEntry } from "./cell-table.ts";
import { isHeir, spareOf, standbyOf } from "./succession.ts";

const nodes = (...addresses: string[]) =>
  addresses.map((address) => ({ address, isDraining: false, copies: { 0: 7 } as Record<string, number> }));
const draining = (address: string) => ({ address, isDraining: true, copies: { 0: 7 } });
/** Can't follow the cell. */
const stuck = (address: string) => ({ address, isDraining: false, copies: {} });
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
    expect(standbyOf("c", undefined, seen("a", [...nodes("a", "b"), draining("c")]))).toBe("b");
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
    expect(standbyOf(null, undefined, seen("a", [...nodes("a"), draining("b")]))).toBe("b");
  });
  test("is another one once it can't follow the cell, if there is one that can", () => {
    expect(standbyOf("c", undefined, seen("a", [...nodes("a", "b"), stuck("c")]))).toBe("b");
    expect(standbyOf("c", undefined, seen("a", [...nodes("a"), draining("b"), stuck("c")]))).toBe("b");
    expect(standbyOf("c", undefined, seen("a", [...nodes("a"), stuck("b"), stuck("c")]))).toBe("c");
    expect(standbyOf("b", undefined, seen("a", [...nodes("a", "b"), stuck("c")]))).toBe("b");
  });
});

describe("the spare", () => {
  const machines = (...lists: number[][]) => lists.map((cells, n) => ({ address: "abcd"[n] ?? "", stuck: cells }));
  test("is a machine that can follow the cell, beside its owner and the one that can't", () => {
    expect(spareOf(3, "a", machines([], [3], []))).toBe("c");
    expect(["c", "d"]).toContain(spareOf(3, "a", machines([], [3], [4], [])) ?? "");
  });
  test("is none while all can, or nobody else can", () => {
    expect(spareOf(3, "a", machines([], [4], []))).toBeUndefined();
    expect(spareOf(3, "a", machines([], [3]))).toBeUndefined();
    // Earlier versions don't say it.
    expect(spareOf(3, "a", [{ address: "a" }, { address: "b" }])).toBeUndefined();
  });
});
