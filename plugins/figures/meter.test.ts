// Busy time over the last minute, with the clock in the test's hand.
import { expect, test } from "bun:test";
import { createClock } from "./clock.ts";
import { begin, busy, createMeter, end } from "./meter.ts";

/** Time passes when the test says so, in steps of 5 s. */
function stand() {
  const time = { now: 1_000, cpu: 500 };
  const clock = createClock({ now: () => time.now, cpu: () => time.cpu });
  const pass = (ms: number) => {
    for (const until = time.now + ms; time.now < until; ) {
      time.now += 1_000;
      if ((time.now - 1_000) % 5_000 === 0) clock.advance();
    }
  };
  return { clock, time, pass };
}

test("what runs counts up to now, side by side twice, and nothing once it is over a minute ago", () => {
  const it = stand();
  const meter = createMeter(it.clock);
  expect(busy(meter, it.clock)).toBe(0);
  begin(meter, it.clock);
  it.pass(3_000);
  expect(busy(meter, it.clock)).toBe(3_000);
  begin(meter, it.clock);
  it.pass(4_000);
  end(meter, it.clock);
  expect(busy(meter, it.clock)).toBe(3_000 + 2 * 4_000);
  end(meter, it.clock);
  it.pass(50_000);
  expect(busy(meter, it.clock)).toBe(11_000);
  it.pass(20_000);
  expect(busy(meter, it.clock)).toBe(0);
});

test("one that has been running for long was busy for the last minute alone", () => {
  const it = stand();
  const meter = createMeter(it.clock);
  begin(meter, it.clock);
  it.pass(600_000);
  expect(busy(meter, it.clock)).toBe(60_000);
  it.pass(3_000);
  expect(busy(meter, it.clock)).toBe(63_000);
  end(meter, it.clock);
  it.pass(30_000);
  expect(busy(meter, it.clock)).toBeWithin(30_000, 35_001);
});

test("one that begins late knows nothing of the steps before it", () => {
  const it = stand();
  it.pass(1_000_000);
  const meter = createMeter(it.clock);
  it.pass(7_000);
  begin(meter, it.clock);
  it.pass(2_000);
  end(meter, it.clock);
  expect(busy(meter, it.clock)).toBe(2_000);
});

test("the processor's time is that since the first step of the last minute", () => {
  const it = stand();
  it.pass(10_000);
  it.time.cpu += 1_000;
  expect(it.clock.used()).toEqual({ cpuMs: 1_000, ms: 10_000 });
  it.pass(60_000);
  expect(it.clock.used()).toEqual({ cpuMs: 1_000, ms: 60_000 });
  it.pass(5_000);
  expect(it.clock.used()).toEqual({ cpuMs: 0, ms: 60_000 });
});
