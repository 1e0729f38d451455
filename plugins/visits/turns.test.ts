// Turns of visitors: a few inside, the others in a line, in the order of their coming; nobody's place is lost.
import { beforeEach, describe, expect, test } from "bun:test";
import { createLimits } from "../../src/limits.ts";
import { createTurns, type Turns } from "./turns.ts";

const FOREVER = new AbortController().signal;
let turns: Turns;
const limits = () =>
  createLimits({
    database: { read: () => Promise.reject(), write: () => Promise.reject() },
    rateLimits: { enabled: false, overrides: {} },
    log: { warn: () => undefined },
  });
beforeEach(async () => {
  turns = createTurns({ limits: await limits(), patience: 50 });
});

let guests = 0;
const address = () => `10.0.0.${++guests}`;
const enter = (agentId = "fox", signal = FOREVER) => turns.begin(address(), agentId, signal);
/** Whether a promise is settled once all that can happen now has happened. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const not = Symbol("not");
  await Promise.resolve();
  await Promise.resolve();
  return (await Promise.race([promise, Promise.resolve(not)])) !== not;
}

describe("at one agent", () => {
  test("three are inside, the next waits until one leaves, in order", async () => {
    const [first] = [await enter(), await enter(), await enter()];
    const [fourth, fifth] = [enter(), enter()];
    expect(await isSettled(fourth)).toBe(false);
    first();
    first();
    const leave = await fourth;
    expect(await isSettled(fifth)).toBe(false);
    leave();
    (await fifth)();
  });

  test("who waits too long is told to come back, and who went away leaves the line", async () => {
    const inside = [await enter(), await enter(), await enter()];
    await expect(enter()).rejects.toMatchObject({ code: "AGENT_BUSY", headers: { "retry-after": "5" } });
    const gone = new AbortController();
    const leaving = enter("fox", gone.signal);
    const staying = enter();
    gone.abort();
    await expect(leaving).rejects.toBe(gone.signal.reason);
    await expect(enter("fox", gone.signal)).rejects.toBe(gone.signal.reason);
    inside[0]?.();
    (await staying)();
    for (const leave of inside) leave();
    await Promise.all([enter(), enter(), enter()]);
    expect(await isSettled(enter().catch(() => undefined))).toBe(false);
  });

  test("the line has an end, and an address has two places", async () => {
    for (let n = 0; n < 3; n++) await enter();
    const line = Array.from({ length: 32 }, () => enter().catch((error: unknown) => error));
    await expect(enter()).rejects.toMatchObject({ code: "AGENT_BUSY" });
    await Promise.all(line);
    const one = "192.0.2.1";
    const [leave] = [await turns.begin(one, "owl", FOREVER), await turns.begin(one, "owl", FOREVER)];
    await expect(turns.begin(one, "owl", FOREVER)).rejects.toMatchObject({ code: "AGENT_BUSY" });
    leave();
    await turns.begin(one, "owl", FOREVER);
    await turns.begin(one, "cat", FOREVER);
  });
});

test("whoever has a whole IPv6 network has the places of one address", async () => {
  await turns.begin("2001:db8::1", "fox", FOREVER);
  const leave = await turns.begin("2001:db8::2", "fox", FOREVER);
  await expect(turns.begin("2001:db8::3:4", "fox", FOREVER)).rejects.toMatchObject({ code: "AGENT_BUSY" });
  await turns.begin("2001:db8:0:1::1", "fox", FOREVER);
  leave();
  await turns.begin("2001:db8::5", "fox", FOREVER);
});

test("agents don't wait for each other", async () => {
  for (let n = 0; n < 3; n++) await enter("fox");
  await enter("owl");
});
