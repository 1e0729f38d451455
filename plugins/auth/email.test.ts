// Which spellings are one email address, and which texts are refused.
import { describe, expect, test } from "bun:test";
import { AppError } from "../../src/kernel/errors.ts";
import { fastestRun } from "../../tests/support/eventually.ts";
import { isInternalEmail, normalizeEmail, requireEmail, requireEmailSyntax } from "./email.ts";

describe("normalisation", () => {
  test.each([
    ["  Ada@Example.COM\n", "ada@example.com"],
    ["jose\u0301@example.com", "jos\u00e9@example.com"],
    ["JOSE\u0301@EXAMPLE.com", "jos\u00e9@example.com"],
    ["\u212bsa@example.com", "\u00e5sa@example.com"],
    ["ada+boats@example.com", "ada+boats@example.com"],
  ])("turns %j into %j", (given, one) => {
    expect(requireEmail(given)).toBe(one);
    expect(normalizeEmail(one)).toBe(one);
  });

  test("keeps look-alikes apart", () => {
    const all = ["ada@example.com", "аda@example.com", "ada@exаmple.com", "ada@example.co", "a.da@example.com"];
    expect(new Set(all.map(requireEmail)).size).toBe(all.length);
  });
});

test.each([
  "a@b.co",
  "first.last@sub.example.com",
  "o'hara@example.ie",
  "x_y-z!#$%&*/=?^`{|}~@example.com",
  "用户@例子.中国",
  "हिन्दी@उदाहरण.भारत",
  "a@xn--fsqu00a.xn--0zwm56d",
  `${"a".repeat(242)}@example.com`,
])("accepts %j", (text) => {
  expect(requireEmail(text)).toBe(normalizeEmail(text));
});

test.each([
  "",
  " ",
  "ada",
  "@example.com",
  "ada@",
  "ada@example",
  "ada@example.c",
  "ada@.com",
  "ada@example..com",
  "ada@-example.com",
  "ada@example-.com",
  "ada@@example.com",
  "ada@exa mple.com",
  "a da@example.com",
  "ada@example.com, bob@example.com",
  "Ada <ada@example.com>",
  '"ada"@example.com',
  "ada;bob@example.com",
  "ada@example.com.",
  "ada@[127.0.0.1]",
  "ada\r\nBcc: x@example.com",
  "ada\u0000@example.com",
  "ada\u200b@example.com",
  "ada@\uff45xample.com",
  "ada@exam\ufe0fple.com",
  "ada@\ufb01ne.example",
  "ada@xn--a.example",
  "ada\u202e@example.com",
  "ada@exam\u00adple.com",
  `${"a".repeat(243)}@example.com`,
])("refuses %j", (text) => {
  expect(codeOf(text)).toBe("INVALID_EMAIL");
});

test("refuses the internal addresses of wallets, in any spelling", () => {
  for (const text of ["0xabc@wallet.invalid", " 0xABC@Wallet.Invalid "]) {
    expect(codeOf(text)).toBe("INVALID_EMAIL");
  }
  expect(requireEmail("ada@notwallet.invalid")).toBe("ada@notwallet.invalid");
  // Forgotten passwords accept them, since that route must not reveal which addresses are internal.
  expect(requireEmailSyntax(" 0xABC@Wallet.Invalid ")).toBe("0xabc@wallet.invalid");
  expect(isInternalEmail("0xabc@wallet.invalid")).toBe(true);
  expect(isInternalEmail("0123@unclaimed.invalid")).toBe(true);
  expect(isInternalEmail("ada@notwallet.invalid")).toBe(false);
});

test("refuses hostile lengths quickly", async () => {
  const durationMs = await fastestRun(() => {
    for (const text of [
      `a@${"a".repeat(250)}`,
      `${"a@".repeat(120)}a`,
      `a@${"a-".repeat(120)}`,
      "a".repeat(1_000_000),
    ]) {
      expect(codeOf(text)).toBe("INVALID_EMAIL");
    }
  });
  expect(durationMs).toBeLessThan(100);
});

function codeOf(text: string): string {
  try {
    return requireEmail(text);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.status).toBe(400);
    expect(error.extras.issues).toEqual([{ path: "email", message: expect.any(String) }]);
    return error.code;
  }
}
