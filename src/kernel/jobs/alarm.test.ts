import { expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { HOUR } from "../util/time.ts";
import { createAlarm } from "./alarm.ts";

/** Alarms over a clock that the test sets, which they look at every 2 ms. */
function clocked() {
  const clock = { now: 0, looks: 0 };
  const rung: string[] = [];
  const now = () => {
    clock.looks++;
    return clock.now;
  };
  return {
    clock,
    rung,
    alarm: (name = "first") => createAlarm(() => rung.push(name), { now, checkMs: 2 }),
    /** Until the alarms have looked at the clock twice more. */
    looked: () => {
      const before = clock.looks;
      return eventually(() => clock.looks >= before + 2);
    },
  };
}

test("an alarm rings at once for a time that has passed", async () => {
  const { clock, rung, alarm } = clocked();
  clock.now = HOUR;
  alarm().setFor(1);
  await eventually(() => rung.length === 1);
});

test("an alarm notices that the clock was set forward, or that the machine slept", async () => {
  const { clock, rung, alarm, looked } = clocked();
  alarm().setFor(HOUR);
  await looked();
  expect(rung).toEqual([]);
  clock.now = HOUR;
  await eventually(() => rung.length === 1);
});

test("a later time takes the place of the earlier one", async () => {
  const { clock, rung, alarm, looked } = clocked();
  const one = alarm();
  one.setFor(HOUR);
  one.setFor(3 * HOUR);
  clock.now = 2 * HOUR;
  await looked();
  expect(rung).toEqual([]);
  clock.now = 3 * HOUR;
  await eventually(() => rung.length === 1);
});

test("a cleared alarm is silent", async () => {
  const { clock, rung, alarm } = clocked();
  const cleared = alarm("cleared");
  cleared.setFor(HOUR);
  cleared.clear();
  alarm("second").setFor(HOUR);
  clock.now = HOUR;
  await eventually(() => rung.length === 1);
  expect(rung).toEqual(["second"]);
});
