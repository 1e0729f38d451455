import { expect, test } from "bun:test";
import { formatBytes, formatUsd } from "./language.ts";

test("amounts have cents, and smaller ones the digits that they need", () => {
  expect([12, 0.0125, 0.00133, 0].map((usd) => formatUsd(usd))).toEqual(["$12.00", "$0.01", "$0.00133", "$0.00"]);
});

test("the amounts of an axis differ from each other", () => {
  expect([0, 0.0025, 0.005, 0.0075, 0.01, 0.0125].map((usd) => formatUsd(usd, 0.0025))).toEqual([
    "$0.00",
    "$0.0025",
    "$0.005",
    "$0.0075",
    "$0.01",
    "$0.0125",
  ]);
  expect([0, 0.5, 1].map((usd) => formatUsd(usd, 0.5))).toEqual(["$0.00", "$0.50", "$1.00"]);
});

test("sizes have a plural", () => {
  expect([0, 1, 15, 1_500, 5_400_000_000].map(formatBytes)).toEqual([
    "0 bytes",
    "1 byte",
    "15 bytes",
    "1.5 kB",
    "5.4 GB",
  ]);
});
