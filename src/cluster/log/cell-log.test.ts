// Tests what becomes of an entry that the engine does not take.
import { expect, test } from "bun:test";
import { EngineUnavailable } from "../engine.ts";
import { createMemoryLog } from "../memory-engine.ts";
import { openCellLog } from "./cell-log.ts";

const entry = new Uint8Array(1_000);
const never = new AbortController().signal;

test("an entry that the engine refuses again and again is given up, with what the engine says", async () => {
  const engine = createMemoryLog();
  engine.fault = () => "request-lost";
  const log = openCellLog(engine, 0, never, 300);
  const began = performance.now();
  await expect(log.append(entry)).rejects.toThrow(EngineUnavailable);
  expect(performance.now() - began).toBeGreaterThanOrEqual(300);
});

test("one that is taken in time is written once", async () => {
  const engine = createMemoryLog();
  let refusals = 0;
  engine.fault = () => (++refusals > 3 ? "none" : refusals % 2 ? "answer-lost" : "request-lost");
  const place = await openCellLog(engine, 0, never, 60_000).append(entry);
  expect(place).toMatchObject({ after: 0, number: 1 });
  expect(await engine.bounds()).toMatchObject({ last: 1 });
});

test("one whose answer is not waited for any more is not known: it may be written", async () => {
  const engine = createMemoryLog();
  const ended = new AbortController();
  const log = openCellLog(engine, 0, ended.signal);
  engine.fault = () => {
    ended.abort(new Error("The cell has moved."));
    return "answer-lost";
  };
  await expect(log.append(entry)).rejects.toThrow(EngineUnavailable);
  expect(await engine.bounds()).toMatchObject({ last: 1 });
  // Nothing is sent from then on, which is known.
  await expect(log.append(entry)).rejects.toThrow("The cell has moved.");
  expect(await engine.bounds()).toMatchObject({ last: 1 });
});

test("an engine that never answers is left as soon as the signal aborts", async () => {
  const engine = createMemoryLog();
  const ended = new AbortController();
  const silent = Object.assign(Object.create(engine), { append: () => new Promise<never>(() => undefined) });
  const appended = openCellLog(silent, 0, ended.signal).append(entry);
  ended.abort(new Error("The cell has moved."));
  await expect(appended).rejects.toThrow(EngineUnavailable);
});

test("an entry is written in parts as large as the engine takes", async () => {
  const engine = createMemoryLog();
  engine.maxBytes = 300;
  const place = await openCellLog(engine, 0, never).append(entry);
  expect(place).toMatchObject({ after: 0, number: 4 });
  const sizes = await Promise.all([1, 2, 3, 4].map(async (number) => (await engine.read(number))?.length ?? 0));
  expect(Math.max(...sizes)).toBe(300);
});
