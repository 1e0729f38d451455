// Tests the ring of a day's minutes: steps, gaps, and what is forgotten.
import { expect, test } from "bun:test";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { createMinuteRing, MINUTES_PER_DAY } from "./minute-ring.ts";

const open = () => createMinuteRing({ requests: "sum", memory: "last", lag: "max" });
const START = 28_000_000;
const at = (minute: number) => (START + minute) * MINUTE + 1_000;

test("minutes become steps: sums, maxima and last values; missing minutes are null", () => {
  const ring = open();
  expect(ring.read(at(0), 1, 2)).toEqual({ requests: [null, null], memory: [null, null], lag: [null, null] });
  ring.add(at(0), { requests: 1, memory: 10, lag: 5 });
  ring.add(at(1), { requests: 2, memory: 20, lag: 3 });
  ring.add(at(7), { requests: 4, memory: 30, lag: 1 });
  expect(ring.read(at(9), 5, 3)).toEqual({ requests: [null, 3, 4], memory: [null, 20, 30], lag: [null, 5, 1] });
  expect(ring.read(at(7), 1, 3).requests).toEqual([null, null, 4]);
});

test("a day is kept, and a minute of yesterday never appears as today's", () => {
  const ring = open();
  ring.add(at(0), { requests: 1, memory: 1, lag: 1 });
  ring.add(at(MINUTES_PER_DAY - 1), { requests: 2, memory: 2, lag: 2 });
  const all = () => ring.read(at(MINUTES_PER_DAY - 1), 1, MINUTES_PER_DAY).requests;
  expect(all().filter((one) => one !== null)).toEqual([1, 2]);
  ring.add(at(MINUTES_PER_DAY + 3), { requests: 3, memory: 3, lag: 3 });
  expect(all().filter((one) => one !== null)).toEqual([2]);
  ring.add(at(9 * MINUTES_PER_DAY), { requests: 4, memory: 4, lag: 4 });
  expect(ring.read(at(9 * MINUTES_PER_DAY), 15, 96).requests.filter((one) => one !== null)).toEqual([4]);
});
