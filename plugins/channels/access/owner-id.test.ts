// Tests which texts are ids of owners.
import { expect, test } from "bun:test";
import { AppError } from "../../../src/kernel/errors.ts";
import { parseOwnerId } from "./owner-id.ts";

test.each([
  ["channel_a", 42, "42"],
  ["channel_a", " 1234567890 ", "1234567890"],
  ["channel_b", "80351110224678912", "80351110224678912"],
  ["channel_c", "+43 (660) 123-45.67", "436601234567"],
  ["channel_c", "436601234567", "436601234567"],
  ["channel_c", "US.13491208655302741918", "US.13491208655302741918"],
] as const)("%s: %p is %s", (channel, given, id) => expect(parseOwnerId(channel, given)).toBe(id));

test("an empty id counts as none", () => {
  for (const given of [undefined, "", "  "]) expect(parseOwnerId("channel_a", given)).toBeUndefined();
});

test.each([
  ["channel_a", "@ada"],
  ["channel_a", "+42"],
  ["channel_a", -1],
  ["channel_a", "1.5"],
  ["channel_b", "ada#1234"],
  ["channel_b", "9".repeat(33)],
  ["channel_c", "Ada"],
  ["channel_c", "us.1"],
  ["channel_c", "++43660"],
] as const)("%s: %p is none", (channel, given) => {
  expect(() => parseOwnerId(channel, given, "where")).toThrow(AppError);
  expect(() => parseOwnerId(channel, given, "where")).toThrow(/^where: /);
});
