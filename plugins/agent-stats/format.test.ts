// Tests the formatting of bytes, durations and percentages.
import { expect, test } from "bun:test";
import { formatBytes, formatDuration, formatPercent } from "./format.ts";

test.each([
  [0, "0 B"],
  [1023, "1023 B"],
  [1024, "1 KiB"],
  [1536, "1.5 KiB"],
  [64 * 1024 * 1024, "64 MiB"],
  [1024 ** 3, "1 GiB"],
  [5 * 1024 ** 5, "5120 TiB"],
])("%d bytes are %s", (count, text) => expect(formatBytes(count)).toBe(text));

test.each([
  [0, "0s"],
  [999, "0s"],
  [61_000, "1m 1s"],
  [3_600_000, "1h 0m 0s"],
  [93_784_999, "1d 2h 3m 4s"],
])("%d ms are %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

test.each([
  [0, "0.00%"],
  [0.004_242, "0.42%"],
  [1.5, "150.00%"],
])("a share of %d is %s", (share, text) => expect(formatPercent(share)).toBe(text));
