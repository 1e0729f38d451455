// Tests the semaphore: order, weights, aborts and timeouts.
import { describe, expect, test } from "bun:test";
import { createSemaphore } from "./semaphore.ts";

/** Whether a promise is settled once everything that can run now has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  await new Promise((resolve) => setImmediate(resolve));
  return Bun.peek.status(promise) !== "pending";
}

describe("acquire", () => {
  test("admits requests while their units fit, then in the order in which they came", async () => {
    const semaphore = createSemaphore(10);
    const first = await semaphore.acquire(6);
    const second = semaphore.acquire(6);
    // It would fit, but earlier requests come first.
    const third = semaphore.acquire(1);
    expect(await isSettled(second)).toBe(false);
    expect(await isSettled(third)).toBe(false);
    first();
    (await second)();
    (await third)();
  });

  test("returns units once, however often they are returned", async () => {
    const semaphore = createSemaphore(1);
    const release = await semaphore.acquire();
    release();
    release();
    await semaphore.acquire();
    expect(await isSettled(semaphore.acquire())).toBe(false);
  });

  test("admits a request larger than the capacity alone", async () => {
    const semaphore = createSemaphore(10);
    const release = await semaphore.acquire(1);
    const large = semaphore.acquire(1_000);
    expect(await isSettled(large)).toBe(false);
    release();
    const releaseLarge = await large;
    expect(await isSettled(semaphore.acquire(1))).toBe(false);
    releaseLarge();
  });

  test("never waits for 0 units", async () => {
    const semaphore = createSemaphore(1);
    await semaphore.acquire();
    expect(await isSettled(semaphore.acquire(0))).toBe(true);
  });

  test("ends the wait when its signal aborts, and the next in line moves up", async () => {
    const semaphore = createSemaphore(1);
    const release = await semaphore.acquire();
    const leaving = new AbortController();
    const second = semaphore.acquire(1, { signal: leaving.signal });
    const third = semaphore.acquire();
    leaving.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    release();
    await third;
    await expect(semaphore.acquire(1, { signal: leaving.signal })).rejects.toThrow("gone");
  });

  test("ends the wait with the given error after its time-out", async () => {
    const semaphore = createSemaphore(1);
    const release = await semaphore.acquire();
    const timeout = { ms: 1, error: () => new Error("too long") };
    await expect(semaphore.acquire(1, { timeout })).rejects.toThrow("too long");
    release();
    (await semaphore.acquire(1, { timeout }))();
  });
});

describe("run", () => {
  test("returns the unit when the work fails", async () => {
    const semaphore = createSemaphore(1);
    await expect(semaphore.run(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await semaphore.run(async () => "done")).toBe("done");
  });
});
