// Random tokens differ and are URL-safe; digests are those of SHA-256.
import { describe, expect, test } from "bun:test";
import { randomToken, sha256Hex } from "./tokens.ts";

describe("randomToken", () => {
  test("returns 43 URL-safe characters by default, and another text at each call", () => {
    const tokens = Array.from({ length: 100 }, () => randomToken());
    expect(new Set(tokens).size).toBe(100);
    for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/);
  });

  test("takes the number of bytes", () => {
    expect(Buffer.from(randomToken(16), "base64url")).toHaveLength(16);
  });
});

test("sha256Hex returns the digest of the UTF-8 text in hex", () => {
  // FIPS 180-4, the example "abc".
  expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
