// Which attestations count, apart from whose they are.
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
const reason = (but: Partial<Attestation>, by = rules) => invalidReason({ ...good, ...but }, by, NOW);

test("a good one has no fault, however its letters are written", () => {
  expect(reason({})).toBeUndefined();
  expect(reason({ expirationTime: seconds + 1n })).toBeUndefined();
});

describe("wrong alone", () => {
  test.each<[string, Partial<Attestation>, string]>([
    ["the schema", { schema: `0x${"ac".repeat(32)}` }, "schema"],
    ["the attester", { attester: `0x${"ce".repeat(20)}` }, "made by"],
    ["revoked", { revocationTime: 1n }, "revoked"],
    ["revoked in a time to come", { revocationTime: 2n ** 64n - 1n }, "revoked"],
    ["expired", { expirationTime: 1n }, "expired"],
    ["expiring now", { expirationTime: seconds }, "expired"],
  ])("%s", (_, but, words) => {
    expect(reason(but)).toContain(words);
  });

  test("nothing counts where the operator lets nothing count", () => {
    expect(reason({}, { ...rules, schemas: [] })).toContain("schema");
    expect(reason({}, { ...rules, attesters: [] })).toContain("made by");
  });
});

test("its times are told as dates, where they can be", () => {
  expect(toMetadata(good)).toMatchObject({ attestedAt: "2030-06-01T11:58:20.000Z", expiresAt: null });
  expect(toMetadata({ ...good, expirationTime: 2n ** 64n - 1n }).expiresAt).toBeNull();
});
