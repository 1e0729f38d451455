// Tests that a paced loop lets other work run, and that its rounds are cheap.
import { expect, test } from "bun:test";
import { createPacer } from "./pacing.ts";

test("a paced loop of 100 ms lets timers run in between", async () => {
  let fired = 0;
  const timer = setInterval(() => fired++, 1);
  const pace = createPacer();
  const end = performance.now() + 100;
  while (performance.now() < end) await pace();
  clearInterval(timer);
  expect(fired).toBeGreaterThan(5);
});

test("a short loop yields nothing", () => {
  const pace = createPacer();
  expect(Array.from({ length: 10 }, pace)).toEqual(Array.from({ length: 10 }, () => undefined));
});
