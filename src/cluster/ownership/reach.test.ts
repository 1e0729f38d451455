// Tests which machines count as out of reach, and what is told of it.
import { describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { isUnreachable, probersOf, watchReach } from "./reach.ts";

const node = (address: string, unreached: string[] = []) => ({ address, unreached });

describe("a machine", () => {
  test("is asked by up to three others, and each asks as many", () => {
    const alive = ["a", "b", "c", "d", "e"].map((address) => node(address));
    expect(probersOf("a", alive)).toEqual(["e", "d", "c"]);
    expect(
      alive.filter(({ address }) => probersOf(address, alive).includes("a")).map(({ address }) => address),
    ).toEqual(["b", "c", "d"]);
    expect(probersOf("a", alive.slice(0, 2))).toEqual(["b"]);
    expect(probersOf("a", alive.slice(0, 1))).toEqual([]);
    expect(probersOf("gone", alive)).toEqual([]);
  });

  test("is out of reach if all say so that ask it", () => {
    expect(isUnreachable("a", [node("a")])).toBe(false);
    expect(isUnreachable("a", [node("a"), node("b")])).toBe(false);
    expect(isUnreachable("a", [node("a"), node("b", ["a"])])).toBe(true);
    expect(isUnreachable("a", [node("a"), node("b", ["a"]), node("c")])).toBe(false);
    expect(isUnreachable("a", [node("a", ["b", "c"]), node("b", ["a"]), node("c", ["a"])])).toBe(true);
    // Earlier versions ask nobody.
    expect(isUnreachable("a", [node("a"), { address: "b" }])).toBe(false);
  });
});

test("one that does not answer several times is out of reach until it answers", async () => {
  let isAway = true;
  const told: string[] = [];
  const reach = watchReach({
    address: "a",
    alive: () => [node("a"), node("b")],
    probe: () => (isAway ? Promise.reject(new Error("refused")) : Promise.resolve()),
    onReach: (address, why) => void told.push(`${address} ${why ?? "answers"}`),
    onReached: () => void told.push("this one"),
    times: { everyMs: 20, againMs: 10 },
  });
  await eventually(() => reach.unreached().length === 1);
  expect(told).toEqual(["b Error: refused"]);
  isAway = false;
  await eventually(() => reach.unreached().length === 0);
  expect(told).toEqual(["b Error: refused", "b answers"]);
  reach.stop();
});

test("one that learns that nobody reaches it says so, and when somebody does again", async () => {
  let unreached = ["a"];
  const told: boolean[] = [];
  const reach = watchReach({
    address: "a",
    alive: () => [node("a"), node("b", unreached)],
    probe: () => Promise.resolve(),
    onReach: () => undefined,
    onReached: (is) => void told.push(is),
    times: { everyMs: 20, againMs: 10 },
  });
  await eventually(() => reach.isUnreachable);
  unreached = [];
  await eventually(() => !reach.isUnreachable);
  expect(told).toEqual([false, true]);
  reach.stop();
});
