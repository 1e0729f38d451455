// Tests what is known about the process's descriptors.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { descriptorLimit, lowLimitWarning } from "./descriptors.ts";

test("the limit is the process's own", () => {
  expect(descriptorLimit()).toBe(Number(Bun.spawnSync(["sh", "-c", "ulimit -n"]).stdout.toString()));
});

test("a low limit gets a warning that says what to do; an unknown one gets none", () => {
  expect(lowLimitWarning(1024)).toContain("1024");
  expect(lowLimitWarning(1024)).toContain("LimitNOFILE=65536");
  expect(lowLimitWarning(65_536)).toBeUndefined();
  expect(lowLimitWarning(undefined)).toBeUndefined();
});

test("descriptors in use are listed, and the lowest free one is the next to be opened", () => {
  const program = `
    import { closeSync, openSync } from "node:fs";
    import { lowestFreeDescriptor, openDescriptors } from ${JSON.stringify(join(import.meta.dir, "descriptors.ts"))};
    const free = lowestFreeDescriptor();
    const file = openSync("/dev/null", "r");
    const isListed = openDescriptors(65_536).includes(file);
    const next = lowestFreeDescriptor();
    closeSync(file);
    console.log(JSON.stringify({ isNext: file === free, isListed, isHigher: next > file, isFreeAgain: lowestFreeDescriptor() === free }));
  `;
  // In a process of its own, since threads of this one open and close descriptors of their own.
  const { stdout } = Bun.spawnSync([process.execPath, "-e", program]);
  expect(JSON.parse(stdout.toString())).toEqual({ isNext: true, isListed: true, isHigher: true, isFreeAgain: true });
});
