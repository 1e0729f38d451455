// Tests the list of common passwords, which is that of a maintained package and short, and the rules for trivial ones.
import { describe, expect, test } from "bun:test";
import { dictionary } from "@zxcvbn-ts/language-common";
import { isCommonPassword, isTrivialPassword } from "./common-passwords.ts";
import list from "./common-passwords.txt" with { type: "text" };

const all = dictionary["passwords-common"] ?? [];

test("the list has the most common passwords of zxcvbn that are long enough; scripts/refresh-passwords.mjs writes it", () => {
  const long = all.filter(({ length }) => length >= 8).slice(0, 5000);
  const short = all.filter(({ length }) => length === 6 || length === 7).slice(0, 1000);
  expect(list.split("\n").slice(0, -1)).toEqual([...long, ...short]);
  expect(list).toBe(list.normalize("NFC").toLowerCase());
  expect(Buffer.byteLength(list)).toBeLessThan(60_000);
});

test.each([
  ...["password", "PassWord", "qwertyuiop", "zxcvbnm", "P@ssw0rd", "passw0rd", "admin123", "Welcome1", "12345679"],
  // The first and last ones of both lengths.
  ...list.split("\n").filter((_, at) => [0, 4999, 5000, 5999].includes(at)),
])("%s is common", async (password) => {
  expect(await isCommonPassword(password)).toBe(true);
});

test.each([
  ...["", "\n", "password\n", "\npassword", list.slice(0, 17), "passwor d", "correct horse battery"],
  ...["constructor", "__proto__"],
])("%j is not", async (password) => {
  expect(await isCommonPassword(password)).toBe(false);
});

describe("a password is trivial", () => {
  test.each([
    ...["aaaaaaaa", "AaAaAaAa", "00000000", "        ", "ääääääää", "\u00e4a\u0308".repeat(4), "😀😀😀😀😀😀😀😀"],
    ...["abababab", "123123123", "abcabcabc", "12312312", "passpass", "x".repeat(1024)],
    ...["abcdefgh", "ABCDEFGH", "hgfedcba", "12345678", "87654321", "01234567890", "0987654321", "αβγδεζηθ"],
  ])("as %j", (password) => expect(isTrivialPassword(password)).toBe(true));

  test.each([
    ...[
      "",
      "a",
      "correct horse battery",
      "ahoy 6",
      "abcdefgx",
      "abcdefg1",
      "aaaaaaab",
      "baaaaaaa",
      "1357913",
      "abcdabce",
    ],
    ...["abcdab", "horsehorse", "89012ab"],
  ])("but not as %j", (password) => expect(isTrivialPassword(password)).toBe(false));
});
