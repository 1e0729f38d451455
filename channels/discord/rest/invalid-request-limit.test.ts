// Tests that calls are blocked before Discord bans the host, whose address all bots share.
import { expect, test } from "bun:test";
import { createInvalidRequestLimit } from "./invalid-request-limit.ts";

test("too many refusals within ten minutes block every call until they are old", () => {
  let now = 0;
  const guard = createInvalidRequestLimit({ max: 100, now: () => now });
  for (let n = 0; n < 99; n++) guard.count([401, 403, 429][n % 3] ?? 0, "user");
  guard.check();
  guard.count(403, null);
  expect(() => guard.check()).toThrow("all its bots wait");
  now = 9.5 * 60_000;
  expect(() => guard.check()).toThrow("all its bots wait");
  now = 10 * 60_000;
  guard.check();
});

test("other responses are not counted", () => {
  const guard = createInvalidRequestLimit({ max: 1 });
  for (const status of [200, 204, 400, 404, 500, 502]) guard.count(status, null);
  guard.count(429, "shared");
  guard.check();
});

test("refusals over a longer time do not add up", () => {
  let now = 0;
  const guard = createInvalidRequestLimit({ max: 100, now: () => now });
  for (let minute = 0; minute < 100; minute++) {
    now = minute * 60_000;
    for (let n = 0; n < 9; n++) guard.count(429, "global");
    guard.check();
  }
});

test("a part is blocked before the whole, and its refusals count for both", () => {
  const parent = createInvalidRequestLimit({ max: 3 });
  const part = createInvalidRequestLimit({ max: 2, message: "only these wait", parent });
  for (let n = 0; n < 2; n++) part.count(401, null);
  expect(() => part.check()).toThrow("only these wait");
  parent.check();
  parent.count(401, null);
  expect(() => parent.check()).toThrow("all its bots wait");
  expect(() => part.check()).toThrow("all its bots wait");
});
