// Tests the turns of visitors: a few are answered at once, the others wait in order, and every turn is returned.
import { beforeEach, describe, expect, test } from "bun:test";
import { createRateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { createVisitorLimiter, type VisitorLimiter } from "./visitor-limiter.ts";

const FOREVER = new AbortController().signal;
let limiter: VisitorLimiter;
const limits = () =>
  createRateLimiter({
    database: { read: () => Promise.reject(), write: () => Promise.reject() },
    rateLimits: { enabled: false, overrides: {} },
    log: { warn: () => undefined },
  });
beforeEach(async () => {
  limiter = createVisitorLimiter({ limits: await limits(), maxWaitMs: 50 });
});

let visitorCount = 0;
const address = () => `10.0.0.${++visitorCount}`;
const acquire = (agentId = "fox", signal = FOREVER) => limiter.acquire(address(), agentId, signal);
/** Whether a promise is settled after pending microtasks have run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol("pending");
  await Promise.resolve();
  await Promise.resolve();
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

describe("at one agent", () => {
  test("three visitors are answered at once; the others wait in order", async () => {
    const [first] = [await acquire(), await acquire(), await acquire()];
    const [fourth, fifth] = [acquire(), acquire()];
    expect(await isSettled(fourth)).toBe(false);
    first();
    first();
    const leave = await fourth;
    expect(await isSettled(fifth)).toBe(false);
    leave();
    (await fifth)();
  });

  test("a visitor who waits too long is refused, and one who disconnects stops waiting", async () => {
    const inside = [await acquire(), await acquire(), await acquire()];
    await expect(acquire()).rejects.toMatchObject({ code: "AGENT_BUSY", headers: { "retry-after": "5" } });
    const gone = new AbortController();
    const leaving = acquire("fox", gone.signal);
    const staying = acquire();
    gone.abort();
    await expect(leaving).rejects.toBe(gone.signal.reason);
    await expect(acquire("fox", gone.signal)).rejects.toBe(gone.signal.reason);
    inside[0]?.();
    (await staying)();
    for (const leave of inside) leave();
    await Promise.all([acquire(), acquire(), acquire()]);
    expect(await isSettled(acquire().catch(() => undefined))).toBe(false);
  });

  test("32 visitors may wait, and one address has two places", async () => {
    for (let n = 0; n < 3; n++) await acquire();
    const line = Array.from({ length: 32 }, () => acquire().catch((error: unknown) => error));
    await expect(acquire()).rejects.toMatchObject({ code: "AGENT_BUSY" });
    await Promise.all(line);
    const one = "192.0.2.1";
    const [leave] = [await limiter.acquire(one, "owl", FOREVER), await limiter.acquire(one, "owl", FOREVER)];
    await expect(limiter.acquire(one, "owl", FOREVER)).rejects.toMatchObject({ code: "AGENT_BUSY" });
    leave();
    await limiter.acquire(one, "owl", FOREVER);
    await limiter.acquire(one, "cat", FOREVER);
  });
});

test("an IPv6 network counts as one address", async () => {
  await limiter.acquire("2001:db8::1", "fox", FOREVER);
  const leave = await limiter.acquire("2001:db8::2", "fox", FOREVER);
  await expect(limiter.acquire("2001:db8::3:4", "fox", FOREVER)).rejects.toMatchObject({ code: "AGENT_BUSY" });
  await limiter.acquire("2001:db8:0:1::1", "fox", FOREVER);
  leave();
  await limiter.acquire("2001:db8::5", "fox", FOREVER);
});

test("each agent has its own places", async () => {
  for (let n = 0; n < 3; n++) await acquire("fox");
  await acquire("owl");
});
