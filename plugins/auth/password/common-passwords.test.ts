// Tests the list of common passwords: it is that of a maintained package, and short.
import { expect, test } from "bun:test";
import { dictionary } from "@zxcvbn-ts/language-common";
import { isCommonPassword } from "./common-passwords.ts";
import list from "./common-passwords.txt" with { type: "text" };

test("the list has the 1,000 most common passwords of zxcvbn; scripts/refresh-passwords.mjs writes it", () => {
  expect(list.split("\n").slice(0, -1)).toEqual(dictionary["passwords-common"]?.slice(0, 1000) ?? []);
  expect(Buffer.byteLength(list)).toBeLessThan(10_000);
});

test.each(["password", "PassWord", "12345678", "qwertyuiop", "zxcvbnm"])("%s is common", async (password) => {
  expect(await isCommonPassword(password)).toBe(true);
});

test.each(["", "\n", "password\n", "correct horse battery", "constructor", "__proto__"])(
  "%j is not",
  async (password) => {
    expect(await isCommonPassword(password)).toBe(false);
  },
);
