// Nonces that are recognised without being stored: ours live by our clock, foreign ones by that of their message.
import { afterEach, expect, setSystemTime, test } from "bun:test";
import { createVault } from "../../../src/kernel/security/vault.ts";
import { createNonces, NONCE_LIFETIME } from "./nonces.ts";

const { issue, useStatements } = createNonces(createVault({ key: "a key of this test" }));
const stranger = createNonces(createVault({ key: "another key than that" }));
const NOW = Date.parse("2030-06-01T12:00:00Z");
const later = (ms: number) => void setSystemTime(NOW + ms);
afterEach(() => void setSystemTime());

const tooOld = expect.objectContaining({ status: 401, code: "INVALID_NONCE" });
const thrown = (action: () => unknown): unknown => {
  try {
    return { not: action() };
  } catch (error) {
    return error;
  }
};

test("ours are letters and digits, each another, good for ten minutes", () => {
  later(0);
  const nonces = Array.from({ length: 1_000 }, () => issue());
  expect(new Set(nonces.map(({ nonce }) => nonce)).size).toBe(1_000);
  for (const { nonce, expiresAt } of nonces) {
    expect(nonce).toMatch(/^[a-zA-Z0-9]{8,64}$/);
    expect(expiresAt).toBe(NOW + NONCE_LIFETIME);
  }
});

test("ours end with our clock, whatever the message says", () => {
  later(0);
  const { nonce, expiresAt } = issue();
  later(NONCE_LIFETIME - 1);
  expect(useStatements(nonce, NOW - 86_400_000)[0]?.args).toContain(expiresAt);
  later(NONCE_LIFETIME);
  expect(thrown(() => useStatements(nonce, NOW + NONCE_LIFETIME))).toEqual(tooOld);
});

test("foreign ones are as old as their message", () => {
  later(0);
  for (const foreign of ["abcd1234", crypto.randomUUID().replaceAll("-", ""), stranger.issue().nonce]) {
    expect(useStatements(foreign, NOW - NONCE_LIFETIME + 1)[0]?.args).toContain(NOW + 1);
    expect(thrown(() => useStatements(foreign, NOW - NONCE_LIFETIME))).toEqual(tooOld);
  }
});

test("one of ours with a letter changed is foreign", () => {
  later(0);
  const { nonce } = issue();
  for (let at = 0; at < nonce.length; at++) {
    const changed = nonce.slice(0, at) + (nonce[at] === "0" ? "1" : "0") + nonce.slice(at + 1);
    expect(thrown(() => useStatements(changed, NOW - NONCE_LIFETIME))).toEqual(tooOld);
    expect(useStatements(changed, NOW)[0]?.args).toContain(NOW + NONCE_LIFETIME);
  }
});
