// Tests where cells are placed: evenly, the same on every node, and with few moves when nodes come and go.
import { describe, expect, test } from "bun:test";
import { placeCells } from "./placement.ts";

const nodesOf = (count: number) => Array.from({ length: count }, (_, n) => `http://10.0.0.${n + 1}:3001`);
const count = <Key>(keys: readonly Key[]) => [...Map.groupBy(keys, (key) => key).values()].map(({ length }) => length);

test("one node owns everything, and nothing follows it", () => {
  expect(placeCells(2, ["a"])).toEqual([
    { owner: "a", standby: undefined },
    { owner: "a", standby: undefined },
  ]);
  expect(placeCells(2, [])).toEqual([]);
});

describe.each([
  [1, 3],
  [16, 3],
  [64, 5],
  [500, 100],
])("%d cells on %d nodes", (cells, nodes) => {
  const places = placeCells(cells, nodesOf(nodes));

  test("are owned and followed evenly, each by two nodes", () => {
    const share = Math.ceil((1.25 * cells) / nodes);
    expect(Math.max(...count(places.map(({ owner }) => owner)))).toBeLessThanOrEqual(share);
    expect(Math.max(...count(places.map(({ standby }) => standby)))).toBeLessThanOrEqual(share + 2);
    expect(places.filter(({ owner, standby }) => owner === standby || standby === undefined)).toEqual([]);
  });

  test("are placed alike, in whatever order the nodes are named", () => {
    expect(placeCells(cells, nodesOf(nodes).sort())).toEqual(placeCells(cells, nodesOf(nodes).sort()));
    expect(placeCells(cells, nodesOf(nodes).toReversed())).toEqual(places);
  });

  test("move little when a node goes", () => {
    const after = placeCells(cells, nodesOf(nodes).slice(1));
    const moved = places.filter(({ owner }, cell) => owner !== after[cell]?.owner).length;
    expect(moved).toBeLessThanOrEqual(Math.ceil((4 * cells) / nodes));
  });
});
