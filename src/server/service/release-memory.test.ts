import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { collectGarbage, dropFilePages, unwritableRanges } from "./release-memory.ts";

const mapping = (head: string, { anonymous = 0, dirty = 0 } = {}) =>
  `${head}\nSize: 8 kB\nRss: 8 kB\nPrivate_Dirty: ${dirty} kB\nAnonymous: ${anonymous} kB\nVmFlags: rd ex\n`;

describe("what may be dropped", () => {
  test("is what is mapped from a file and can't be written", () => {
    const smaps = [
      mapping("00200000-01a40000 r--p 00000000 fe:00 123 /usr/bin/berth"),
      mapping("01a40000-06836000 r-xp 01840000 fe:00 123 /usr/bin/berth (deleted)"),
    ];
    expect(unwritableRanges(smaps.join(""))).toEqual([
      { from: 0x200000, to: 0x1a40000 },
      { from: 0x1a40000, to: 0x6836000 },
    ]);
  });

  test("is nothing that was changed, can be changed, or has no file", () => {
    const smaps = [
      mapping("06836000-06852000 rw-p 06620000 fe:00 123 /usr/bin/berth"),
      mapping("7f0017d24000-7f0017d70000 r--p 00000000 fe:00 9 /lib/libc.so.6", { anonymous: 4, dirty: 4 }),
      mapping("7effd7863000-7effd7864000 rwxp 00000000 00:00 0 "),
      mapping("7ffe52d96000-7ffe52d9a000 r--p 00000000 00:00 0 [vvar]"),
      mapping("7effd5e00000-7effd66c0000 r-xs 00000000 fe:00 7 /tmp/shared"),
    ];
    expect(unwritableRanges(smaps.join(""))).toEqual([]);
  });
});

test.if(process.platform === "linux")("the pages of files are dropped, and the program goes on", async () => {
  const mapped = () => {
    const text = readFileSync("/proc/self/smaps_rollup", "utf8");
    const kib = (field: string) => Number(new RegExp(`^${field}: +(\\d+)`, "m").exec(text)?.[1]);
    return kib("Rss") - kib("Anonymous");
  };
  const before = mapped();
  await dropFilePages();
  expect(mapped()).toBeLessThan(before * 0.7);
  expect(JSON.parse(JSON.stringify({ a: [1, "two", /3/.source] }))).toEqual({ a: [1, "two", "3"] });
});

describe("compiled code", () => {
  /** A function that has code of its own, and how many have. */
  const compiled = () => {
    const add = new Function("n", "let sum = 0; for (let i = 0; i < n; i++) sum += i % 7; return sum") as (
      n: number,
    ) => number;
    add(1_000);
    return { add, count: codeBlocks() };
  };
  const codeBlocks = () => heapStats().objectTypeCounts.FunctionCodeBlock ?? 0;

  test("is kept by a process that has worked", async () => {
    const { add, count } = compiled();
    collectGarbage(500_000);
    await yieldToEventLoop();
    expect(codeBlocks()).toBeGreaterThanOrEqual(count / 2);
    expect(add(3)).toBe(3);
  });

  test("of the start is given back by one that has not", async () => {
    const { add, count } = compiled();
    collectGarbage(499_999);
    await yieldToEventLoop();
    expect(codeBlocks()).toBeLessThan(count / 2);
    expect(add(3)).toBe(3);
  });
});
