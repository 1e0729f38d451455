// Tests what is known about the process's descriptors.
import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { descriptorLimit, lowestFreeDescriptor, lowLimitWarning, openDescriptors } from "./descriptors.ts";

test("the limit is the process's own", () => {
  expect(descriptorLimit()).toBe(Number(Bun.spawnSync(["sh", "-c", "ulimit -n"]).stdout.toString()));
});

test("a low limit gets a warning that says what to do; an unknown one gets none", () => {
  expect(lowLimitWarning(1024)).toContain("1024");
  expect(lowLimitWarning(1024)).toContain("LimitNOFILE=65536");
  expect(lowLimitWarning(65_536)).toBeUndefined();
  expect(lowLimitWarning(undefined)).toBeUndefined();
});

test("descriptors in use are listed, and the lowest free one is known", () => {
  const free = lowestFreeDescriptor();
  const file = openSync("/dev/null", "r");
  expect(file).toBe(free ?? -1);
  expect(openDescriptors(65_536)).toContain(file);
  expect(lowestFreeDescriptor()).toBeGreaterThan(file);
  closeSync(file);
  expect(lowestFreeDescriptor()).toBe(free);
});
