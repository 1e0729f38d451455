// Tests when the circuit breaker stops calls to a provider, and how they resume.
import { expect, test } from "bun:test";
import { type CallOutcome, createCircuitBreaker } from "./circuit-breaker.ts";

function createFixture() {
  const clock = { now: 1_000_000 };
  const changes: string[] = [];
  const breaker = createCircuitBreaker({ now: () => clock.now, onStateChange: (state) => changes.push(state) });
  const call = (outcome: CallOutcome) => {
    const ticket = breaker.tryAcquire();
    if (ticket) breaker.recordResult(ticket, outcome);
    return ticket;
  };
  const calls = (outcome: CallOutcome, times: number) => Array.from({ length: times }, () => call(outcome));
  return { clock, changes, breaker, call, calls };
}

test("eight failures in a row open the circuit, seven do not", () => {
  const { breaker, changes, call, calls } = createFixture();
  calls("failed", 5);
  call("succeeded");
  calls("failed", 4);
  expect([breaker.state(), changes]).toEqual(["closed", []]);
  calls("succeeded", 30);
  calls("failed", 7);
  expect([breaker.state(), changes]).toEqual(["closed", []]);
  call("failed");
  expect([breaker.state(), breaker.retryAfterMs(), changes]).toEqual(["open", 5_000, ["open"]]);
  expect(call("succeeded")).toBeUndefined();
});

test("fifteen failures among the last thirty calls open the circuit in any order", () => {
  const { breaker, call } = createFixture();
  for (let n = 0; n < 14; n++) {
    call("failed");
    call("succeeded");
  }
  expect(breaker.state()).toBe("closed");
  call("failed");
  expect(breaker.state()).toBe("open");
});

test("failures before the last thirty calls do not count", () => {
  const { breaker, calls } = createFixture();
  for (let n = 0; n < 20; n++) {
    calls("failed", 7);
    calls("succeeded", 23);
  }
  expect(breaker.state()).toBe("closed");
});

test("a call whose client left does not count", () => {
  const { breaker, calls } = createFixture();
  calls("unknown", 100);
  expect(breaker.state()).toBe("closed");
});

test("after the pause one trial call is permitted, and its success closes the circuit", () => {
  const { breaker, clock, changes, calls } = createFixture();
  calls("failed", 8);
  clock.now += 4_999;
  expect(breaker.tryAcquire()).toBeUndefined();
  clock.now += 1;
  expect(breaker.state()).toBe("half-open");
  const trial = breaker.tryAcquire();
  expect([trial, breaker.tryAcquire()]).toEqual(["trial", undefined]);
  breaker.recordResult("trial", "succeeded");
  expect([breaker.state(), breaker.tryAcquire(), changes]).toEqual(["closed", "call", ["open", "closed"]]);
});

test("each failed trial doubles the pause up to a minute; a success resets it", () => {
  const { breaker, clock, changes, call, calls } = createFixture();
  calls("failed", 8);
  const pauses: number[] = [];
  for (let n = 0; n < 6; n++) {
    pauses.push(breaker.retryAfterMs());
    clock.now += breaker.retryAfterMs();
    call("failed");
  }
  expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  clock.now += 60_000;
  call("succeeded");
  calls("failed", 8);
  expect([breaker.retryAfterMs(), changes]).toEqual([5_000, ["open", "closed", "open"]]);
});

test("another trial is permitted after one whose client left", () => {
  const { breaker, clock, call, calls } = createFixture();
  calls("failed", 8);
  clock.now += 5_000;
  expect(call("unknown")).toBe("trial");
  expect([breaker.state(), breaker.tryAcquire()]).toEqual(["half-open", "trial"]);
});

test("calls from before the opening neither close the circuit nor prolong the pause", () => {
  const { breaker, calls } = createFixture();
  const early = breaker.tryAcquire();
  calls("failed", 8);
  for (const outcome of ["succeeded", "failed"] as const) breaker.recordResult(early ?? "call", outcome);
  expect([breaker.state(), breaker.retryAfterMs() <= 5_000]).toEqual(["open", true]);
});
