// What a fault run takes for explained, and which copies it takes for equal.
import { expect, test } from "bun:test";
import { type Contents, compareCopies } from "./copies.ts";
import { mostCalls } from "./history.ts";

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
