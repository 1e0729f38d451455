import { describe, expect, test } from "bun:test";
import { type Move, nextMove } from "./balance.ts";

const node = (address: string, isDraining = false) => ({ address, isDraining });
const owned = (owners: Record<number, string>) =>
  new Map(Object.entries(owners).map(([cell, address]) => [Number(cell), { owner: { address, instance: null } }]));

describe("the next move", () => {
  test("goes from the node with most cells to that with least, until they differ by one", () => {
    const owners: Record<number, string> = { 0: "a", 1: "a", 2: "a", 3: "a", 4: "a" };
    const nodes = [node("a"), node("b"), node("c")];
    const moves: Move[] = [];
    for (let move = nextMove(owned(owners), nodes); move; move = nextMove(owned(owners), nodes)) {
      owners[move.cell] = move.to;
      moves.push(move);
    }
    expect(moves).toEqual([
      { cell: 1, to: "c" },
      { cell: 2, to: "b" },
      { cell: 3, to: "c" },
    ]);
  });

  test("leaves cells where operators have put them", () => {
    const nodes = [node("a"), node("b")];
    const owners = owned({ 0: "a", 1: "a", 2: "a" });
    expect(nextMove(owners, nodes, (cell) => cell === 1)).toEqual({ cell: 2, to: "b" });
    expect(nextMove(owners, nodes, () => true)).toBeUndefined();
  });

  test("does not take a cell to a node that could not follow it", () => {
    const owners = owned({ 0: "a", 1: "a", 2: "a" });
    const nodes = (stuck: number[]) => [node("a"), { ...node("b"), stuck }];
    expect(nextMove(owners, nodes([1]))).toEqual({ cell: 2, to: "b" });
    expect(nextMove(owners, nodes([1, 2]))).toBeUndefined();
    expect(nextMove(owners, [...nodes([1, 2]), { ...node("c"), stuck: [2] }])).toEqual({ cell: 1, to: "c" });
  });

  test("is none for one cell, for one node, and between nodes that differ by one", () => {
    expect(nextMove(owned({ 0: "a" }), [node("a"), node("b")])).toBeUndefined();
    expect(nextMove(owned({ 0: "a", 1: "a" }), [node("a")])).toBeUndefined();
    expect(nextMove(owned({ 0: "a", 1: "a", 2: "b" }), [node("a"), node("b")])).toBeUndefined();
  });

  test("does not go to a node that is draining, and is none while a cell has no owner", () => {
    expect(nextMove(owned({ 0: "a", 1: "a" }), [node("a"), node("b", true)])).toBeUndefined();
    expect(nextMove(owned({ 0: "a", 1: "a", 2: "gone" }), [node("a"), node("b")])).toBeUndefined();
  });
});
