// What a fault run takes for explained, and which copies it takes for equal.
import { expect, test } from "bun:test";
import { type Contents, compareCopies } from "./copies.ts";
import { type Interruption, mostCalls, unexplainedConflicts } from "./history.ts";

const interruption = (from: number, to: number) => ({ fault: "kill", from, to });

test("a message has one call of the model, and one more for each interruption before its answer", () => {
  const waits = [
    { at: 100_000, ms: 100 },
    { at: 200_000, ms: 20_000 },
  ];
  expect(mostCalls(waits, [])).toBe(2);
  expect(mostCalls(waits, [interruption(150_000, 151_000)])).toBe(2);
  expect(mostCalls(waits, [interruption(205_000, 206_000), interruption(215_000, 216_000)])).toBe(4);
  expect(mostCalls(waits, [interruption(99_500, 99_600)])).toBe(3);
});

test("two machines may poll a bot in the first seconds of a cut and at its end, and not between", () => {
  const cut = [{ fault: "cut a machine off from NATS for a while", from: 100_000, to: 130_000 }];
  const times = [98_000, 99_500, 105_000, 115_000, 129_500, 130_500, 132_000];
  expect(unexplainedConflicts(times, cut)).toEqual([98_000, 115_000, 132_000]);
  expect(unexplainedConflicts([115_000], [{ ...cut[0], fault: "kill all servers of NATS" } as Interruption])).toEqual(
    [],
  );
});

test("copies are equal at the same entry alone, and two are there to compare", () => {
  const counts = { inbox: 0, done: 0, answers: 0, distinctAnswers: 0, sent: 0, calls: 0 };
  const copy = (file: string, number: number, agents: string): Contents => ({
    ...{ file, number, counts },
    tables: { agents },
  });
  compareCopies([copy("a", 7, "x"), copy("b", 7, "x"), copy("c", 7, "x")]);
  expect(() => compareCopies([copy("a", 7, "x")])).toThrow("no two copies");
  expect(() => compareCopies([copy("a", 7, "x"), copy("b", 7, "x"), copy("c", 6, "x")])).toThrow("c at 6");
  expect(() => compareCopies([copy("a", 7, "x"), copy("b", 7, "y")])).toThrow("differ in agents");
});
