// Tests the busy time over the last minute, with a clock that the test advances.
import { expect, test } from "bun:test";
import { beginBusy, busyMs, createBusyMeter, endBusy } from "./busy-meter.ts";
import { createSampleClock } from "./sample-clock.ts";

/** A clock that only `advance` moves on, with a sample every 5 s. */
function createFixture() {
  const time = { now: 1_000, cpu: 500 };
  const clock = createSampleClock({ now: () => time.now, cpu: () => time.cpu });
  const advance = (ms: number) => {
    for (const until = time.now + ms; time.now < until; ) {
      time.now += 1_000;
      if ((time.now - 1_000) % 5_000 === 0) clock.advance();
    }
  };
  return { clock, time, advance };
}

test("counts running tasks up to now, concurrent ones each, and none that ended over a minute ago", () => {
  const fixture = createFixture();
  const meter = createBusyMeter(fixture.clock);
  expect(busyMs(meter, fixture.clock)).toBe(0);
  beginBusy(meter, fixture.clock);
  fixture.advance(3_000);
  expect(busyMs(meter, fixture.clock)).toBe(3_000);
  beginBusy(meter, fixture.clock);
  fixture.advance(4_000);
  endBusy(meter, fixture.clock);
  expect(busyMs(meter, fixture.clock)).toBe(3_000 + 2 * 4_000);
  endBusy(meter, fixture.clock);
  fixture.advance(50_000);
  expect(busyMs(meter, fixture.clock)).toBe(11_000);
  fixture.advance(20_000);
  expect(busyMs(meter, fixture.clock)).toBe(0);
});

test("counts only the last minute of a long task", () => {
  const fixture = createFixture();
  const meter = createBusyMeter(fixture.clock);
  beginBusy(meter, fixture.clock);
  fixture.advance(600_000);
  expect(busyMs(meter, fixture.clock)).toBe(60_000);
  fixture.advance(3_000);
  expect(busyMs(meter, fixture.clock)).toBe(63_000);
  endBusy(meter, fixture.clock);
  fixture.advance(30_000);
  expect(busyMs(meter, fixture.clock)).toBeWithin(30_000, 35_001);
});

test("a meter that is created late counts nothing before its creation", () => {
  const fixture = createFixture();
  fixture.advance(1_000_000);
  const meter = createBusyMeter(fixture.clock);
  fixture.advance(7_000);
  beginBusy(meter, fixture.clock);
  fixture.advance(2_000);
  endBusy(meter, fixture.clock);
  expect(busyMs(meter, fixture.clock)).toBe(2_000);
});

test("reports the CPU time since the first step of the last minute", () => {
  const fixture = createFixture();
  fixture.advance(10_000);
  fixture.time.cpu += 1_000;
  expect(fixture.clock.cpuUsage()).toEqual({ cpuMs: 1_000, ms: 10_000 });
  fixture.advance(60_000);
  expect(fixture.clock.cpuUsage()).toEqual({ cpuMs: 1_000, ms: 60_000 });
  fixture.advance(5_000);
  expect(fixture.clock.cpuUsage()).toEqual({ cpuMs: 0, ms: 60_000 });
});
