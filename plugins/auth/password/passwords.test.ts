// Passwords: length limits, hashes, and bounded hashing that does not block the event loop.
import { afterAll, describe, expect, spyOn, test } from "bun:test";
import { availableParallelism } from "node:os";
import { AppError } from "../../../src/kernel/errors.ts";
import { realPasswords } from "../../../tests/support/cheap-passwords.mjs";
import { rejectionOf } from "../../../tests/support/rejection.ts";
import { MAX_PASSWORD_LENGTH } from "./length.ts";
import { createPasswords, requirePassword } from "./passwords.ts";

const asShipped = realPasswords();
afterAll(() => asShipped[Symbol.dispose]());

describe("the length", () => {
  const accepts = async (password: string, minimum?: number) => {
    try {
      await requirePassword(password, { ...(minimum !== undefined && { minimum }) });
      return true;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      expect(error).toMatchObject({ status: 400, code: "INVALID_PASSWORD" });
      expect(JSON.stringify(error.extras)).not.toContain(password || "nothing");
      return false;
    }
  };

  test.each([
    ["", false],
    ["1234567", false],
    ["12345670", true],
    ["ä ö ü ß ", true],
    // Four characters, eight code units.
    ["😀🚢😀🔑", false],
    ["😀🚢😀🔑😀😀🚢🚢", true],
    ["horse".repeat(MAX_PASSWORD_LENGTH).slice(0, MAX_PASSWORD_LENGTH), true],
    ["x".repeat(MAX_PASSWORD_LENGTH + 1), false],
  ])("%j is accepted: %p", async (password, good) => {
    expect(await accepts(password)).toBe(good);
  });

  test("has a minimum that callers can change", async () => {
    expect([await accepts("12346", 6), await accepts("ahoy 6", 6)]).toEqual([false, true]);
  });
});

describe("a password that is guessed first", () => {
  const email = "ada@example.com";

  test.each([
    "password",
    "PASSWORD",
    "12345678",
    "aaaaaaaa",
    "abcabcabc",
    "p@ssw0rd",
    "ada@example.com",
    " Ada@Example.com ",
  ])("%j is refused", async (password) => {
    const refused = await rejectionOf(requirePassword(password, { email, field: "newPassword" }));
    expect(refused).toMatchObject({
      status: 400,
      code: "PASSWORD_TOO_COMMON",
      extras: { issues: [{ path: "newPassword" }] },
    });
    expect(JSON.stringify(refused)).not.toMatch(/ada@/i);
  });

  test("one that contains such a word, or another's address, is accepted: it is a list, not a score", async () => {
    for (const password of ["password of ada", "eve@example.com", "aaaaaaaaaaaa ship"])
      await requirePassword(password, { email });
  });
});

describe("a hash", () => {
  const passwords = createPasswords();

  test("is argon2id with a random salt, and does not contain the password", async () => {
    const [one, two] = await Promise.all([passwords.hash("correct horse"), passwords.hash("correct horse")]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
    expect(one).not.toContain("horse");
    expect(await passwords.verify("correct horse", one)).toBe(true);
    expect(await passwords.verify("correct horse ", one)).toBe(false);
    expect(await passwords.verify("Correct horse", one)).toBe(false);
    expect(await passwords.verify("", one)).toBe(false);
  });

  test("matches both Unicode forms of a letter", async () => {
    const hash = await passwords.hash("jose\u0301 jose\u0301");
    expect(await passwords.verify("jos\u00e9 jos\u00e9", hash)).toBe(true);
  });

  test("that is missing never matches, and takes as long", async () => {
    const hash = await passwords.hash("correct horse");
    const timeOf = async (stored: string | null) => {
      const times: number[] = [];
      for (let n = 0; n < 5; n++) {
        const since = performance.now();
        expect(await passwords.verify(`guess ${n}`, stored)).toBe(false);
        times.push(performance.now() - since);
      }
      return Math.min(...times);
    };
    expect(await timeOf(null)).toBeGreaterThan((await timeOf(hash)) / 3);
  });
});

describe("concurrent hashes", () => {
  test("are bounded and run in order; one core stays free on a machine with several", async () => {
    const passwords = createPasswords();
    const real = Bun.password.verify;
    let inside = 0;
    let most = 0;
    const verify = spyOn(Bun.password, "verify").mockImplementation(async (...args) => {
      most = Math.max(most, ++inside);
      return real(...args).finally(() => inside--);
    });
    const order: number[] = [];
    const one = (n: number) => passwords.verify("x", null, async () => void order.push(n));
    await Promise.all(Array.from({ length: 8 }, (_, n) => one(n)));
    verify.mockRestore();
    expect(most).toBe(Math.min(Math.max(availableParallelism() - 1, 1), 4));
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test("are skipped if beforeVerify throws, and release the semaphore", async () => {
    const passwords = createPasswords();
    const refuse = () => Promise.reject(new Error("not you"));
    const verify = spyOn(Bun.password, "verify");
    const outcomes = await Promise.allSettled(Array.from({ length: 200 }, () => passwords.verify("x", null, refuse)));
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    expect(verify).not.toHaveBeenCalled();
    verify.mockRestore();
    expect(await passwords.verify("x", null)).toBe(false);
  });

  test("do not block the event loop", async () => {
    const passwords = createPasswords();
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    await Promise.all(Array.from({ length: 12 }, () => passwords.hash("correct horse")));
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(12);
  });
});
