// Tests for how long a machine counts as ready while cell 0 has no owner.
import { expect, test } from "bun:test";
import { WAIT_MS } from "../../cluster/relay/router.ts";
import { createOwnerWatch } from "./node-routes.ts";

test("an owner that has gone is waited for as long as requests are; one that never came is not", () => {
  let [isOwned, now] = [false, 0];
  const watch = createOwnerWatch(
    () => isOwned,
    () => now,
  );
  expect(watch.hasOwner()).toBe(false);
  isOwned = true;
  watch.look();
  // Nobody asks for a long time.
  now = 1_000_000;
  isOwned = false;
  watch.look();
  now += WAIT_MS;
  expect(watch.hasOwner()).toBe(true);
  now += 1;
  expect(watch.hasOwner()).toBe(false);
});
