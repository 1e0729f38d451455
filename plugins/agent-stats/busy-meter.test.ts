// Busy time over the last minute, with the clock in the test's hand.
import { expect, test } from "bun:test";
import { beginBusy, busyMs, createBusyMeter, endBusy } from "./busy-meter.ts";
import { createSampleClock } from "./sample-clock.ts";

/** Time passes when the test says so, in steps of 5 s. */
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

test("what runs counts up to now, side by side twice, and nothing once it is over a minute ago", () => {
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

test("one that has been running for long was busy for the last minute alone", () => {
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

test("one that begins late knows nothing of the steps before it", () => {
  const fixture = createFixture();
  fixture.advance(1_000_000);
  const meter = createBusyMeter(fixture.clock);
  fixture.advance(7_000);
  beginBusy(meter, fixture.clock);
  fixture.advance(2_000);
  endBusy(meter, fixture.clock);
  expect(busyMs(meter, fixture.clock)).toBe(2_000);
});

test("the processor's time is that since the first step of the last minute", () => {
  const fixture = createFixture();
  fixture.advance(10_000);
  fixture.time.cpu += 1_000;
  expect(fixture.clock.cpuUsage()).toEqual({ cpuMs: 1_000, ms: 10_000 });
  fixture.advance(60_000);
  expect(fixture.clock.cpuUsage()).toEqual({ cpuMs: 1_000, ms: 60_000 });
  fixture.advance(5_000);
  expect(fixture.clock.cpuUsage()).toEqual({ cpuMs: 0, ms: 60_000 });
});
