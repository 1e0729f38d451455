// Tests the figures of the last calls of a provider.
import { expect, test } from "bun:test";
import { createCallRecorder } from "./call-figures.ts";

test("nothing was called: no figures", () => {
  const none = { calls: 0, failed: 0, medianMs: undefined, p95Ms: undefined, lastAt: undefined };
  expect(createCallRecorder().figuresOf("provider_1")).toEqual(none);
});

test("times are of answered calls; failures count with all", () => {
  const recorder = createCallRecorder(() => 7);
  for (const ms of [10, 20, 30, 40]) recorder.record("provider_1", false, ms);
  recorder.record("provider_1", true, undefined);
  recorder.record("provider_2", true, undefined);
  expect(recorder.figuresOf("provider_1")).toEqual({ calls: 5, failed: 1, medianMs: 30, p95Ms: 40, lastAt: 7 });
  expect(recorder.figuresOf("provider_2")).toMatchObject({ calls: 1, failed: 1, medianMs: undefined });
});

test("only the last 256 calls count", () => {
  const recorder = createCallRecorder();
  for (let n = 0; n < 300; n++) recorder.record("provider_1", true, undefined);
  for (let n = 0; n < 256; n++) recorder.record("provider_1", false, 5);
  expect(recorder.figuresOf("provider_1")).toMatchObject({ calls: 256, failed: 0, medianMs: 5, p95Ms: 5 });
});
