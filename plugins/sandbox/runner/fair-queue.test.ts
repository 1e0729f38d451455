// Tests the queue in front of the sandbox: slots, turns of keys, limits, and the end of a wait.
import { expect, test } from "bun:test";
import { createFairQueue, type FairQueueOptions } from "./fair-queue.ts";

const busy = new Error("busy");
const { signal } = new AbortController();

/** A queue whose tasks end when they are told to; `begun` lists them in the order of their start. */
function openQueue(options: Partial<FairQueueOptions> = {}) {
  const enter = createFairQueue({ slots: 1, perKey: 3, total: 5, waitMs: 60_000, error: () => busy, ...options });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (key: string, name: string, until: AbortSignal = signal) =>
    enter(
      key,
      async () => {
        begun.push(name);
        const { promise, resolve } = Promise.withResolvers<void>();
        ends.set(name, resolve);
        await promise;
        return name;
      },
      until,
    );
  const end = (name: string) => ends.get(name)?.();
  return { add, end, begun };
}

test("keys take turns, however many tasks one of them has", async () => {
  const { add, end, begun } = openQueue();
  const tasks = [add("a", "a1"), add("a", "a2"), add("a", "a3"), add("b", "b1"), add("c", "c1")];
  for (const name of ["a1", "a2", "b1", "c1", "a3"]) {
    await Promise.resolve();
    end(name);
    await Promise.race(tasks.slice(begun.length - 1));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await Promise.all(tasks)).toEqual(["a1", "a2", "a3", "b1", "c1"]);
  expect(begun).toEqual(["a1", "a2", "b1", "c1", "a3"]);
});

test("a task that fails gives its slot back", async () => {
  const enter = createFairQueue({ slots: 1, perKey: 1, total: 1, waitMs: 60_000, error: () => busy });
  const failed = enter("a", () => Promise.reject(new Error("no")), signal);
  const next = enter("b", async () => "ran", signal);
  await expect(failed).rejects.toThrow("no");
  expect(await next).toBe("ran");
});

test("no more tasks wait than are allowed, for a key and in all", async () => {
  const { add, end } = openQueue({ perKey: 2, total: 3 });
  const leaving = new AbortController();
  const tasks = ["a1", "a2", "a3"].map((name) => add("a", name, leaving.signal));
  await expect(add("a", "a4")).rejects.toBe(busy);
  tasks.push(add("b", "b1", leaving.signal));
  await expect(add("c", "c1")).rejects.toBe(busy);
  // A wait that is left would end in the middle of a later test.
  leaving.abort(busy);
  end("a1");
  const outcomes = await Promise.allSettled(tasks);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
});

test("a wait ends with its time, or with its signal, and leaves the queue", async () => {
  const { add, end, begun } = openQueue({ waitMs: 1 });
  const first = add("a", "a1");
  await expect(add("b", "b1")).rejects.toBe(busy);
  const controller = new AbortController();
  const cancelled = add("c", "c1", controller.signal);
  controller.abort(new Error("cancelled"));
  await expect(cancelled).rejects.toThrow("cancelled");
  end("a1");
  await first;
  const last = add("d", "d1");
  end("d1");
  await last;
  expect(begun).toEqual(["a1", "d1"]);
});
