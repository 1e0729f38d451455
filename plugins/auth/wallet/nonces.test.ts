// Nonces: those of Berth expire by their own time, those of clients by the time of the message.
import { afterEach, expect, setSystemTime, test } from "bun:test";
import { createVault } from "../../../src/kernel/security/vault.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { createNonces, NONCE_LIFETIME } from "./nonces.ts";

const { issue, useStatements } = createNonces(createVault({ key: "a key of this test" }));
const otherServer = createNonces(createVault({ key: "another key than that" }));
const NOW = Date.parse("2030-06-01T12:00:00Z");
const setClock = (ms: number) => void setSystemTime(NOW + ms);
afterEach(() => void setSystemTime());

const expired = expect.objectContaining({ status: 401, code: "INVALID_NONCE" });
const thrown = (action: () => unknown): unknown => {
  try {
    return { not: action() };
  } catch (error) {
    return error;
  }
};

test("issued nonces are unique letters and digits, valid for ten minutes", () => {
  setClock(0);
  const nonces = Array.from({ length: 1_000 }, () => issue());
  expect(new Set(nonces.map(({ nonce }) => nonce)).size).toBe(1_000);
  for (const { nonce, expiresAt } of nonces) {
    expect(nonce).toMatch(/^[a-zA-Z0-9]{8,64}$/);
    expect(expiresAt).toBe(NOW + NONCE_LIFETIME);
  }
});

test("issued nonces expire by the clock of the server, whatever the message says", () => {
  setClock(0);
  const { nonce, expiresAt } = issue();
  setClock(NONCE_LIFETIME - 1);
  expect(useStatements(nonce, NOW - DAY)[0]?.args).toContain(expiresAt);
  setClock(NONCE_LIFETIME);
  expect(thrown(() => useStatements(nonce, NOW + NONCE_LIFETIME))).toEqual(expired);
});

test("nonces of clients expire by the time of the message", () => {
  setClock(0);
  for (const foreign of ["abcd1234", crypto.randomUUID().replaceAll("-", ""), otherServer.issue().nonce]) {
    expect(useStatements(foreign, NOW - NONCE_LIFETIME + 1)[0]?.args).toContain(NOW + 1);
    expect(thrown(() => useStatements(foreign, NOW - NONCE_LIFETIME))).toEqual(expired);
  }
});

test("a changed nonce counts as one of the client", () => {
  setClock(0);
  const { nonce } = issue();
  for (let at = 0; at < nonce.length; at++) {
    const changed = nonce.slice(0, at) + (nonce[at] === "0" ? "1" : "0") + nonce.slice(at + 1);
    expect(thrown(() => useStatements(changed, NOW - NONCE_LIFETIME))).toEqual(expired);
    expect(useStatements(changed, NOW)[0]?.args).toContain(NOW + NONCE_LIFETIME);
  }
});
