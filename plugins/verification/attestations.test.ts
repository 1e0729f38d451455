// Tests which attestations are accepted; whose they are is checked elsewhere.
import { describe, expect, test } from "bun:test";
import { type Attestation, invalidReason, toMetadata } from "./attestations.ts";

const NOW = Date.parse("2030-06-01T12:00:00Z");
const seconds = BigInt(NOW / 1000);
const rules = { schemas: [`0x${"Ab".repeat(32)}`], attesters: [`0x${"Cd".repeat(20)}`] };
const good: Attestation = {
  uid: `0x${"01".repeat(32)}`,
  schema: `0x${"ab".repeat(32)}`,
  time: seconds - 100n,
  expirationTime: 0n,
  revocationTime: 0n,
  recipient: `0x${"02".repeat(20)}`,
  attester: `0x${"CD".repeat(20)}`,
};
const reason = (change: Partial<Attestation>, allowed = rules) => invalidReason({ ...good, ...change }, allowed, NOW);

test("an attestation that meets the rules is valid, whatever the case of its hex digits", () => {
  expect(reason({})).toBeUndefined();
  expect(reason({ expirationTime: seconds + 1n })).toBeUndefined();
});

describe("one wrong field makes it invalid", () => {
  test.each<[string, Partial<Attestation>, string]>([
    ["the schema", { schema: `0x${"ac".repeat(32)}` }, "schema"],
    ["the attester", { attester: `0x${"ce".repeat(20)}` }, "made by"],
    ["revoked", { revocationTime: 1n }, "revoked"],
    ["revoked at a future time", { revocationTime: 2n ** 64n - 1n }, "revoked"],
    ["expired", { expirationTime: 1n }, "expired"],
    ["expiring now", { expirationTime: seconds }, "expired"],
  ])("%s", (_, change, words) => {
    expect(reason(change)).toContain(words);
  });

  test("no attestation is accepted if the operator allows no schema or no attester", () => {
    expect(reason({}, { ...rules, schemas: [] })).toContain("schema");
    expect(reason({}, { ...rules, attesters: [] })).toContain("made by");
  });
});

test("the metadata gives its times as ISO dates, and null beyond the range of dates", () => {
  expect(toMetadata(good)).toMatchObject({ attestedAt: "2030-06-01T11:58:20.000Z", expiresAt: null });
  expect(toMetadata({ ...good, expirationTime: 2n ** 64n - 1n }).expiresAt).toBeNull();
});
