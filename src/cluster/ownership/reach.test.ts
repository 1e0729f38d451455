// Tests which machines count as out of reach, and what is told of it.
import { afterEach, describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { isReached, type Reach, watchReach } from "./reach.ts";

const node = (address: string, reached: string[] = [], unreached: string[] = []) => ({ address, reached, unreached });

describe("a machine", () => {
  test("is reached if one of the three before it says so", () => {
    const others = ["b", "c", "d", "e"].map((address) => node(address));
    expect(isReached("a", [node("a"), ...others])).toBeUndefined();
    expect(isReached("a", [node("a"), ...others.slice(0, 3), node("e", ["a"])])).toBe(true);
    // `b` does not ask it.
    expect(isReached("a", [node("a"), node("b", ["a"]), ...others.slice(1)])).toBeUndefined();
  });

  test("is out of reach if all say so that ask it", () => {
    expect(isReached("a", [node("a"), node("b", [], ["a"])])).toBe(false);
    expect(isReached("a", [node("a"), node("b", [], ["a"]), node("c")])).toBeUndefined();
    expect(isReached("a", [node("a"), node("b", [], ["a"]), node("c", ["a"])])).toBe(true);
    expect(isReached("a", [node("a", ["b", "c"]), node("b", [], ["a"]), node("c", [], ["a"])])).toBe(false);
  });

  test("is not, of two that don't reach each other", () => {
    const two = [node("a", [], ["b"]), node("b", [], ["a"])];
    expect([isReached("a", two), isReached("b", two)]).toEqual([undefined, undefined]);
  });

  test("is, of three, if the other two reach each other", () => {
    const three = [node("a", [], ["b", "c"]), node("b", ["c"], ["a"]), node("c", ["b"], ["a"])];
    expect(["a", "b", "c"].map((address) => isReached(address, three))).toEqual([false, true, true]);
  });

  test("is neither while its ports are not open, in an earlier version, and without a lease", () => {
    const asking = node("b", [], ["a"]);
    expect(isReached("a", [{ address: "a" }, asking])).toBeUndefined();
    expect(isReached("a", [asking])).toBeUndefined();
    expect(isReached("a", [node("a"), { address: "b" }])).toBeUndefined();
  });
});

const watching: Reach[] = [];
afterEach(() => {
  for (const reach of watching.splice(0)) reach.stop();
});
const TIMES = { everyMs: 20, againMs: 10, certainMs: 60 };

/** Counts how often the machines that are alive were looked at, so that a test can wait until that has happened a few times. */
function createLooks() {
  let count = 0;
  return {
    count: () => void count++,
    async some() {
      const from = count;
      await eventually(() => count > from + 2);
    },
  };
}

test("one that does not answer several times is out of reach until it answers, also if its lease is away meanwhile", async () => {
  let [isAway, isAlive] = [true, true];
  const told: string[] = [];
  const looks = createLooks();
  const reach = watchReach({
    address: "a",
    alive() {
      looks.count();
      return [node("a"), ...(isAlive ? [node("b")] : [])];
    },
    probe: () => (isAway ? Promise.reject(new Error("refused")) : Promise.resolve()),
    onReach: (address, why) => void told.push(`${address} ${why ?? "answers"}`),
    onReached: () => void told.push("this one"),
    times: TIMES,
  });
  watching.push(reach);
  expect(reach.words()).toEqual({ reached: [], unreached: [] });
  await eventually(() => reach.words().unreached?.length === 1);
  isAlive = false;
  await looks.some();
  expect(reach.words()).toEqual({ reached: [], unreached: ["b"] });
  [isAlive, isAway] = [true, false];
  await eventually(() => reach.words().reached?.length === 1);
  expect(told).toEqual(["b Error: refused", "b answers"]);
});

test("of two that lose each other neither gives its cells away, whoever finds out first", async () => {
  const reaches = new Map<string, Reach>();
  let isCut = false;
  let cutAnswers = 0;
  const told: string[] = [];
  const alive = () => ["a", "b"].map((address) => ({ address, ...reaches.get(address)?.words() }));
  function startOne(address: string, everyMs: number): void {
    const reach = watchReach({
      address,
      alive,
      probe() {
        if (isCut) cutAnswers++;
        return isCut ? Promise.reject(new Error("cut")) : Promise.resolve();
      },
      onReach: (of, why) => void told.push(`${address} ${why ? "lost" : "found"} ${of}`),
      onReached: (isReached) => void told.push(`${address} is ${isReached ? "reached" : "out of reach"}`),
      times: { everyMs, againMs: 10, certainMs: 400 },
    });
    reaches.set(address, reach);
    watching.push(reach);
  }
  startOne("a", 10);
  startOne("b", 200);
  await eventually(() => [...reaches.values()].every((reach) => reach.words().reached?.length === 1));
  isCut = true;
  await eventually(() => told.length === 2);
  expect(told).toEqual(["a lost b", "b lost a"]);
  // For much longer than it takes to be certain.
  const from = cutAnswers;
  await eventually(() => cutAnswers > from + 150);
  expect(told).toHaveLength(2);
});

test("one that learns that nobody reaches it is so until one says that it does, and not before", async () => {
  let others = [node("b", [], ["a"])];
  const told: boolean[] = [];
  const looks = createLooks();
  const reach = watchReach({
    address: "a",
    alive() {
      looks.count();
      return [node("a"), ...others];
    },
    probe: () => Promise.resolve(),
    onReach: () => undefined,
    onReached: (isReached) => void told.push(isReached),
    times: TIMES,
  });
  watching.push(reach);
  await eventually(() => reach.isUnreachable);
  // Its prober has just been started again.
  others = [node("b")];
  await looks.some();
  expect(reach.isUnreachable).toBe(true);
  others = [node("b", ["a"])];
  await eventually(() => !reach.isUnreachable);
  others = [];
  await looks.some();
  expect(told).toEqual([false, true]);
});
